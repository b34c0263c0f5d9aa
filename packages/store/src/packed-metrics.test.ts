import type { StepId, TurnMetrics } from "@parley/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  contextSizePlace,
  originalMetrics,
  originalSteps,
  packedMetrics,
  packedSteps,
} from "./packed-metrics.js";

const turnId = "018bcfe5-6808-7045-8abc-002aa4f3ccb5";
const place = { turnId, reason: "stop" };

/** Returns the metrics after a round trip through JSON. */
function stored(metrics: TurnMetrics): unknown {
  return originalMetrics(JSON.parse(JSON.stringify(packedMetrics(metrics, place))), place);
}

const step = (index: number) => ({
  stepId: `${turnId}.${index}` as StepId,
  usage: { inputTokens: 1_000, outputTokens: 100 },
  ttftMs: 200,
  decodeMs: 800,
  genTotalMs: 1_000,
  model: "provider/model",
});

const metrics: TurnMetrics = {
  turnId,
  usage: { inputTokens: 2_000, outputTokens: 200, cacheReadTokens: 0 },
  durationMs: 2_500,
  steps: [
    {
      ...step(0),
      toolMs: 30,
      tools: [{ toolCallId: "call_1", toolName: "weather", isError: false, durationMs: 30 }],
    },
    step(1),
  ],
  contextSize: 1_100,
  reason: "stop",
  model: "provider/model",
};

describe("packed metrics", () => {
  it("come back as they were, in half the characters", () => {
    expect(stored(metrics)).toEqual(metrics);
    const packed = JSON.stringify(packedMetrics(metrics, place));
    expect(packed.length).toBeLessThan(JSON.stringify(metrics).length / 2);
  });

  it("have the context's size where statements look for it", () => {
    const packed = packedMetrics(metrics, place) as unknown[];
    expect(packed[contextSizePlace]).toBe(1_100);
  });

  it("that were stored by name are read as they are", () => {
    expect(originalMetrics(metrics, place)).toEqual(metrics);
    expect(originalSteps(metrics.steps, turnId)).toEqual(metrics.steps);
  });

  it("of the steps of a turn that runs come back as they were", () => {
    expect(originalSteps(packedSteps(metrics.steps, turnId), turnId)).toEqual(metrics.steps);
  });

  it("keep what is known nowhere, what has another shape, and what is null", () => {
    const odd = {
      ...metrics,
      turnId: "another",
      reason: undefined,
      durationMs: null,
      later: { deep: [1, "two"] },
      usage: { inputTokens: 1, outputTokens: 2, seen: true, cacheReadTokens: null },
      steps: [
        { ...step(0), stepId: "elsewhere.0", model: 7, tools: "none", usage: [1] },
        { ...step(1), tools: [{ toolCallId: "c", toolName: "t", isError: 1, cost: 0.5 }] },
      ],
    } as unknown as TurnMetrics;
    expect(stored(odd)).toEqual(JSON.parse(JSON.stringify(odd)));
    const odder = { ...metrics, steps: [null, 1], usage: null, model: 0 } as unknown as TurnMetrics;
    expect(stored(odder)).toEqual(odder);
  });

  it("come back as they were, whatever they hold", () => {
    const names = [
      ...["turnId", "usage", "durationMs", "steps", "contextSize", "reason", "model", "stepId", "ttftMs"],
      ...["tools", "isError", "toolName", "inputTokens", "outputTokens", "+", "__proto__", "other"],
    ];
    const values = fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(turnId, `${turnId}.1`, "stop", "provider/model", 0, 1, true, false, null, "", "="),
      fc.integer(),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        values,
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.array(fc.tuple(fc.constantFrom(...names), tie("tree")), { maxLength: 6 }).map(Object.fromEntries),
      ),
    }));
    const given = fc
      .tuple(
        fc.array(fc.tuple(fc.constantFrom(...names), tree), { maxLength: 8 }),
        fc.array(fc.array(fc.tuple(fc.constantFrom(...names), tree), { maxLength: 8 })),
      )
      .map(([fields, steps]) => ({ ...Object.fromEntries(fields), steps: steps.map(Object.fromEntries) }));
    fc.assert(
      fc.property(given, (value) => {
        expect(stored(value as unknown as TurnMetrics)).toEqual(value);
      }),
    );
  });
});
