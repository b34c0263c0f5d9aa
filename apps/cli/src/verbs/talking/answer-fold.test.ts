import type { AgentEvent, StepId } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { AnswerFold } from "./answer-fold.js";

const base = { conversationId: "c", turnId: "t" };
const said = (delta: string, step = 0): AgentEvent => ({
  type: "text-delta",
  ...base,
  delta,
  stepId: `t#${step}` as StepId,
  partIndex: 0,
});
const events: AgentEvent[] = [
  { type: "user-message", ...base, text: "?" },
  { type: "turn-start", ...base, model: "demo/demo" },
  said("One, "),
  said("two."),
  said("Three.", 1),
  { type: "done", ...base, reason: "stop", durationMs: 5, contextSize: 7 },
];

describe("a turn's events as one result", () => {
  it("joins the texts of its steps and keeps the figures", () => {
    const fold = new AnswerFold();
    for (const event of events) fold.take(event);
    expect(fold.succeeded).toBe(true);
    expect(fold.result()).toEqual({
      ...base,
      model: "demo/demo",
      reason: "stop",
      text: "One, two.\n\nThree.",
      durationMs: 5,
      contextSize: 7,
    });
  });

  it("is the same when the events are replayed from the start", () => {
    const fold = new AnswerFold();
    for (const event of events.slice(0, 4)) fold.take(event);
    fold.take({ type: "again" });
    for (const event of events) fold.take(event);
    expect(fold.result().text).toBe("One, two.\n\nThree.");
  });

  it("has not succeeded when the turn failed, was stopped or lost its node", () => {
    for (const reason of ["error", "aborted", "interrupted"] as const) {
      const fold = new AnswerFold();
      fold.take({ type: "error", ...base, message: "no", code: "timeout" });
      fold.take({ type: "done", ...base, reason });
      expect(fold.succeeded).toBe(false);
      expect(fold.result().error).toEqual({ message: "no", code: "timeout" });
    }
  });
});
