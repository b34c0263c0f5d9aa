import { type CursorPlace, hashRow, parseCursor, type RowCheck } from "@parley/fold";
import { invalidField } from "../../errors.js";
import type { HistoryEntry } from "../../ports.js";

/** Parses the cursor of a request. Throws `invalid_request` for a text that no version of Parley has ever issued. */
export function readCursor(text: string): CursorPlace {
  const place = parseCursor(text);
  if (place === undefined) {
    throw invalidField("cursor", "not a cursor of this server; leave it out to start from the beginning");
  }
  return place;
}

/** Identifies the last row of a list. Undefined for an empty list. */
export function checkOfLast(entries: readonly HistoryEntry[]): RowCheck | undefined {
  const last = entries.at(-1);
  if (last?.firstSeq === undefined) return undefined;
  const { message, firstSeq, lastSeq = firstSeq, turnId } = last;
  const createdAt = message.createdAt.getTime();
  return { seq: lastSeq, hash: hashRow({ firstSeq, messageId: message.id, turnId, createdAt }) };
}
