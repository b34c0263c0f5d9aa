import type { Cursor } from "@parley/wire";
import { invalidField } from "../../errors.js";

/** A place in a conversation's stream, taken apart. */
export interface CursorPlace {
  /** Everything up to this seq has been seen. */
  readonly seq: number;
  /** Set while a turn is open: its events up to and including `n`, written under the fence `epoch`. */
  readonly open?: { readonly turnId: string; readonly epoch: number; readonly n: number };
}

/** The text of a place. */
export function formatCursor(seq: number, open?: CursorPlace["open"]): Cursor {
  return (open === undefined ? String(seq) : `${seq}~${open.turnId}~${open.epoch}~${open.n}`) as Cursor;
}

/** Makes the cursors of one open turn's events: what they have in common is written once. */
export function openCursor(
  seq: number,
  turn: { readonly turnId: string; readonly epoch: number },
): (n: number) => Cursor {
  const prefix = `${seq}~${turn.turnId}~${turn.epoch}~`;
  return (n) => (prefix + n) as Cursor;
}

const whole = /^\d{1,15}$/;

/** Takes a cursor apart. `invalid_request` for what no Parley has ever handed out. */
export function parseCursor(text: string): CursorPlace {
  const [seq, turnId, epoch, n, ...rest] = text.split("~");
  const bare = turnId === undefined;
  const complete =
    turnId !== undefined && turnId !== "" && whole.test(epoch ?? "") && /^(-1|\d{1,15})$/.test(n ?? "");
  if (!whole.test(seq ?? "") || rest.length > 0 || (!bare && !complete)) {
    throw invalidField("cursor", "not a cursor of this server; leave it out to start anew");
  }
  if (bare) return { seq: Number(seq) };
  return { seq: Number(seq), open: { turnId, epoch: Number(epoch), n: Number(n) } };
}
