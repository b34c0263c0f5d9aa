import type { ActiveTurn, ConversationMeta, ConversationStatus, Cursor, QueuePayload } from "@parley/wire";
import type { CursorPlace } from "./cursor.js";
import { emptyLog, type MessageLog } from "./message-log.js";
import { noTurns, type TurnTable } from "./turn-table.js";

/**
 * A conversation as described by the frames of a subscription and pages of history. Immutable: a change
 * creates a new fold, and every member that did not change keeps its identity.
 */
export interface ConversationFold {
  readonly conversationId: string;
  readonly meta?: ConversationMeta | undefined;
  readonly status: ConversationStatus;
  readonly activeTurn?: ActiveTurn | undefined;
  readonly queue: QueuePayload;
  readonly contextSize?: number | undefined;
  readonly contextWindow?: number | undefined;
  readonly cursor?: Cursor | undefined;
  /** The cursor, parsed. */
  readonly place?: CursorPlace | undefined;
  readonly log: MessageLog;
  readonly turns: TurnTable;
}

const emptyQueue: QueuePayload = { messages: [] };

/** Creates the fold of a conversation of which nothing is known yet. */
export function emptyFold(conversationId: string): ConversationFold {
  return { conversationId, status: "idle", queue: emptyQueue, log: emptyLog, turns: noTurns };
}
