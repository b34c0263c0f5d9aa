import {
  formatCursor,
  omitUndefined,
  type RowCheck,
  type SubscriptionFrame,
  sealedEvent,
} from "@parley/fold";
import type { AgentEvent, Cursor, StoredChunk } from "@parley/wire";
import { type ChunkPlace, toStoredChunks } from "../../messages/wire-chunks.js";
import type { HistoryEntry } from "../../ports.js";

/*
 * The only module that formats frames. Everything that is published or sent to a subscriber is one of four: committed
 * rows, an event, a reset, or (for a subscriber that joins by cursor) a snapshot of the state around the log.
 */

/** A committed place in a conversation: the last seq, and the row that holds it as far as that is known. */
export interface CommittedPlace {
  readonly seq: number;
  readonly check: RowCheck | undefined;
}

/** Formats the cursor of a committed place outside any open turn. */
export function committedCursor({ seq, check }: CommittedPlace): Cursor {
  return formatCursor({ seq, check });
}

/** Makes the frame of one event. */
export function eventFrame(event: AgentEvent, cursor: Cursor): SubscriptionFrame {
  return { type: "chat.delta", event, cursor };
}

/** Makes the frame of committed chunks. */
export function chunksFrame(
  conversationId: string,
  chunks: readonly StoredChunk[],
  cursor: Cursor,
): SubscriptionFrame {
  return { type: "chat.chunks", conversationId, chunks, cursor };
}

/** Makes the frame that discards the provisional state of a turn, or without a turn the whole log. */
export function resetFrame(
  conversationId: string,
  turnId: string | undefined,
  cursor: Cursor,
): SubscriptionFrame {
  return { type: "chat.reset", conversationId, ...omitUndefined({ turnId }), cursor };
}

/** Makes the frame of a conversation's new status. */
export function statusFrame(
  conversationId: string,
  status: string,
  place: CommittedPlace,
): SubscriptionFrame {
  return eventFrame({ type: "status", conversationId, status }, committedCursor(place));
}

/** Makes the frame that ends a turn permanently. */
export function sealedFrame(turn: Parameters<typeof sealedEvent>[0], cursor: Cursor): SubscriptionFrame {
  return eventFrame(sealedEvent(turn), cursor);
}

/** Converts committed rows to chunks. */
export function chunksOf(entries: readonly HistoryEntry[]): StoredChunk[] {
  return entries.flatMap((entry) =>
    toStoredChunks(entry.message, hasPlace(entry) ? entry : { ...entry, firstSeq: 0 }),
  );
}

function hasPlace(entry: HistoryEntry): entry is HistoryEntry & ChunkPlace {
  return entry.firstSeq !== undefined;
}
