import type { InputRequestEntry, InputResponseEntry, StepId } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { applyResponse } from "../state/apply-send.js";
import { initialState } from "../state/fold.js";
import { fold, plain, published, row, rows, stepId, text } from "../state/frames.test-support.js";
import { toolCallsOf, waitingCallsOf } from "./tool-calls.js";

const callEvent = (n: number, toolCallId: string, partIndex: number) =>
  published(n, {
    type: "tool-call",
    stepId,
    toolCallId,
    toolName: "work",
    input: {},
    messageId: "a1",
    partIndex,
  });
const resultEvent = (n: number, toolCallId: string, isError = false) =>
  published(n, {
    type: "tool-result",
    stepId,
    toolCallId,
    toolName: "work",
    content: "ok",
    isError,
    messageId: `r-${toolCallId}`,
  });
const printed = (n: number, toolCallId: string) =>
  published(n, { type: "tool-output", stepId, toolCallId, data: "line\n", stream: "stdout" });
const running = fold([
  published(0, { type: "user-message", text: "Hi", messageId: "u1" }),
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

const request: InputRequestEntry = {
  type: "input-request",
  requestId: "q1",
  kind: "approval",
  toolCallId: "k1",
  toolName: "work",
  argumentsHash: "00",
};
const response: InputResponseEntry = {
  type: "input-response",
  requestId: "q1",
  toolCallId: "k1",
  toolName: "work",
  decision: "allow",
  by: { owner: "local" },
  via: "http",
};
const asking = published(4, { type: "input-request", stepId, messageId: "i1", input: request });
const deciding = published(5, { type: "input-response", stepId, messageId: "i2", input: response });
const entry = (seq: number, messageId: string, input: InputRequestEntry | InputResponseEntry) =>
  row(seq, messageId, "system", { type: "system", text: "", input }, { stepId, createdAt: 1_000 + seq });

describe("a call that waits for input", () => {
  const waiting = fold([asking], running);

  it("is known from the stream, with the decision when there is one", () => {
    expect(toolCallsOf(waiting, stepId)).toMatchObject([
      { status: "waiting", inputs: [{ request: { requestId: "q1" } }] },
      { status: "running" },
    ]);
    expect(waitingCallsOf(waiting)).toEqual([toolCallsOf(waiting, stepId)[0]]);
    const decided = fold([deciding, deciding], waiting);
    expect(toolCallsOf(decided, stepId)[0]).toMatchObject({
      status: "running",
      inputs: [{ request, response }],
    });
    expect(waitingCallsOf(decided)).toEqual([]);
    expect(waitingCallsOf(initialState("c"))).toEqual([]);
  });

  it("is the same from the log, which also says when", () => {
    const committed = [row(1, "u1", "user", "Hi"), entry(3, "i1", request), entry(4, "i2", response)];
    const call = { type: "tool-call" as const, toolCallId: "k1", toolName: "work", input: {} };
    committed.splice(1, 0, row(2, "a1", "assistant", call));
    const state = fold([rows("5", ...committed)]);
    expect(toolCallsOf(state, stepId)).toEqual([
      {
        call,
        output: "",
        status: "done",
        inputs: [{ request, requestedAt: 1_003, response, respondedAt: 1_004 }],
      },
    ]);
    // Rows that arrive after the events add the times.
    const later = fold([rows("4~t1~1~5", entry(3, "i1", request))], waiting);
    expect(toolCallsOf(later, stepId)[0]).toMatchObject({
      status: "waiting",
      inputs: [{ requestedAt: 1_003 }],
    });
  });

  it("keeps its identity, and shows this client's response until the log has one", () => {
    const before = waitingCallsOf(waiting);
    expect(waitingCallsOf(fold([text(6, "more", { partIndex: 2 })], waiting))).toBe(before);
    const answer = { decision: "deny" as const, note: "no" };
    const sending = applyResponse(waiting, { requestId: "q1", answer, status: "sending" });
    expect(waitingCallsOf(sending)).toMatchObject([{ status: "waiting", inputs: [{ own: { answer } }] }]);
    const denied = { ...response, decision: "deny" as const };
    const recorded = applyResponse(sending, {
      requestId: "q1",
      answer,
      status: "recorded",
      response: denied,
    });
    expect(waitingCallsOf(recorded)).toEqual([]);
    expect(toolCallsOf(recorded, stepId)[0]).toMatchObject({
      status: "running",
      inputs: [{ response: denied }],
    });
    const decided = fold([deciding], recorded);
    expect(toolCallsOf(decided, stepId)[0]?.inputs).toEqual([{ request, response }]);
    const late = applyResponse(decided, { requestId: "q1", answer, status: "late", response });
    expect(toolCallsOf(late, stepId)[0]?.inputs).toMatchObject([
      { response, own: { status: "late", answer } },
    ]);
    // A state that was kept as JSON can be continued.
    const restored = JSON.parse(JSON.stringify(sending)) as typeof sending;
    expect(waitingCallsOf(fold([], restored))).toMatchObject([{ inputs: [{ own: { status: "sending" } }] }]);
  });

  it("may ask again while it runs", () => {
    const question: InputRequestEntry = { ...request, requestId: "q2", kind: "question" };
    const asked = fold(
      [deciding, published(6, { type: "input-request", stepId, messageId: "i3", input: question })],
      waiting,
    );
    expect(waitingCallsOf(asked)).toMatchObject([{ inputs: [{ request, response }, { request: question }] }]);
    const answer: InputResponseEntry = { ...response, requestId: "q2", decision: "answer", value: "aisle" };
    const answered = fold(
      [published(7, { type: "input-response", stepId, messageId: "i4", input: answer })],
      asked,
    );
    expect(toolCallsOf(answered, stepId)[0]).toMatchObject({
      status: "running",
      inputs: [{ response }, { response: answer }],
    });
  });
});
