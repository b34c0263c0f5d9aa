import type { MessageState } from "@parley/client";
import type { Chunk, Role, TurnMetrics } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { inspectedTurns } from "./inspected-turns.js";

const metrics = (turnId: string): TurnMetrics => ({
  turnId,
  usage: { inputTokens: 1, outputTokens: 1 },
  steps: [],
});

const message = (role: Role, chunk: Chunk, turnId?: string): MessageState => ({
  id: `${role}-${turnId}`,
  role,
  parts: [{ key: `${role}-${turnId}`, index: 0, chunk, streaming: false }],
  status: "committed",
  ...(turnId === undefined ? {} : { turnId }),
});
const text = (words: string): Chunk => ({ type: "text", text: words });

describe("inspectedTurns", () => {
  it("counts stored turns first, then the newer ones, each once", () => {
    const turns = inspectedTurns([metrics("a"), metrics("b")], {
      messages: [message("user", text("What\n time?"), "b"), message("user", text("And now?"), "c")],
      activeTurn: { turnId: "d" },
    });
    expect(turns.map(({ turnId, number, title }) => [turnId, number, title])).toEqual([
      ["a", 1, undefined],
      ["b", 2, "What time?"],
      ["c", 3, "And now?"],
      ["d", 4, undefined],
    ]);
    expect(turns.map((turn) => turn.metrics !== undefined)).toEqual([true, true, false, false]);
  });

  it("shortens a long question", () => {
    const [turn] = inspectedTurns([], { messages: [message("user", text("long ".repeat(100)), "a")] });
    expect(turn?.title).toHaveLength(80);
  });
});
