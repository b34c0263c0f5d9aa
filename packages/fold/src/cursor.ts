import type { Cursor, StoredChunk } from "@parley/wire";

/**
 * Identifies the row that holds a seq. A log that was restored from a dump and continued has another row
 * there, so a client that returns with the cursor is recognized as one that holds rows which no longer exist.
 * The row may be on either side of the cursor's own seq: rows are only ever appended, so an identical row
 * means that all rows before it are identical too.
 */
export interface RowCheck {
  readonly seq: number;
  /** Up to 7 letters and digits. */
  readonly hash: string;
}

/** A place in a conversation's stream: a parsed cursor. */
export interface CursorPlace {
  /** Everything up to this seq has been received. */
  readonly seq: number;
  /** Absent in a cursor of a client that had no rows, and in those of earlier versions. */
  readonly check?: RowCheck | undefined;
  /** Set while a turn is open: its events up to and including `n`, published under the fence `epoch`. */
  readonly open?: { readonly turnId: string; readonly epoch: number; readonly n: number } | undefined;
}

/** Formats a place as the cursor that clients keep. */
export function formatCursor({ seq, check, open }: CursorPlace): Cursor {
  const prefix = placePrefix(seq, check);
  return (open === undefined ? prefix : `${prefix}~${open.turnId}~${open.epoch}~${open.n}`) as Cursor;
}

/** Creates the cursors of one open turn's events: their common prefix is formatted once. */
export function openCursor(
  seq: number,
  check: RowCheck | undefined,
  turn: { readonly turnId: string; readonly epoch: number },
): (n: number) => Cursor {
  const prefix = `${placePrefix(seq, check)}~${turn.turnId}~${turn.epoch}~`;
  return (n) => (prefix + n) as Cursor;
}

function placePrefix(seq: number, check: RowCheck | undefined): string {
  if (check === undefined) return String(seq);
  return check.seq === seq ? `${seq}.${check.hash}` : `${seq}.${check.hash}.${check.seq}`;
}

const placePattern = /^(\d{1,15})(?:\.([0-9a-z]{1,7})(?:\.(\d{1,15}))?)?$/;
const openPattern = /^([^~]+)~(\d{1,15})~(-1|\d{1,15})$/;

/** Parses a cursor; undefined for a string that no version of Parley has ever issued. */
export function parseCursor(cursor: string): CursorPlace | undefined {
  const tilde = cursor.indexOf("~");
  const place = placePattern.exec(tilde === -1 ? cursor : cursor.slice(0, tilde));
  if (place === null) return undefined;
  const [, seq, hash, checkSeq] = place;
  const check = hash === undefined ? undefined : { seq: Number(checkSeq ?? seq), hash };
  if (tilde === -1) return { seq: Number(seq), ...(check === undefined ? {} : { check }) };
  const turn = openPattern.exec(cursor.slice(tilde + 1));
  if (turn === null) return undefined;
  const [, turnId = "", epoch, n] = turn;
  const open = { turnId, epoch: Number(epoch), n: Number(n) };
  return { seq: Number(seq), ...(check === undefined ? {} : { check }), open };
}

/** Returns true if `place` is before `other`, so that moving to it would be going back. */
export function isBefore(place: CursorPlace, other: CursorPlace): boolean {
  if (place.seq !== other.seq) return place.seq < other.seq;
  const { open } = place;
  if (open === undefined || open.turnId !== other.open?.turnId) return false;
  return open.epoch < other.open.epoch || (open.epoch === other.open.epoch && open.n < other.open.n);
}

/** Returns true if an event at `place` is among those received up to `last`. */
export function wasReceived(place: CursorPlace, last: CursorPlace | undefined): boolean {
  const { open } = place;
  if (open === undefined || last?.open === undefined) return false;
  if (open.epoch !== last.open.epoch) return open.epoch < last.open.epoch;
  return open.n <= last.open.n;
}

/** Identifies the row that a chunk is a part of. */
export function checkOfChunk(chunk: StoredChunk | undefined): RowCheck | undefined {
  if (chunk === undefined) return undefined;
  const { seq, partIndex = 0, messageId = "", turnId, createdAt = 0 } = chunk;
  return { seq, hash: hashRow({ firstSeq: seq - partIndex, messageId, turnId, createdAt }) };
}

/** Returns true if a chunk belongs to the row that a check identifies. */
export function isCheckedRow(chunk: StoredChunk | undefined, check: RowCheck): boolean {
  return chunk?.seq === check.seq && checkOfChunk(chunk)?.hash === check.hash;
}

/**
 * Returns the cursor for continuing after a page of history: the place before its newest turn, so that all
 * events of an open turn are sent too, checked by the page's last row. Undefined for an empty page.
 */
export function pageCursor(chunks: readonly StoredChunk[]): Cursor | undefined {
  const last = chunks.at(-1);
  const check = checkOfChunk(last);
  if (last === undefined || check === undefined) return undefined;
  const first = chunks.find(({ turnId }) => turnId === last.turnId) ?? last;
  return formatCursor({ seq: first.seq - 1, check });
}

/**
 * Hashes a row's identity: FNV-1a, 32 bits. Time is part of it because a turn that a dump had open is finished twice,
 * once before and once after it was restored, with rows of the same ids.
 */
export function hashRow(row: {
  readonly firstSeq: number;
  readonly messageId: string;
  readonly turnId?: string | undefined;
  readonly createdAt: number;
}): string {
  const text = `${row.firstSeq} ${row.createdAt} ${row.turnId ?? ""} ${row.messageId}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
