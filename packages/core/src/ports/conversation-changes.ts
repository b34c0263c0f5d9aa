import type { QueueMode, ReasoningEffort } from "@parley/wire";
import type { ConversationId, ConversationMessage, TurnId } from "../messages/message.js";
import type { HistoryEntry } from "../ports.js";
import type { CompactionNotice, ConversationRecord, QueueState } from "./conversation-record.js";
import type { AdmitInput, DefaultModel, NextTurn, OpenedTurn } from "./turn-transactions.js";

/**
 * Editing and removing are refused with `message_conflict` once the message was delivered, and with `invalid_request`
 * if no such message ever waited.
 */
export type QueueOperation =
  | { op: "list" }
  | {
      op: "edit";
      id: string;
      text?: string;
      mode?: QueueMode;
      model?: string | null;
      reasoningEffort?: ReasoningEffort | null;
      /** Moves before this entry; null moves to the end. */
      before?: string | null;
    }
  /**
   * Removing the last entry ends a pause: an empty queue has nothing to hold back. Removing twice is the same as
   * removing once.
   */
  | { op: "remove"; id: string }
  | { op: "pause" }
  /** Unpauses; on an idle conversation the queue opens its next turn here. */
  | ({ op: "resume"; node: string; turnId: TurnId } & DefaultModel);

/** A fork inherits the origin's settings and the compactions in force; later changes affect only one of the two. */
export interface ForkInput {
  conversationId: ConversationId;
  /** The last seq of a sealed turn (or of a sealed row outside turns), or 0. Anything else is `invalid_request`. */
  atSeq: number;
  newId: ConversationId;
  title?: string;
  /** Admitted in the fork in the same transaction: edit and regenerate. */
  admit?: Omit<AdmitInput, "conversationId">;
  /** From this transaction on, the chat with this id points to the fork: see `branchOf`. */
  chatId?: string;
}

/** The new conversation, and the turn that was opened in it. */
export interface ForkResult {
  conversation: ConversationRecord;
  /** False if `newId` existed as this very fork. */
  created: boolean;
  /** Also on a repeated call, as long as `admit.node` still holds it. */
  turn?: OpenedTurn;
}

/**
 * For the same summary and archive ids again, the written result is returned, whichever node holds the lease by then.
 */
export interface CompactInput {
  conversationId: ConversationId;
  /** The lease under which it runs: a turn's own, or one taken by `lease`. */
  turnId: TurnId;
  fence: number;
  /** A `system` message. */
  summary: ConversationMessage;
  covers: { fromSeq: number; toSeq: number };
  /** The id of the archive: a closed, hidden fork by reference at the last sealed seq. */
  archiveId: ConversationId;
  /** Notice for watchers. Absent: none. */
  notice?: Omit<CompactionNotice, "newConversationId">;
  /** Ends the lease of a compaction by hand; absent inside a turn. */
  release?: NextTurn;
}

/** The summary at its place, and the turn that continues after it. */
export interface CompactResult {
  entry: HistoryEntry;
  next?: OpenedTurn;
  queue: QueueState;
}
