import type { StepId } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { fold, plain, row, rows, stepId, text, told } from "./frames.test-support.js";
import { toolCallsOf } from "./tool-calls.js";

const callEvent = (n: number, toolCallId: string, partIndex: number) =>
  told(n, { type: "tool-call", stepId, toolCallId, toolName: "work", input: {}, messageId: "a1", partIndex });
const resultEvent = (n: number, toolCallId: string, isError = false) =>
  told(n, {
    type: "tool-result",
    stepId,
    toolCallId,
    toolName: "work",
    content: "ok",
    isError,
    messageId: `r-${toolCallId}`,
  });
const printed = (n: number, toolCallId: string) =>
  told(n, { type: "tool-output", stepId, toolCallId, data: "line\n", stream: "stdout" });
const running = fold([
  told(0, { type: "user-message", text: "Hi", messageId: "u1" }),
  callEvent(1, "k1", 0),
  callEvent(2, "k2", 1),
  printed(3, "k2"),
]);

describe("the tool calls of a step", () => {
  it("stand in order, with output and result as they come", () => {
    expect(toolCallsOf(running, stepId)).toMatchObject([
      { call: { toolCallId: "k1" }, output: "", status: "running" },
      { call: { toolCallId: "k2" }, output: "line\n", status: "running" },
    ]);
    const state = fold([resultEvent(4, "k2", true), resultEvent(5, "k1")], running);
    expect(toolCallsOf(state, stepId)).toMatchObject([
      { status: "done", result: { content: "ok", isError: false } },
      { status: "failed", result: { isError: true } },
    ]);
  });

  it("are the same array as long as nothing changes in them", () => {
    const before = toolCallsOf(running, stepId);
    expect(toolCallsOf(fold([text(4, "more", { partIndex: 2 })], running), stepId)).toBe(before);
    const after = toolCallsOf(fold([printed(4, "k1")], running), stepId);
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(toolCallsOf(running, "other" as StepId)).toBe(toolCallsOf(running, "none" as StepId));
  });

  it("are found in the log as well", () => {
    const call = { type: "tool-call" as const, toolCallId: "k1", toolName: "work", input: {} };
    const result = {
      type: "tool-result" as const,
      toolCallId: "k1",
      toolName: "work",
      content: "ok",
      isError: false,
    };
    const state = fold([
      rows("4", row(1, "u1", "user", "Hi"), row(2, "a1", "assistant", call), row(3, "r1", "tool", result)),
    ]);
    expect(toolCallsOf(state, stepId)).toEqual([{ call, result, output: "", status: "done" }]);
  });

  it("do not run any more once their turn is over", () => {
    const state = fold([plain(1, { type: "turn-sealed", lastSeq: 9, reason: "tool-calls" })], running);
    expect(toolCallsOf(state, stepId).map(({ status }) => status)).toEqual(["done", "done"]);
  });
});
