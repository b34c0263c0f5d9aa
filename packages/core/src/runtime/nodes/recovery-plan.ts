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
import type { ConversationMessage } from "../../messages/message.js";
import type { ToolCallContentPart } from "../../messages/part.js";
import { interruptedResult } from "../../messages/provider/repair.js";
import { fromChatMessage } from "../../messages/wire-chunks.js";
import type { OpenTurnState } from "../../ports/log-store.js";
import type { HistoryEntry } from "../../ports.js";
import { stepIdOf } from "../../turn/run-step.js";
import { chunksOf } from "../delivery/frames.js";
import { coalesce } from "../delivery/journal-batch.js";
import type { TakenTurn } from "../turns/turn-run.js";

/** An open turn as its holder left it: its rows, the events of its journal, and the state that both fold to. */
export interface LeftTurn {
  readonly state: OpenTurnState;
  readonly events: readonly NumberedEvent[];
  readonly fold: ConversationFold;
  /** The journal holds more, which cannot be read. */
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
 * How the turn can go on, if it can: its journal can be read to its end, behind which new events are numbered;
 * nothing of a model's answer is uncommitted; the turn had not come to its end; and each call without a result has a
 * tool that may be run again.
 */
export function planToContinue(
  left: LeftTurn,
  mayRetry: (toolName: string) => boolean,
  elapsedMs: number,
): TakenTurn | undefined {
  const { state, events, isTorn = false } = left;
  const isOver = events.some(({ event }) => event.type === "error" || event.type === "done");
  if (isTorn || isOver || events.some(({ event }) => eventTraits[event.type].generated)) return undefined;
  const open = openCalls(state);
  const settled = uncommittedMessages(left, { now: new Date(state.startedAt) }).filter(isResult);
  const answered = new Set(settled.map(callIdOf));
  for (const call of open) {
    if (!answered.has(call.toolCallId ?? "") && !mayRetry(call.name)) return undefined;
  }
  const answeredAt = state.entries.findIndex(({ message }) => message.role !== "user");
  const made = answeredAt === -1 ? [] : state.entries.slice(answeredAt);
  return {
    kept: events,
    resume: {
      stepIndex: open.length > 0 ? Math.max(0, state.steps.length - 1) : state.steps.length,
      // A summary of the turn's own middle belongs to the history, not to what the turn has said.
      messages: made.filter(({ covers }) => covers === undefined).map(({ message }) => message),
      pendingCalls: open,
      settled,
      steps: state.steps,
      providerCalls: state.providerCalls,
      elapsedMs,
    },
  };
}

/** The messages that the turn leaves behind: those of its journal, and one result for every open call. */
export function partialMessages(left: LeftTurn, make: { readonly now: Date }): ConversationMessage[] {
  const kept = uncommittedMessages(left, make);
  const partial = kept.find(({ role }) => role === "assistant");
  const results = new Map(kept.filter(isResult).map((message) => [callIdOf(message), message]));
  const others = kept.filter((message) => message !== partial && !isResult(message));
  const assistant = partial ?? lastAssistant(left.state.entries)?.message;
  if (assistant === undefined) return others;
  const calls = partial === undefined ? openCalls(left.state) : callsOf(partial);
  const open = new Set(calls.map((call) => call.toolCallId));
  const messages: ConversationMessage[] = partial === undefined ? [] : [partial];
  for (const [index, part] of assistant.content.entries()) {
    if (part.type !== "tool-call" || !open.has(part.toolCallId)) continue;
    messages.push(results.get(part.toolCallId ?? "") ?? interruptedResult(assistant, index));
  }
  return [...messages, ...others];
}

/** The step that the turn was in, for the rows that it leaves behind. */
export function currentStep({ state, events }: LeftTurn): string {
  for (const { event } of events) if ("stepId" in event && event.stepId !== undefined) return event.stepId;
  const isOpen = openCalls(state).length > 0;
  return stepIdOf(state.turnId, Math.max(0, state.steps.length - (isOpen ? 1 : 0)));
}

/** The figures of a turn that its holder did not end: what its commits and its journal tell. */
export function metricsOf(
  left: LeftTurn,
  end: { readonly reason: TurnReason; readonly durationMs: number },
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
    steps,
    reason: end.reason,
    durationMs: end.durationMs,
    ...omitUndefined({ model }),
    ...(last === undefined ? {} : { contextSize: last.inputTokens + last.outputTokens }),
  };
}

/** The step whose figures are in the journal and in no commit. */
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
 * Returns the messages that the journal holds and no row does: whatever a kind of event folds into survives a crash.
 * User messages are left out, for the transaction that admits one writes its row.
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

/** Calls of the last committed answer that no row answers. */
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
