import type { TurnEvent } from "@parley/fold";
import type { StepId, StepMetrics } from "@parley/wire";
import { describe, expect, it } from "vitest";
import type { MessageRole } from "../../messages/message.js";
import type { MessageContentPart } from "../../messages/part.js";
import type { OpenTurnState } from "../../ports/log-store.js";
import type { HistoryEntry, ProviderCallRecord } from "../../ports.js";
import { delta, ids, numbered } from "../delivery/turn-event.test-support.js";
import {
  currentStep,
  foldLeftTurn,
  type LeftTurn,
  metricsOf,
  partialMessages,
  planToContinue,
} from "./recovery-plan.js";

const none = { elapsedMs: 0, waitedMs: 0 };
const say = (text: string): MessageContentPart => ({ type: "text", text });
const call = (toolCallId: string, name = "work"): MessageContentPart => ({
  type: "tool-call",
  name,
  toolCallId,
  stepId: "t.0",
  arguments: {},
  argumentsText: "{}",
});
const answer = (toolCallId: string, name = "work"): MessageContentPart => ({
  type: "tool-result",
  name,
  toolCallId,
  result: "done",
  resultText: "done",
});
const publishedResult = (toolCallId: string, content = "published"): TurnEvent => ({
  type: "tool-result",
  ...ids,
  stepId: "t.0" as StepId,
  toolCallId,
  toolName: "work",
  content,
  isError: false,
  durationMs: 7,
  messageId: `r-${toolCallId}`,
});
const step = (index: number): StepMetrics => ({
  stepId: `t.${index}` as StepId,
  usage: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 4 },
  model: "test/one",
});

function left(
  rows: readonly [MessageRole, MessageContentPart[], Partial<HistoryEntry>?][],
  events: readonly TurnEvent[] = [],
  more: Partial<OpenTurnState> = {},
): LeftTurn {
  let seq = 0;
  const entries = rows.map(([role, content, extra], index): HistoryEntry => {
    const firstSeq = seq + 1;
    seq += content.length;
    const message = { id: `m${index}`, conversationId: "c", role, createdAt: new Date(0), content };
    return { message, firstSeq, lastSeq: seq, turnId: "t", ...extra };
  });
  const state: OpenTurnState = {
    log: 1,
    turnId: "t",
    fence: 2,
    node: "n",
    choices: {},
    startedAt: 1_000,
    stopRequested: false,
    entries,
    steps: [],
    providerCalls: [],
    journal: [],
    inputs: [],
    ...more,
  };
  return foldLeftTurn("c", state, numbered(events));
}

const yes = () => true;
const no = () => false;
const make = { now: new Date(5_000) };

describe("whether a turn continues", () => {
  it("begins again where nothing was answered yet", () => {
    const opening: TurnEvent = { type: "user-message", ...ids, text: "Hi" };
    const plan = planToContinue(left([["user", [say("Hi")]]], [opening]), no, { elapsedMs: 30, waitedMs: 0 });
    expect(plan?.resume).toMatchObject({ stepIndex: 0, messages: [], pendingCalls: [], elapsedMs: 30 });
    expect(plan?.kept).toEqual([{ n: 0, event: opening }]);
  });

  it("ends where something of an answer is not committed, or the turn had come to its end", () => {
    const unfinished: TurnEvent[] = [
      delta("text-delta", 0, "Hal"),
      delta("reasoning-delta", 0, "Hm"),
      { type: "tool-call", ...ids, stepId: "t.0" as StepId, toolCallId: "k", toolName: "work", input: {} },
      { type: "usage", ...ids, stepId: "t.0" as StepId, usage: { inputTokens: 1, outputTokens: 0 } },
      { type: "step-complete", ...ids, stepId: "t.0" as StepId },
      { type: "error", ...ids, message: "Down" },
      { type: "done", ...ids, reason: "stop" },
    ];
    for (const event of unfinished) {
      expect(planToContinue(left([["user", [say("Hi")]]], [event]), yes, none), event.type).toBeUndefined();
    }
  });

  it("continues with open calls whose tools may be run again, and keeps the published results", () => {
    const turn = left(
      [
        ["user", [say("Hi")]],
        ["assistant", [say("Working."), call("k1"), call("k2", "other")], { stepId: "t.0" }],
      ],
      [{ type: "tool-output", ...ids, toolCallId: "k1", data: "x", stream: "stdout" }, publishedResult("k1")],
      { steps: [step(0)] },
    );
    const plan = planToContinue(turn, (name) => name === "other", none);
    expect(plan?.resume.stepIndex).toBe(0);
    expect(plan?.resume.pendingCalls?.map((each) => each.toolCallId)).toEqual(["k1", "k2"]);
    expect(plan?.resume.settled).toMatchObject([
      { id: "r-k1", role: "tool", content: [{ resultText: "published", durationMs: 7, toolCallId: "k1" }] },
    ]);
    expect(planToContinue(turn, no, none)).toBeUndefined();
  });

  it("continues with the next step behind committed results and steering, and leaves summaries to the history", () => {
    const turn = left(
      [
        ["user", [say("Hi")]],
        ["system", [say("Summary")], { covers: { fromSeq: 1, toSeq: 1 } }],
        ["assistant", [call("k1")], { stepId: "t.0" }],
        ["tool", [answer("k1")], { stepId: "t.0" }],
        ["user", [say("Faster")]],
      ],
      [],
      { steps: [step(0)] },
    );
    const plan = planToContinue(turn, no, none);
    expect(plan?.resume.stepIndex).toBe(1);
    expect(plan?.resume.messages?.map(({ id }) => id)).toEqual(["m2", "m3", "m4"]);
    expect(plan?.resume.pendingCalls).toEqual([]);
  });
});

describe("what a turn leaves behind", () => {
  it("is the partial answer of its journal, with a result for each of its calls", () => {
    const stepId = "t.0" as StepId;
    const turn = left(
      [["user", [say("Hi")]]],
      [
        delta("reasoning-delta", 0, "Hm"),
        delta("text-delta", 1, "Half "),
        delta("text-delta", 1, "an answer"),
        {
          type: "tool-call",
          ...ids,
          stepId,
          messageId: "a0",
          partIndex: 2,
          toolCallId: "k1",
          toolName: "work",
          input: {},
          argumentsText: '{"a": 1}',
        },
        {
          type: "tool-call",
          ...ids,
          stepId,
          messageId: "a0",
          partIndex: 3,
          toolCallId: "k2",
          toolName: "work",
          input: {},
        },
        publishedResult("k2"),
      ],
    );
    const [assistant, first, second, ...rest] = partialMessages(turn, make);
    expect(assistant).toMatchObject({
      id: "a0",
      role: "assistant",
      createdAt: make.now,
      content: [
        { type: "reasoning", text: "Hm" },
        { type: "text", text: "Half an answer" },
        { type: "tool-call", toolCallId: "k1", argumentsText: '{"a": 1}', arguments: { a: 1 } },
        { type: "tool-call", toolCallId: "k2", argumentsText: "{}" },
      ],
    });
    expect(first).toMatchObject({ role: "tool", content: [{ toolCallId: "k1", isError: true }] });
    expect(second).toMatchObject({ id: "r-k2", content: [{ toolCallId: "k2", resultText: "published" }] });
    expect(rest).toEqual([]);
    expect(partialMessages(turn, make)).toEqual(partialMessages(turn, make));
    expect(currentStep(turn)).toBe("t.0");
  });

  it("puts a decision that the journal holds before the result of its call", () => {
    const about = { requestId: "t.0.0", toolCallId: "k1", toolName: "work" };
    const request = { type: "input-request" as const, ...about, kind: "approval", argumentsHash: "00" };
    const response = { type: "input-response" as const, ...about, decision: "allow", via: "http" };
    const record = {
      ...request,
      stepId: "t.0",
      toolHash: "00",
      argumentsText: "{}",
      turnId: "t",
      createdAt: 1,
    };
    const event: TurnEvent = {
      type: "input-response",
      ...ids,
      stepId: "t.0" as StepId,
      messageId: "t.0.0.response",
      input: response,
    };
    const turn = left(
      [
        ["user", [say("Hi")]],
        ["assistant", [call("k1")], { stepId: "t.0" }],
      ],
      [event],
      { steps: [step(0)], inputs: [{ ...record, response }] },
    );
    expect(partialMessages(turn, make).map(({ role }) => role)).toEqual(["system", "tool"]);
    // It may have run: with a tool that may not run again, the turn cannot continue.
    expect(planToContinue(turn, () => false, none)).toBeUndefined();
    const unstarted = left(
      [
        ["user", [say("Hi")]],
        ["assistant", [call("k1"), call("k2")], { stepId: "t.0" }],
      ],
      [],
      { steps: [step(0)], inputs: [{ ...record, response }] },
    );
    // A decision that has not been acted on holds, and lost calls beside it get a result.
    const plan = planToContinue(unstarted, () => false, none);
    expect([...(plan?.resume.lost ?? [])].map(({ toolCallId }) => toolCallId)).toEqual(["k2"]);
    const [result] = partialMessages(unstarted, make);
    expect(result?.content).toMatchObject([
      { resultText: "This call was approved, but the turn ended before it was run." },
    ]);
  });

  it("answers only the calls that no row answers", () => {
    const turn = left(
      [
        ["user", [say("Hi")]],
        ["assistant", [call("k1"), call("k2")], { stepId: "t.0" }],
        ["tool", [answer("k1")], { stepId: "t.0" }],
      ],
      [],
      { steps: [step(0)] },
    );
    expect(partialMessages(turn, make)).toMatchObject([{ content: [{ toolCallId: "k2", isError: true }] }]);
    expect(currentStep(turn)).toBe("t.0");
  });

  it("is nothing where nothing is open", () => {
    expect(partialMessages(left([["user", [say("Hi")]]]), make)).toEqual([]);
    const answered = left(
      [
        ["user", [say("Hi")]],
        ["assistant", [call("k1")]],
        ["tool", [answer("k1")]],
      ],
      [],
      { steps: [step(0)] },
    );
    expect(partialMessages(answered, make)).toEqual([]);
    expect(currentStep(answered)).toBe("t.1");
  });
});

describe("the figures of a turn that was not ended", () => {
  const record = (usage?: ProviderCallRecord["usage"]): ProviderCallRecord => ({
    id: "p",
    createdAt: new Date(0),
    metadata: { provider: "test", model: "one" },
    ...(usage === undefined ? {} : { usage }),
  });

  it("sum up its committed steps, every counter of them", () => {
    const usage = { inputTokens: 10, outputTokens: 2, cacheReadTokens: 4 };
    const turn = left([["user", [say("Hi")]]], [], {
      steps: [step(0), step(1)],
      providerCalls: [record(usage)],
    });
    expect(metricsOf(turn, { reason: "interrupted", durationMs: 9, waitedMs: 0 })).toEqual({
      turnId: "t",
      usage: { inputTokens: 20, outputTokens: 4, cacheReadTokens: 8 },
      steps: [step(0), step(1)],
      reason: "interrupted",
      durationMs: 9,
      model: "test/one",
      contextSize: 12,
    });
  });

  it("count a step that was published to its end, but not committed", () => {
    const stepId = "t.1" as StepId;
    const turn = left(
      [["user", [say("Hi")]]],
      [
        delta("text-delta", 0, "All of it", 1),
        { type: "usage", ...ids, stepId, usage: { inputTokens: 30, outputTokens: 3 } },
        { type: "step-complete", ...ids, stepId, genTotalMs: 8 },
      ],
      { steps: [step(0)], providerCalls: [record({ inputTokens: 10, outputTokens: 2 })] },
    );
    const metrics = metricsOf(turn, { reason: "interrupted", durationMs: 9, waitedMs: 0 });
    expect(metrics.steps[1]).toEqual({ stepId, usage: { inputTokens: 30, outputTokens: 3 }, genTotalMs: 8 });
    expect([metrics.usage.inputTokens, metrics.contextSize]).toEqual([40, 33]);
  });

  it("hold the cost of committed calls; of one that was not committed it is unknown", () => {
    const cost = { amount: 0.5, currency: "USD", source: "billed" as const };
    const stepId = "t.1" as StepId;
    const usage: TurnEvent = { type: "usage", ...ids, stepId, usage: { inputTokens: 3, outputTokens: 3 } };
    const providerCalls = [{ ...record({ inputTokens: 10, outputTokens: 2 }), cost }];
    const ended = { reason: "interrupted" as const, durationMs: 9, waitedMs: 0 };
    const amounts = [{ currency: "USD", billed: 0.5, estimated: 0 }];
    const committed = left([["user", [say("Hi")]]], [], { steps: [step(0)], providerCalls });
    expect(metricsOf(committed, ended).cost).toEqual({ calls: 1, unknownCalls: 0, amounts });
    const cut = left([["user", [say("Hi")]]], [usage], { steps: [step(0)], providerCalls });
    expect(metricsOf(cut, ended).cost).toEqual({ calls: 2, unknownCalls: 1, amounts });
  });

  it("leave unknown what was not reported", () => {
    const metrics = metricsOf(left([["user", [say("Hi")]]]), {
      reason: "aborted",
      durationMs: 1,
      waitedMs: 0,
    });
    expect(metrics).not.toHaveProperty("contextSize");
    expect(metrics.usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  });
});
