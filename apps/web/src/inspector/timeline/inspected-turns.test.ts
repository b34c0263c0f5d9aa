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
    const turns = inspectedTurns(
      { turns: [metrics("a"), metrics("b")] },
      {
        messages: [message("user", text("What\n time?"), "b"), message("user", text("And now?"), "c")],
        activeTurn: { turnId: "d" },
      },
    );
    expect(turns.map(({ turnId, name, title }) => [turnId, name, title])).toEqual([
      ["a", "Turn 1", undefined],
      ["b", "Turn 2", "What time?"],
      ["c", "Turn 3", "And now?"],
      ["d", "Turn 4", undefined],
    ]);
    expect(turns.map((turn) => turn.metrics !== undefined)).toEqual([true, true, false, false]);
  });

  it("puts turns whose messages are loaded before those whose figures are read, and counts from the newest", () => {
    const messages = ["a", "b", "c", "d"].map((id) => message("user", text(id), id));
    const turns = inspectedTurns({ turns: [metrics("b"), metrics("c")], nextBefore: "b" }, { messages });
    expect(turns.map(({ turnId, name }) => [turnId, name])).toEqual([
      ["a", "Newest turn but 3"],
      ["b", "Newest turn but 2"],
      ["c", "Newest turn but 1"],
      ["d", "Newest turn"],
    ]);
  });

  it("shortens a long question", () => {
    const [turn] = inspectedTurns(
      { turns: [] },
      { messages: [message("user", text("long ".repeat(100)), "a")] },
    );
    expect(turn?.title).toHaveLength(80);
  });
});
