import type { TurnMetrics } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { createIo } from "../../io.js";
import type { VerbContext } from "../../verb-context.js";
import { metrics } from "./metrics.js";

const conversationId = "0192f000-0000-7000-8000-000000000000";
const answered: TurnMetrics = {
  turnId: "t1",
  reason: "stop",
  durationMs: 900,
  usage: { inputTokens: 120, outputTokens: 30 },
  contextSize: 150,
  steps: [],
};
const { contextSize: _, ...unreported } = answered;
const stopped: TurnMetrics = {
  ...unreported,
  turnId: "t2",
  reason: "aborted",
  usage: { inputTokens: 0, outputTokens: 0 },
};

/** Returns what `metrics` prints of these turns. */
async function printed(...turns: readonly TurnMetrics[]): Promise<string[]> {
  let text = "";
  const stdout = { write: (more: string) => (text += more), isTTY: false };
  const request = async (route: string) =>
    route === "GET /conversations/:id/metrics" ? { turns } : { conversations: [{ id: conversationId }] };
  const context = {
    io: createIo({}, { stdout, stderr: stdout, stdin: {} }),
    client: async () => ({ request }),
    signal: new AbortController().signal,
  } as unknown as VerbContext;
  await metrics(conversationId, { limit: 20, chart: true }, context);
  return text.split("\n");
}

describe("the usage of a stopped turn", () => {
  it("is unknown, not zero, in the table, the sums and the chart", async () => {
    const lines = await printed(answered, stopped);
    const row = (reason: string) =>
      lines
        .find((line) => line.includes(reason))
        ?.trim()
        .split(/ {2,}/);
    // Turn, model, end, steps, time, first token, tokens/s, in, cached, out, context.
    expect(row("stop")).toEqual(["1", "?", "stop", "0", "900 ms", "?", "?", "120", "?", "30", "150"]);
    expect(row("aborted")).toEqual(["2", "?", "aborted", "0", "900 ms", "?", "?", "?", "?", "?", "?"]);
    expect(lines.join("\n")).toContain("2 turns: 1 of unknown usage; 120 tokens read, 30 written");
    const chart = lines.slice(lines.findIndex((line) => line.startsWith("Tokens per turn")) + 1);
    expect(chart[1]).toMatch(/^2 .*\?$/);
  });
});
