import type { StepId, StepMetrics, TurnMetrics, TurnReason } from "@parley/wire";
import { textOf } from "../messages/message.js";
import { resultTextOf } from "../messages/part.js";
import type { HistoryEntry } from "../ports.js";
import type { TurnEvent } from "./journal-batch.js";

/**
 * A turn's events made anew from what is committed, one per part: what a client sees that joins late, or asks
 * again for a turn that is over. Folding them gives what folding the live events gave.
 */
export function replayTurn(turn: {
  readonly conversationId: string;
  readonly turnId: string;
  readonly model?: string | undefined;
  readonly startedAt: number;
  /** The committed rows, user messages first. */
  readonly entries: readonly HistoryEntry[];
  readonly steps: readonly StepMetrics[];
}): TurnEvent[] {
  const { conversationId, turnId, entries } = turn;
  const ids = { conversationId, turnId };
  const events: TurnEvent[] = [];
  const metrics = new Map(turn.steps.map((step) => [step.stepId as string, step]));
  const told = new Set<string>();

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
  events.push({
    type: "turn-start",
    ...ids,
    startedAt: turn.startedAt,
    ...(turn.model === undefined ? {} : { model: turn.model }),
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
    if (message.role === "assistant") events.push(...assistantEvents(ids, entry, metrics, told));
    else if (message.role === "tool") events.push(...resultEvents(ids, entry));
  }
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
  metrics: ReadonlyMap<string, StepMetrics>,
  told: Set<string>,
): TurnEvent[] {
  const { message } = entry;
  const stepId = (entry.stepId ?? "") as StepId;
  const place = { ...ids, stepId, messageId: message.id };
  const seen: TurnEvent[] = [];
  const calls: TurnEvent[] = [];
  const failures: TurnEvent[] = [];
  for (const [partIndex, part] of message.content.entries()) {
    if (part.type === "text") seen.push({ type: "text-delta", ...place, partIndex, delta: part.text });
    else if (part.type === "reasoning")
      seen.push({ type: "reasoning-delta", ...place, partIndex, delta: part.text });
    else if (part.type === "tool-call") {
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
      failures.push({
        type: "error",
        ...ids,
        message: part.message,
        ...(part.code ? { code: part.code } : {}),
      });
    }
  }
  const step = metrics.get(stepId);
  const closing: TurnEvent[] = [];
  if (step !== undefined && !told.has(stepId) && failures.length === 0) {
    told.add(stepId);
    const { ttftMs, decodeMs, genTotalMs } = step;
    if (step.usage.inputTokens > 0 || step.usage.outputTokens > 0) {
      closing.push({ type: "usage", ...ids, stepId, usage: step.usage });
    }
    closing.push({
      type: "step-complete",
      ...ids,
      stepId,
      ...(ttftMs === undefined ? {} : { ttftMs }),
      ...(decodeMs === undefined ? {} : { decodeMs }),
      ...(genTotalMs === undefined ? {} : { genTotalMs }),
    });
  }
  return [...seen, ...calls, ...closing, ...failures];
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
