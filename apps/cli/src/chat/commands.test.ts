import { describe, expect, it } from "vitest";
import { createStyle } from "../terminal/style.js";
import { type CommandContext, runCommand } from "./commands.js";

/** A chat in a terminal of this width, on these conversations. */
function chatOf(columns: number, conversations: readonly { id: string; title: string }[]) {
  const printed: string[] = [];
  const context = {
    controller: { client: { request: async () => ({ conversations }) } },
    style: createStyle(false),
    print: (lines: readonly string[]) => printed.push(...lines),
    verb: () => ({ io: { columns } }),
    quit: () => {},
  } as unknown as CommandContext;
  return { context, printed };
}

describe("/ls", () => {
  it("fits the terminal, and says where there is no title", async () => {
    const { context, printed } = chatOf(40, [
      { id: "01920000", title: "Tomatoes on the balcony, and what they need in a hot and dry summer" },
      { id: "01930000", title: "" },
    ]);
    await runCommand("/ls", context);
    expect(printed).toHaveLength(3);
    for (const line of printed) expect(line.length).toBeLessThanOrEqual(40);
    expect(printed[1]).toMatch(/^01920000 {2}Tomatoes on .*… {2}never$/);
    expect(printed[2]).toContain("(no title)");
  });
});
