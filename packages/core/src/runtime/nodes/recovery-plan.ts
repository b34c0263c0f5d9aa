import {
  applyEvent,
  type ConversationFold,
  emptyFold,
  eventTraits,
  type NumberedEvent,
  omitUndefined,
  turnOf,
  withRows,
} from "@parley/fold";
import type { StepMetrics, TurnMetrics, TurnReason, Usage } from "@parley/wire";
import {
  inputEntryOfMessage,
  inputMessage,
  inputMessageId,
  inputRequestId,
} from "../../messages/input-entry.js";
import type { ConversationMessage } from "../../messages/message.js";
import { resultFromText, type ToolCallContentPart } from "../../messages/part.js";
import { interruptedResult } from "../../messages/provider/repair.js";
import { fromChatMessage } from "../../messages/wire-chunks.js";
import type { CommitInput, OpenTurnState } from "../../ports/log-store.js";
import type { HistoryEntry } from "../../ports.js";
import { decidedAnswer, denial, unstartedAnswer } from "../../turn/approval/decided-answer.js";
import type { AskedCall, InputRequest } from "../../turn/approval/turn-inputs.js";
import { unansweredOutput } from "../../turn/output/output.js";
import { stepIdOf } from "../../turn/run-step.js";
import { requestEntry } from "../../turn/step-calls.js";
import { callFigures } from "../../turn/turn-outcome.js";
import { chunksOf } from "../delivery/frames.js";
import { coalesce } from "../delivery/journal-batch.js";
import { messagesOf } from "../delivery/replay.js";
import type { TakenTurn } from "../turns/turn-run.js";

/** An open turn as its holder left it: its rows, the events of its journal, and the state that both fold to. */
export interface LeftTurn {
  readonly state: OpenTurnState;
  readonly events: readonly NumberedEvent[];
  readonly fold: ConversationFold;
  /** True if the journal holds more, which cannot be read. */
  readonly isTorn?: boolean;
}

/** Folds the rows and the journal of an open turn. */
export function foldLeftTurn(
  conversationId: string,
  state: OpenTurnState,
  events: readonly NumberedEvent[],
  isTorn = false,
): LeftTurn {
  let fold = withRows(emptyFold(conversationId), chunksOf(state.entries), state.turnId);
  for (const { event } of coalesce(events)) fold = applyEvent(fold, event, undefined);
  return { state, events, fold, isTorn };
}

/**
 * Plans how the turn continues, if it can: its journal can be read to its end, after which new events are numbered;
 * nothing of a model's answer is uncommitted; the turn had not reached its end; and each call without a result has
 * not started, or has a tool that may be run again. In a step with a call that has a request for input and has not
 * started, a call that may not be run again gets a result that says so, and the turn continues: decisions that people
 * made, or still may make, hold.
 */
export function planToContinue(
  left: LeftTurn,
  mayRetry: (toolName: string) => boolean,
  times: { readonly elapsedMs: number; readonly waitedMs: number },
): TakenTurn | undefined {
  const { state, events, isTorn = false } = left;
  const isOver = events.some(({ event }) => event.type === "error" || event.type === "done");
  if (isTorn || isOver || events.some(({ event }) => eventTraits[event.type].generated)) return undefined;
  const open = openCalls(state);
  const uncommitted = uncommittedMessages(left, { now: new Date(state.startedAt) });
  const settled = uncommitted.filter(isResult);
  const answered = new Set(settled.map(callIdOf));
  const logged = uncommitted.filter((message) => inputEntryOfMessage(message) !== undefined);
  const unwritten = [...logged, ...questionsLeft(left, logged, { now: new Date(state.startedAt) })];
  const asked = askedCalls(state, open, unwritten);
  const unanswered = open.filter((call) => !answered.has(call.toolCallId ?? ""));
  const isAsked = unanswered.some((call) => hasNotStarted(asked.get(call)));
  const lost = new Set<ToolCallContentPart>();
  for (const call of unanswered) {
    if (hasNotStarted(asked.get(call)) || mayRetry(call.name)) continue;
    if (!isAsked) return undefined;
    lost.add(call);
  }
  const answeredAt = state.entries.findIndex(({ message }) => message.role !== "user");
  const made = answeredAt === -1 ? [] : state.entries.slice(answeredAt);
  return {
    kept: events,
    resume: {
      stepIndex: open.length > 0 ? Math.max(0, state.steps.length - 1) : state.steps.length,
      // A summary of the turn's own middle belongs to the history, not to the turn's output.
      messages: made.filter(({ covers }) => covers === undefined).map(({ message }) => message),
      pendingCalls: open,
      settled,
      asked,
      lost,
      unwritten,
      steps: state.steps,
      providerCalls: state.providerCalls,
      ...times,
    },
  };
}

/**
 * Returns the commit after which the turn can continue if its model had only been reasoning when its node died: the
 * reasoning stays where clients have seen it, in a step of its own, and the model is called again. Nothing of an
 * answer is lost. Undefined if nothing was generated, or more than reasoning.
 */
export function reasoningToCommit(
  left: LeftTurn,
  make: { readonly now: Date },
): Pick<CommitInput, "stepId" | "messages" | "steps"> | undefined {
  const { state, events, isTorn = false } = left;
  const generated = events.filter(({ event }) => eventTraits[event.type].generated);
  const [first] = generated;
  if (isTorn || first?.event.type !== "reasoning-delta") return undefined;
  if (events.some(({ event }) => event.type === "error" || event.type === "done")) return undefined;
  if (generated.some(({ event }) => event.type !== "reasoning-delta")) return undefined;
  const { stepId } = first.event;
  const messages = uncommittedMessages(left, make);
  // Everything else in the journal belongs to the step before, which is committed before the model is called again.
  if (stepId === undefined || messages.length !== 1 || messages[0]?.role !== "assistant") return undefined;
  const step: StepMetrics = { stepId, usage: { inputTokens: 0, outputTokens: 0 } };
  return { stepId, messages, steps: [...state.steps, step] };
}

/** Finds the requests for input among the open calls, with their recorded decisions. */
function askedCalls(
  state: OpenTurnState,
  open: readonly ToolCallContentPart[],
  unwritten: readonly ConversationMessage[],
): ReadonlyMap<ToolCallContentPart, AskedCall> {
  const asked = new Map<ToolCallContentPart, AskedCall>();
  const assistant = lastAssistant(state.entries);
  if (assistant === undefined || state.inputs.length === 0) return asked;
  const records = new Map(state.inputs.map((record) => [record.requestId, record]));
  const written = new Set([...state.entries.map(({ message }) => message), ...unwritten].map(({ id }) => id));
  for (const [index, call] of callsOf(assistant.message).entries()) {
    const record = records.get(inputRequestId(assistant.stepId ?? "", index));
    if (record === undefined || !open.includes(call)) continue;
    const { response, requestId } = record;
    const isLogged = written.has(inputMessageId({ type: "input-response", requestId }));
    asked.set(call, { request: requestOf(record), response, isLogged });
  }
  return asked;
}

/**
 * Returns the entries of questions that calls asked while they ran, if neither a row nor the journal has them: the
 * run has ended, so no call waits for an answer any more.
 */
function questionsLeft(
  { state, fold }: LeftTurn,
  logged: readonly ConversationMessage[],
  make: { readonly now: Date; readonly via?: "stop" | "send" | "end" },
): ConversationMessage[] {
  const assistant = lastAssistant(state.entries);
  const calls = assistant === undefined ? [] : callsOf(assistant.message);
  const ofCalls = new Set(calls.map((_, index) => inputRequestId(assistant?.stepId ?? "", index)));
  const written = new Set([...state.entries.map(({ message }) => message), ...logged].map(({ id }) => id));
  const envelope = { conversationId: fold.conversationId, createdAt: make.now };
  return state.inputs
    .filter(({ requestId }) => !ofCalls.has(requestId))
    .flatMap((record) => {
      const response = record.response ?? denial(record, make.via ?? "end");
      return [requestEntry(requestOf(record)), response].map((entry) => inputMessage(entry, envelope));
    })
    .filter(({ id }) => !written.has(id));
}

function requestOf(record: OpenTurnState["inputs"][number]): InputRequest {
  const { response: _, turnId: _turn, createdAt: _at, decidedAt: _decided, ...request } = record;
  return request;
}

/** Returns true for a call that waits for input, does not run at all, or whose decision has not been acted on. */
function hasNotStarted(asked: AskedCall | undefined): boolean {
  return asked !== undefined && (!asked.isLogged || asked.response?.decision !== "allow");
}

/** Returns the messages that the turn leaves behind: those of its journal, and one result for every open call. */
export function partialMessages(
  left: LeftTurn,
  make: { readonly now: Date; readonly via?: "stop" | "send" | "end" },
): ConversationMessage[] {
  const kept = uncommittedMessages(left, make);
  const partial = kept.find(({ role }) => role === "assistant");
  const results = new Map(kept.filter(isResult).map((message) => [callIdOf(message), message]));
  const said = kept.filter((message) => message !== partial && !isResult(message));
  const isEntry = (message: ConversationMessage) => inputEntryOfMessage(message) !== undefined;
  const entries = [...said.filter(isEntry), ...questionsLeft(left, said, make)];
  const others = said.filter((message) => !isEntry(message));
  const assistant = partial ?? lastAssistant(left.state.entries)?.message;
  if (assistant === undefined) return [...entries, ...others];
  const calls = partial === undefined ? openCalls(left.state) : callsOf(partial);
  const open = new Set(calls.map((call) => call.toolCallId));
  // The decision on a call comes before its result.
  const messages: ConversationMessage[] = [...(partial === undefined ? [] : [partial]), ...entries];
  const asked = askedCalls(left.state, calls, said);
  for (const [index, part] of assistant.content.entries()) {
    if (part.type !== "tool-call" || !open.has(part.toolCallId)) continue;
    const result = results.get(part.toolCallId ?? "") ?? interruptedResult(assistant, index);
    messages.push(
      results.has(part.toolCallId ?? "") ? result : withDecision(result, asked.get(part), make.via),
    );
  }
  return [...messages, ...others];
}

/** Adds the decision, or its absence, to the result of a call that did not run. */
function withDecision(
  result: ConversationMessage,
  asked: AskedCall | undefined,
  via: "stop" | "send" | "end" = "end",
): ConversationMessage {
  if (asked === undefined) return result;
  const { request, response = denial(request, via), isLogged } = asked;
  const answer = decidedAnswer(response, request.kind) ?? (isLogged ? undefined : unstartedAnswer);
  if (answer === undefined) return result;
  const { text, isError } = answer;
  const content = result.content.map((part) =>
    part.type === "tool-result" ? { ...part, result: resultFromText(text), resultText: text, isError } : part,
  );
  return { ...result, content };
}

/** Returns the step that the turn was in, for the rows that it leaves behind. */
export function currentStep({ state, events }: LeftTurn): string {
  for (const { event } of events) if ("stepId" in event && event.stepId !== undefined) return event.stepId;
  const isOpen = openCalls(state).length > 0;
  return stepIdOf(state.turnId, Math.max(0, state.steps.length - (isOpen ? 1 : 0)));
}

/** Returns the figures of a turn that its holder did not end, from its commits and its journal. */
export function metricsOf(
  left: LeftTurn,
  end: { readonly reason: TurnReason; readonly durationMs: number; readonly waitedMs: number },
): TurnMetrics {
  const { state } = left;
  const steps = [...state.steps];
  const uncommitted = uncommittedStep(left);
  if (uncommitted !== undefined) steps.push(uncommitted);
  const model = state.choices.model ?? steps[0]?.model;
  const last = uncommitted === undefined ? state.providerCalls.at(-1)?.usage : uncommitted.usage;
  return {
    turnId: state.turnId,
    usage: sumUsage(steps),
    // The cost of a call that no commit holds is unknown.
    ...callFigures(uncommitted === undefined ? state.providerCalls : [...state.providerCalls, {}]),
    steps,
    reason: end.reason,
    durationMs: end.durationMs,
    ...(end.waitedMs > 0 ? { waitedMs: end.waitedMs } : {}),
    ...omitUndefined({ model }),
    ...(last === undefined ? {} : { contextSize: last.inputTokens + last.outputTokens }),
    ...(state.choices.output === undefined
      ? {}
      : { output: unansweredOutput(end.reason, messagesOf(state.entries)) }),
  };
}

/** Returns the step whose figures are in the journal and in no commit. */
function uncommittedStep({ state, fold }: LeftTurn): StepMetrics | undefined {
  const known = new Set<string>(state.steps.map(({ stepId }) => stepId));
  const found = turnOf(fold.turns, state.turnId)?.steps.find(
    ({ stepId, usage, complete }) => !known.has(stepId) && (complete || usage !== undefined),
  );
  if (found === undefined) return undefined;
  const { stepId, usage = { inputTokens: 0, outputTokens: 0 }, ttftMs, decodeMs, genTotalMs } = found;
  return { stepId, usage, ...omitUndefined({ ttftMs, decodeMs, genTotalMs }) };
}

function sumUsage(steps: readonly StepMetrics[]): Usage {
  const sum: { -readonly [Key in keyof Usage]: Usage[Key] } = { inputTokens: 0, outputTokens: 0 };
  for (const { usage } of steps) {
    for (const key of Object.keys(usage) as (keyof Usage)[]) sum[key] = (sum[key] ?? 0) + (usage[key] ?? 0);
  }
  return sum;
}

/**
 * Returns the messages that are in the journal and in no row: every kind of message that events fold into survives a
 * crash. User messages are left out, because the transaction that admits one writes its row.
 */
function uncommittedMessages({ state, fold }: LeftTurn, make: { readonly now: Date }): ConversationMessage[] {
  const { conversationId } = fold;
  const made = fold.log.provisional.filter(({ role }) => role !== "user");
  return made.map(({ id, role, parts }) => {
    const createdAt = role === "tool" ? new Date(state.startedAt) : make.now;
    return fromChatMessage(
      { role, chunks: parts.map(({ chunk }) => chunk) },
      { id, conversationId, createdAt },
    );
  });
}

function lastAssistant(entries: readonly HistoryEntry[]): HistoryEntry | undefined {
  return entries.findLast(({ message }) => message.role === "assistant");
}

/** Returns calls of the last committed answer that no row answers. */
function openCalls(state: OpenTurnState): ToolCallContentPart[] {
  const assistant = lastAssistant(state.entries);
  if (assistant === undefined) return [];
  const after = state.entries.filter((entry) => (entry.firstSeq ?? 0) > (assistant.lastSeq ?? 0));
  const answered = new Set(
    after.filter(({ message }) => message.role === "tool").map(({ message }) => callIdOf(message)),
  );
  return callsOf(assistant.message).filter((call) => !answered.has(call.toolCallId ?? ""));
}

function callsOf(message: ConversationMessage): ToolCallContentPart[] {
  return message.content.filter((part) => part.type === "tool-call");
}

function isResult({ role }: ConversationMessage): boolean {
  return role === "tool";
}

function callIdOf(message: ConversationMessage): string {
  for (const part of message.content) if (part.type === "tool-result") return part.toolCallId ?? "";
  return "";
}
