import { describe, expect, expectTypeOf, it } from "vitest";
import type { Cursor, StepId, StoredChunk, TurnId, TurnMetrics } from "../index.js";

describe("branded ids", () => {
  const turnId = "turn-1" as TurnId;
  const stepId = "turn-1/0" as StepId;
  const cursor = "4" as Cursor;

  it("can be used as strings", () => {
    const metrics: Pick<TurnMetrics, "turnId"> = { turnId };
    const plain: readonly string[] = [turnId, stepId, cursor, metrics.turnId];
    expect(plain).toEqual(["turn-1", "turn-1/0", "4", "turn-1"]);
  });

  it("cannot be made from plain strings, nor from each other", () => {
    // @ts-expect-error a plain string is not a TurnId
    const turn: TurnId = "turn-1";
    // @ts-expect-error a TurnId is not a StepId
    const step: StepId = turnId;
    // @ts-expect-error a plain string is not a Cursor
    const place: Cursor = "4";
    // @ts-expect-error a chunk's step is a StepId
    const stored: Pick<StoredChunk, "stepId"> = { stepId: "turn-1/0" };
    expect([turn, step, place, stored.stepId]).toEqual(["turn-1", "turn-1", "4", "turn-1/0"]);
  });

  it("are distinguished by the compiler alone", () => {
    expectTypeOf<TurnId>().toExtend<string>();
    expectTypeOf<string>().not.toExtend<TurnId>();
    expectTypeOf<StepId>().not.toExtend<TurnId>();
    expectTypeOf<Cursor>().not.toExtend<StepId>();
  });
});
