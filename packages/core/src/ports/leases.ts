import type { ConversationId, TurnId } from "../messages/message.js";
import type { LogNumber } from "./conversation-record.js";

/** A turn, or a compaction, that a node holds. */
export interface Lease {
  owner: string;
  conversationId: ConversationId;
  log: LogNumber;
  /** The id of the turn; for the lease of a compaction, the id given to `lease`. */
  turnId: TurnId;
  /** Purpose for which the lease was taken. */
  purpose: "turn" | "compaction";
  /** Grows with every takeover. A write with an older fence is refused with `stale_fence`. */
  fence: number;
  stopRequested: boolean;
  /**
   * Set on a turn that a stop has just taken out of waiting: no node holds it, and it can be taken over immediately.
   */
  isFree?: true;
}

/** A turn of a node for which a stop was requested. */
export interface StopRequest {
  owner: string;
  conversationId: ConversationId;
  log: LogNumber;
  turnId: TurnId;
  fence: number;
}

/** The outcome of a batch that was appended to the journal: an error is one that the same batch would meet again. */
export type JournalOutcome = "ok" | "stale_fence" | "unavailable" | { readonly error: unknown };

/** One row of the journal: consecutive events of an open turn, encoded by the runtime, opaque to the store. */
export interface JournalBatch {
  log: LogNumber;
  /** Owner of the log: a batch that names another owner is refused like one that lost its turn. */
  owner: string;
  turnId: TurnId;
  fence: number;
  /** The number of the first event, counted from 0 in its turn. */
  firstN: number;
  /** Number of events in the batch. */
  count: number;
  data: string;
}
