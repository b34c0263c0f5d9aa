import type { StepId, TurnMetrics } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { trendsOf } from "./trends.js";

const stepId = (name: string) => name as StepId;

const turns: readonly TurnMetrics[] = [
  {
    turnId: "a",
    usage: { inputTokens: 100, outputTokens: 30, cacheReadTokens: 50 },
    durationMs: 900,
    contextSize: 130,
    steps: [
      { stepId: stepId("a.0"), usage: { inputTokens: 40, outputTokens: 10 }, ttftMs: 80, decodeMs: 200 },
      { stepId: stepId("a.1"), usage: { inputTokens: 60, outputTokens: 20 }, ttftMs: 20, decodeMs: 400 },
    ],
  },
  { turnId: "b", usage: { inputTokens: 0, outputTokens: 0 }, steps: [] },
];

describe("trendsOf", () => {
  it("has a value or a gap for each turn, and never a 0 for an unknown value", () => {
    expect(trendsOf(turns)).toEqual({
      turns: [1, 2],
      ttftMs: [80, null],
      durationMs: [900, null],
      tokensPerSecond: [50, null],
      inputTokens: [100, null],
      outputTokens: [30, null],
      contextSize: [130, null],
      cachePercent: [50, null],
    });
  });

  it("counts from the newest while the earlier turns are not known", () => {
    expect(trendsOf(turns, false).turns).toEqual([-1, 0]);
  });

  it("leaves steps without a time out of the speed", () => {
    const [first] = turns as [TurnMetrics];
    const { decodeMs, ...untimed } = first.steps[1] as NonNullable<(typeof first.steps)[1]>;
    expect(decodeMs).toBe(400);
    const cut: TurnMetrics = { ...first, steps: [...first.steps.slice(0, 1), untimed] };
    expect(trendsOf([cut]).tokensPerSecond).toEqual([50]);
  });
});
