import type { Cursor, StoredChunk } from "@parley/wire";
import { invalidField } from "../../errors.js";
import type { HistoryEntry } from "../../ports.js";

/**
 * Identifies the row that holds a seq. A log that was restored from a dump and went on has another row there, so a
 * client that comes back with the cursor is recognised as one that holds rows which no longer exist. The row may lie
 * on either side of the cursor's own seq: rows are only ever appended, so one that is the same says that all before
 * it are.
 */
export interface RowCheck {
  readonly seq: number;
  /** Up to 7 letters and digits. */
  readonly hash: string;
}

/** A place in a conversation's stream, taken apart. */
export interface CursorPlace {
  /** Everything up to this seq has been seen. */
  readonly seq: number;
  /** Absent in a cursor of a client that had no rows, and in those of earlier versions. */
  readonly check?: RowCheck | undefined;
  /** Set while a turn is open: its events up to and including `n`, written under the fence `epoch`. */
  readonly open?: { readonly turnId: string; readonly epoch: number; readonly n: number } | undefined;
}

/** Formats a place as the cursor that clients keep. */
export function formatCursor({ seq, check, open }: CursorPlace): Cursor {
  const prefix = placePrefix(seq, check);
  return (open === undefined ? prefix : `${prefix}~${open.turnId}~${open.epoch}~${open.n}`) as Cursor;
}

/** Makes the cursors of one open turn's events: what they have in common is formatted once. */
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
const whole = /^\d{1,15}$/;

/** Takes a cursor apart. `invalid_request` for what no Parley has ever handed out. */
export function parseCursor(text: string): CursorPlace {
  const [first = "", turnId, epoch, n, ...rest] = text.split("~");
  const bare = turnId === undefined;
  const complete =
    turnId !== undefined && turnId !== "" && whole.test(epoch ?? "") && /^(-1|\d{1,15})$/.test(n ?? "");
  const found = placePattern.exec(first);
  if (found === null || rest.length > 0 || (!bare && !complete)) {
    throw invalidField("cursor", "not a cursor of this server; leave it out to start anew");
  }
  const [, seq, hash, checkSeq] = found;
  return {
    seq: Number(seq),
    ...(hash === undefined ? {} : { check: { seq: Number(checkSeq ?? seq), hash } }),
    ...(bare ? {} : { open: { turnId, epoch: Number(epoch), n: Number(n) } }),
  };
}

/** Identifies the last row of a list. Undefined for an empty list. */
export function checkOfLast(entries: readonly HistoryEntry[]): RowCheck | undefined {
  const last = entries.at(-1);
  if (last?.firstSeq === undefined) return undefined;
  const { message, firstSeq, lastSeq = firstSeq, turnId } = last;
  return { seq: lastSeq, hash: hashRow(firstSeq, message.id, turnId, message.createdAt.getTime()) };
}

/** Identifies the row that a chunk is a part of. */
export function checkOfChunk(chunk: StoredChunk | undefined): RowCheck | undefined {
  if (chunk === undefined) return undefined;
  const { seq, partIndex = 0, messageId = "", turnId, createdAt = 0 } = chunk;
  return { seq, hash: hashRow(seq - partIndex, messageId, turnId, createdAt) };
}

/** Returns whether a chunk belongs to the row that a check identifies. */
export function isCheckedRow(chunk: StoredChunk | undefined, check: RowCheck): boolean {
  return chunk?.seq === check.seq && checkOfChunk(chunk)?.hash === check.hash;
}

/**
 * Returns the cursor to follow on from behind a page of history: the place before its newest turn, so that all events
 * of a turn that is open come too, checked by the page's last row. Undefined for an empty page.
 */
export function pageCursor(chunks: readonly StoredChunk[]): Cursor | undefined {
  const last = chunks.at(-1);
  const check = checkOfChunk(last);
  if (last === undefined || check === undefined) return undefined;
  const first = chunks.find(({ turnId }) => turnId === last.turnId) ?? last;
  return formatCursor({ seq: first.seq - 1, check });
}

/**
 * FNV-1a, 32 bits. Time is part of it because a turn that a dump had open is finished twice, once before and once
 * after it was restored, with rows of the same ids.
 */
function hashRow(firstSeq: number, messageId: string, turnId: string | undefined, createdAt: number): string {
  const text = `${firstSeq} ${createdAt} ${turnId ?? ""} ${messageId}`;
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
