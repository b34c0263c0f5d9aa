import { describe, expect, it } from "vitest";
import { conversationsIn } from "./conversations-in.js";

async function* lines(...all: readonly string[]): AsyncIterable<string> {
  yield* all;
}
const start = (id: string) => JSON.stringify({ type: "conversation", conversation: { id } });

async function partsOf(source: AsyncIterable<string>, read = Number.POSITIVE_INFINITY): Promise<string[][]> {
  const parts: string[][] = [];
  for await (const part of conversationsIn(source)) {
    const taken: string[] = [];
    for await (const line of part) {
      taken.push(line.trim());
      if (taken.length >= read) break;
    }
    parts.push(taken);
  }
  return parts;
}

describe("an export of several conversations", () => {
  it("is taken apart where the next one begins", async () => {
    const parts = await partsOf(lines(start("a"), '{"type":"chunk"}', "", start("b"), '{"type":"turn"}'));
    expect(parts).toEqual([
      [start("a"), '{"type":"chunk"}'],
      [start("b"), '{"type":"turn"}'],
    ]);
  });

  it("goes on with the next one when one was not read to its end", async () => {
    const parts = await partsOf(lines(start("a"), "{}", "{}", start("b"), "{}"), 1);
    expect(parts).toEqual([[start("a")], [start("b")]]);
  });

  it("is not fooled by a message that speaks of conversations", async () => {
    const talk = JSON.stringify({ type: "chunk", chunk: { text: '{"type":"conversation"}' } });
    expect(await partsOf(lines(start("a"), talk))).toEqual([[start("a"), talk]]);
  });

  it("is refused when it is something else, or nothing", async () => {
    await expect(partsOf(lines('{"type":"chunk"}'))).rejects.toThrow("not an export of Parley");
    await expect(partsOf(lines("# Markdown"))).rejects.toThrow("not an export of Parley");
    await expect(partsOf(lines(""))).rejects.toThrow("nothing in it");
  });
});
