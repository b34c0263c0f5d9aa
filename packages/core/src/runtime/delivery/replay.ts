import { type CommittedMessage, replayTurn, type TurnEvent } from "@parley/fold";
import type { StepMetrics } from "@parley/wire";
import type { ConversationMessage } from "../../messages/message.js";
import { toChunks } from "../../messages/wire-chunks.js";
import type { HistoryEntry } from "../../ports.js";

/** The committed part of a turn, as rows. */
export interface CommittedRows {
  readonly conversationId: string;
  readonly turnId: string;
  readonly model?: string | undefined;
  readonly startedAt: number;
  /** The committed rows, user messages first. */
  readonly entries: readonly HistoryEntry[];
  readonly steps: readonly StepMetrics[];
}

/** Returns true while only the messages that opened the turn are committed: its opening events are still live. */
export function isUnanswered(entries: readonly HistoryEntry[]): boolean {
  return entries.every(({ message }) => message.role === "user");
}

/** Makes the events of a turn from its rows, one per part. */
export function replayRows(turn: CommittedRows, options: { readonly isSealed?: boolean } = {}): TurnEvent[] {
  const { entries, ...rest } = turn;
  return replayTurn({ ...rest, messages: entries.map(committedMessage) }, options);
}

/** Returns the messages of rows. */
export function messagesOf(entries: readonly HistoryEntry[]): ConversationMessage[] {
  return entries.map(({ message }) => message);
}

function committedMessage({ message, stepId }: HistoryEntry): CommittedMessage {
  const { id, role, createdAt } = message;
  return { id, role, stepId, createdAt: createdAt.getTime(), chunks: toChunks(message) };
}
