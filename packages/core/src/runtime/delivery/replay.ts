import type { StepId, StepMetrics, TurnMetrics, TurnReason } from "@parley/wire";
import { textOf } from "../../messages/message.js";
import { resultTextOf } from "../../messages/part.js";
import type { HistoryEntry } from "../../ports.js";
import type { TurnEvent } from "./journal-batch.js";

/** What is committed of a turn. */
export interface CommittedTurn {
  readonly conversationId: string;
  readonly turnId: string;
  readonly model?: string | undefined;
  readonly startedAt: number;
  /** The committed rows, user messages first. */
  readonly entries: readonly HistoryEntry[];
  readonly steps: readonly StepMetrics[];
}

/** Whether only the messages that opened the turn are committed: then the events of its opening still live. */
export function isUnanswered(entries: readonly HistoryEntry[]): boolean {
  return entries.every(({ message }) => message.role === "user");
}

/**
 * A turn's events made anew from what is committed, one per part: what a client sees that joins late, or asks
 * again for a turn that is over. Folding them gives what folding the live events gave. Steps that left no row
 * are told only of a turn that is over (`isSealed`), for in an open one they may still be under way.
 */
export function replayTurn(turn: CommittedTurn, options: { readonly isSealed?: boolean } = {}): TurnEvent[] {
  const { conversationId, turnId, entries, steps } = turn;
  const ids = { conversationId, turnId };
  const events: TurnEvent[] = [];
  const untold = new Map(steps.map((step) => [step.stepId as string, step]));
  const tellFigures = (stepId: string) => {
    const step = untold.get(stepId);
    if (step !== undefined) events.push(...figuresOf(ids, step));
    untold.delete(stepId);
  };
  const tellRest = () => {
    for (const stepId of [...untold.keys()]) tellFigures(stepId);
  };

  let index = 0;
  const opening: HistoryEntry[] = [];
  while (index < entries.length && entries[index]?.message.role === "user") {
    opening.push(entries[index] as HistoryEntry);
    index += 1;
  }
  const first = opening[0]?.message;
  events.push({
    type: "user-message",
    ...ids,
    text: opening.map(({ message }) => textOf(message)).join("\n\n"),
    ...(first === undefined ? {} : { messageId: first.id, createdAt: first.createdAt.getTime() }),
    ...(opening.length > 1 ? { messages: delivered(opening) } : {}),
  });
  const model = turn.model ?? steps[0]?.model;
  events.push({
    type: "turn-start",
    ...ids,
    startedAt: turn.startedAt,
    ...(model === undefined ? {} : { model }),
  });

  while (index < entries.length) {
    const entry = entries[index] as HistoryEntry;
    const { message } = entry;
    if (message.role === "user") {
      const steered: HistoryEntry[] = [];
      while (index < entries.length && entries[index]?.message.role === "user") {
        steered.push(entries[index] as HistoryEntry);
        index += 1;
      }
      events.push(steeringOf(ids, steered));
      continue;
    }
    index += 1;
    if (message.role === "tool") events.push(...resultEvents(ids, entry));
    if (message.role !== "assistant") continue;
    const { said, failures } = assistantEvents(ids, entry);
    events.push(...said);
    if (said.length > 0) tellFigures(entry.stepId ?? "");
    // A failure ends the turn, so that every step is told before it.
    if (failures.length > 0) tellRest();
    events.push(...failures);
  }
  if (options.isSealed) tellRest();
  return events;
}

/** The tokens and the timing of a step, as its last two events told them. */
function figuresOf(
  ids: { readonly conversationId: string; readonly turnId: string },
  step: StepMetrics,
): TurnEvent[] {
  const { stepId, usage, ttftMs, decodeMs, genTotalMs } = step;
  const events: TurnEvent[] = [];
  if (usage.inputTokens > 0 || usage.outputTokens > 0) events.push({ type: "usage", ...ids, stepId, usage });
  events.push({
    type: "step-complete",
    ...ids,
    stepId,
    ...(ttftMs === undefined ? {} : { ttftMs }),
    ...(decodeMs === undefined ? {} : { decodeMs }),
    ...(genTotalMs === undefined ? {} : { genTotalMs }),
  });
  return events;
}

/** The last events of a sealed turn, but for `turn-sealed` itself. */
export function closingEvents(turn: {
  readonly conversationId: string;
  readonly turnId: string;
  readonly reason: TurnReason;
  readonly metrics?: TurnMetrics | undefined;
}): TurnEvent[] {
  const { conversationId, turnId, reason, metrics } = turn;
  const known = metrics?.contextSize !== undefined || (metrics?.usage.inputTokens ?? 0) > 0;
  return [
    {
      type: "done",
      conversationId,
      turnId,
      reason,
      ...(metrics?.durationMs === undefined ? {} : { durationMs: metrics.durationMs }),
      ...(metrics !== undefined && known ? { usage: metrics.usage } : {}),
      ...(metrics?.contextSize === undefined ? {} : { contextSize: metrics.contextSize }),
    },
  ];
}

function assistantEvents(
  ids: { readonly conversationId: string; readonly turnId: string },
  entry: HistoryEntry,
): { said: TurnEvent[]; failures: TurnEvent[] } {
  const { message } = entry;
  const stepId = (entry.stepId ?? "") as StepId;
  const place = { ...ids, stepId, messageId: message.id };
  const seen: TurnEvent[] = [];
  const calls: TurnEvent[] = [];
  const failures: TurnEvent[] = [];
  for (const [partIndex, part] of message.content.entries()) {
    if (part.type === "text" || part.type === "reasoning") {
      // An empty part, as a provider leaves one that hides its reasoning, was never told either.
      const type = part.type === "text" ? "text-delta" : "reasoning-delta";
      if (part.text !== "") seen.push({ type, ...place, partIndex, delta: part.text });
    } else if (part.type === "tool-call") {
      calls.push({
        type: "tool-call",
        ...place,
        partIndex,
        toolCallId: part.toolCallId ?? "",
        toolName: part.name,
        input: part.arguments,
        ...(part.argumentsText === undefined ? {} : { argumentsText: part.argumentsText }),
      });
    } else if (part.type === "error") {
      const { message: text, code } = part;
      failures.push({ type: "error", ...ids, message: text, ...(code ? { code } : {}) });
    }
  }
  return { said: [...seen, ...calls], failures };
}

function resultEvents(
  ids: { readonly conversationId: string; readonly turnId: string },
  entry: HistoryEntry,
): TurnEvent[] {
  const events: TurnEvent[] = [];
  for (const part of entry.message.content) {
    if (part.type !== "tool-result") continue;
    events.push({
      type: "tool-result",
      ...ids,
      stepId: (part.stepId ?? entry.stepId ?? "") as StepId,
      toolCallId: part.toolCallId ?? "",
      toolName: part.name,
      content: resultTextOf(part),
      isError: part.isError ?? false,
      messageId: entry.message.id,
      ...(part.durationMs === undefined ? {} : { durationMs: part.durationMs }),
    });
  }
  return events;
}

function steeringOf(
  ids: { readonly conversationId: string; readonly turnId: string },
  entries: readonly HistoryEntry[],
): TurnEvent {
  const first = entries[0]?.message;
  return {
    type: "steering",
    ...ids,
    text: entries.map(({ message }) => textOf(message)).join("\n\n"),
    messageIds: entries.map(({ message }) => message.id),
    messages: delivered(entries),
    ...(first === undefined ? {} : { createdAt: first.createdAt.getTime() }),
  };
}

function delivered(entries: readonly HistoryEntry[]): { messageId: string; text: string }[] {
  return entries.map(({ message }) => ({ messageId: message.id, text: textOf(message) }));
}
