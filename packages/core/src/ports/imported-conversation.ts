import type { TurnMetrics, TurnReason } from "@parley/wire";
import type { ConversationId, ConversationMessage, TurnId } from "../messages/message.js";
import type { ProviderCallRecord } from "../ports.js";
import type { ConversationRecord, ConversationSettings } from "./log-store.js";

/** A conversation that was exported elsewhere, with its whole log. Nothing in it is open. */
export interface ImportInput {
  conversationId: ConversationId;
  settings: ConversationSettings;
  closed: boolean;
  createdAt: number;
  lastActivityAt: number;
  /**
   * The conversation that it was forked from, and the last seq they have in common, as its export names them. It need
   * not exist here: the record and lists show it, and the rows are the conversation's own.
   */
  parent?: { readonly id: ConversationId; readonly seq: number };
  /**
   * Every message, oldest first, with its seqs from 1 on and without a gap. On a summary, `covers` is the range it
   * replaces, and `inForce` is false if it no longer does.
   */
  entries: ImportedEntry[];
  /** Oldest first. The rows of each are adjacent among the entries. */
  turns: ImportedTurn[];
}

export interface ImportedEntry {
  message: ConversationMessage;
  firstSeq: number;
  turnId?: TurnId;
  stepId?: string;
  covers?: { fromSeq: number; toSeq: number };
  /** False on a summary that was taken out of force. */
  inForce?: boolean;
}

export interface ImportedTurn {
  turnId: TurnId;
  reason?: TurnReason;
  firstSeq: number;
  lastSeq: number;
  startedAt: number;
  sealedAt: number;
  metrics: TurnMetrics;
  providerCalls: ProviderCallRecord[];
}

export interface ImportResult {
  conversation: ConversationRecord;
  /** False if its log already existed: exactly the same, or with more after it. */
  created: boolean;
}
