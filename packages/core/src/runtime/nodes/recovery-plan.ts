import type { StepId, StepMetrics, TurnMetrics, TurnReason, Usage } from "@parley/wire";
import type { OpenTurnState } from "../../log-store.js";
import type { ConversationMessage } from "../../messages/message.js";
import {
  argumentsFromText,
  type MessageContentPart,
  resultFromText,
  type ToolCallContentPart,
} from "../../messages/part.js";
import { interruptedResult } from "../../messages/provider/repair.js";
import type { HistoryEntry } from "../../ports.js";
import { stepIdOf } from "../../turn/run-step.js";
import type { NumberedEvent } from "../delivery/journal-batch.js";
import type { TakenTurn } from "../turns/turn-run.js";

/** An open turn as its holder left it: its rows, and the events of its journal. */
export interface LeftTurn {
  readonly state: OpenTurnState;
  readonly events: readonly NumberedEvent[];
  /** The journal holds more, which cannot be read. */
  readonly isTorn?: boolean;
}

/** Events of a model's answer. */
const answerEvents = new Set(["text-delta", "reasoning-delta", "tool-call", "usage", "step-complete"]);

/**
 * How the turn can go on, if it can: its journal can be read to its end, behind which new events are numbered;
 * nothing of a model's answer is uncommitted; the turn had not come to its end; and each call without a result has a
 * tool that may be run again.
 */
export function planToContinue(
  { state, events, isTorn = false }: LeftTurn,
  mayRetry: (toolName: string) => boolean,
  elapsedMs: number,
): TakenTurn | undefined {
  const isOver = events.some(({ event }) => event.type === "error" || event.type === "done");
  if (isTorn || isOver || events.some(({ event }) => answerEvents.has(event.type))) return undefined;
  const open = openCalls(state);
  const settled = resultMessages(state, events);
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

/** What the turn leaves behind: the partial answer of its journal, and one result for every open call. */
export function partialMessages(
  { state, events }: LeftTurn,
  make: { readonly id: () => string; readonly now: Date },
): ConversationMessage[] {
  const partial = partialAnswer(events, make);
  const answered = new Map(resultMessages(state, events).map((message) => [callIdOf(message), message]));
  const assistant = partial ?? lastAssistant(state.entries)?.message;
  if (assistant === undefined) return [];
  const calls = partial === undefined ? openCalls(state) : callsOf(partial);
  const open = new Set(calls.map((call) => call.toolCallId));
  const messages: ConversationMessage[] = partial === undefined ? [] : [partial];
  for (const [index, part] of assistant.content.entries()) {
    if (part.type !== "tool-call" || !open.has(part.toolCallId)) continue;
    messages.push(answered.get(part.toolCallId ?? "") ?? interruptedResult(assistant, index));
  }
  return messages;
}

/** The step that the turn was in, for the rows that it leaves behind. */
export function currentStep({ state, events }: LeftTurn): string {
  for (const { event } of events) if ("stepId" in event && event.stepId !== undefined) return event.stepId;
  const isOpen = openCalls(state).length > 0;
  return stepIdOf(state.turnId, Math.max(0, state.steps.length - (isOpen ? 1 : 0)));
}

/** The figures of a turn that its holder did not end: what its commits and its journal tell. */
export function metricsOf(
  { state, events }: LeftTurn,
  end: { readonly reason: TurnReason; readonly durationMs: number },
): TurnMetrics {
  const steps = [...state.steps];
  const uncommitted = stepFromEvents(state, events);
  if (uncommitted !== undefined) steps.push(uncommitted.metrics);
  const model = state.choices.model ?? steps[0]?.model;
  const last = uncommitted === undefined ? state.providerCalls.at(-1)?.usage : uncommitted.usage;
  return {
    turnId: state.turnId,
    usage: sumUsage(steps),
    steps,
    reason: end.reason,
    durationMs: end.durationMs,
    ...(model === undefined ? {} : { model }),
    ...(last === undefined ? {} : { contextSize: last.inputTokens + last.outputTokens }),
  };
}

/** A step that was told to its end, but not committed. */
function stepFromEvents(
  state: OpenTurnState,
  events: readonly NumberedEvent[],
): { metrics: StepMetrics; usage: Usage | undefined } | undefined {
  const known = new Set<string>(state.steps.map(({ stepId }) => stepId));
  let usage: Usage | undefined;
  let stepId: StepId | undefined;
  let timing = {};
  for (const { event } of events) {
    if (event.type === "usage") ({ usage, stepId } = event);
    if (event.type !== "step-complete") continue;
    stepId = event.stepId;
    const { ttftMs, decodeMs, genTotalMs } = event;
    timing = {
      ...(ttftMs === undefined ? {} : { ttftMs }),
      ...(decodeMs === undefined ? {} : { decodeMs }),
      ...(genTotalMs === undefined ? {} : { genTotalMs }),
    };
  }
  if (stepId === undefined || known.has(stepId)) return undefined;
  const metrics = { stepId, usage: usage ?? { inputTokens: 0, outputTokens: 0 }, ...timing };
  return { metrics, usage };
}

function sumUsage(steps: readonly StepMetrics[]): Usage {
  const sum: { -readonly [Key in keyof Usage]: Usage[Key] } = { inputTokens: 0, outputTokens: 0 };
  for (const { usage } of steps) {
    for (const key of Object.keys(usage) as (keyof Usage)[]) sum[key] = (sum[key] ?? 0) + (usage[key] ?? 0);
  }
  return sum;
}

function partialAnswer(
  events: readonly NumberedEvent[],
  make: { readonly id: () => string; readonly now: Date },
): ConversationMessage | undefined {
  const parts = new Map<number, MessageContentPart>();
  let first: { conversationId: string; messageId?: string } | undefined;
  for (const { event } of events) {
    if (event.type === "text-delta" || event.type === "reasoning-delta") {
      const type = event.type === "text-delta" ? "text" : "reasoning";
      const place = event.partIndex ?? 0;
      const part = parts.get(place);
      const before = part?.type === "text" || part?.type === "reasoning" ? part.text : "";
      parts.set(place, { type, text: before + event.delta });
      first ??= event;
    } else if (event.type === "tool-call") {
      const argumentsText = event.argumentsText ?? JSON.stringify(event.input ?? {});
      parts.set(event.partIndex ?? parts.size, {
        type: "tool-call",
        name: event.toolName,
        toolCallId: event.toolCallId,
        stepId: event.stepId,
        arguments: argumentsFromText(argumentsText),
        argumentsText,
      });
      first ??= event;
    }
  }
  if (first === undefined) return undefined;
  return {
    id: first.messageId ?? make.id(),
    conversationId: first.conversationId,
    role: "assistant",
    createdAt: make.now,
    content: [...parts].sort(([a], [b]) => a - b).map(([, part]) => part),
  };
}

/** Results that the journal holds: they were told, so they stand. */
function resultMessages(state: OpenTurnState, events: readonly NumberedEvent[]): ConversationMessage[] {
  const messages: ConversationMessage[] = [];
  for (const { event } of events) {
    if (event.type !== "tool-result") continue;
    messages.push({
      id: event.messageId ?? `${event.toolCallId}.result`,
      conversationId: event.conversationId,
      role: "tool",
      createdAt: new Date(state.startedAt),
      content: [
        {
          type: "tool-result",
          name: event.toolName,
          toolCallId: event.toolCallId,
          stepId: event.stepId,
          result: resultFromText(event.content),
          resultText: event.content,
          isError: event.isError,
          ...(event.durationMs === undefined ? {} : { durationMs: event.durationMs }),
        },
      ],
    });
  }
  return messages;
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

function callIdOf(message: ConversationMessage): string {
  for (const part of message.content) if (part.type === "tool-result") return part.toolCallId ?? "";
  return "";
}
