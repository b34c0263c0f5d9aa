import { describe, expect, it } from "vitest";
import type { MessageContentPart } from "../../messages/part.js";
import { ReasoningTimes } from "./reasoning-times.js";

describe("the time that reasoning took", () => {
  const parts: MessageContentPart[] = [
    { type: "reasoning", text: "first" },
    { type: "text", text: "between" },
    { type: "reasoning", text: "second" },
    { type: "reasoning", text: "in one piece" },
  ];

  it("is from the first to the last delta of each part, and unknown for what came in one piece", () => {
    const times = new ReasoningTimes();
    for (const [partIndex, at] of [
      [0, 10],
      [0, 12.4],
      [0, 31.6],
      [2, 40],
      [2, 41],
      [3, 50],
    ] as const) {
      times.note(partIndex, at);
    }
    expect(times.stamp(parts)).toEqual([
      { type: "reasoning", text: "first", durationMs: 22 },
      parts[1],
      { type: "reasoning", text: "second", durationMs: 1 },
      parts[3],
    ]);
  });

  it("is put on no other kind of part", () => {
    const times = new ReasoningTimes();
    times.note(1, 1);
    times.note(1, 9);
    expect(times.stamp(parts)).toEqual(parts);
  });
});
