import type { TurnId } from "@parley/core/messages";
import type { Compaction, Log, Row, Turn } from "./database.js";

/** Counts the rows, from the oldest on, that begin at or before `seq`. */
function countThrough(rows: readonly Row[], seq: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((rows[middle]?.firstSeq ?? seq) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A log of the chain, and the last seq of it that belongs to the view. */
interface Stretch {
  readonly log: Log;
  readonly through: number;
}

/** Yields the log and its ancestors, nearest first, each with the part that the log sees of it. */
function* stretches(log: Log): Generator<Stretch> {
  let through = Number.MAX_SAFE_INTEGER;
  let at: Log | undefined = log;
  while (at !== undefined) {
    yield { log: at, through };
    through = Math.min(through, at.parent?.seq ?? 0);
    at = at.parent?.log;
  }
}

/** Yields rows from the newest that begins at or before `through` backwards, through all ancestors. */
export function* rowsBackwards(log: Log, through = Number.MAX_SAFE_INTEGER): Generator<Row> {
  for (const stretch of stretches(log)) {
    const { rows } = stretch.log;
    let index = countThrough(rows, Math.min(through, stretch.through));
    while (index > 0) {
      index -= 1;
      const row = rows[index];
      if (row !== undefined) yield row;
    }
  }
}

/** Returns the row that ends at `seq`, own or inherited. */
function rowEndingAt(log: Log, seq: number): Row | undefined {
  const [row] = rowsBackwards(log, seq);
  return row?.lastSeq === seq ? row : undefined;
}

/** Returns the rows within the bounds, ascending. */
export function rowsBetween(log: Log, firstSeq: number, lastSeq: number): Row[] {
  const rows: Row[] = [];
  for (const row of rowsBackwards(log, lastSeq)) {
    if (row.firstSeq < firstSeq) break;
    rows.push(row);
  }
  return rows.reverse();
}

/** Returns the row of a message, own or inherited. */
export function findRow(log: Log, messageId: string): Row | undefined {
  for (const stretch of stretches(log)) {
    const row = stretch.log.rowsById.get(messageId);
    if (row !== undefined && row.lastSeq <= stretch.through) return row;
  }
  return undefined;
}

/** Returns the turn, own or inherited whole. */
export function findTurn(log: Log, turnId: TurnId): Turn | undefined {
  for (const stretch of stretches(log)) {
    const turn = stretch.log.turnsById.get(turnId);
    if (turn !== undefined && turn.lastSeq <= stretch.through) return turn;
  }
  return undefined;
}

/** Yields turns from the newest on, inherited ones included. */
export function* turnsBackwards(log: Log): Generator<Turn> {
  for (const stretch of stretches(log)) {
    const { turns } = stretch.log;
    for (let index = turns.length - 1; index >= 0; index--) {
      const turn = turns[index];
      if (turn !== undefined && turn.lastSeq <= stretch.through) yield turn;
    }
  }
}

/** Returns sealed turns, oldest first, inherited ones included. */
export function sealedTurns(log: Log): Turn[] {
  return [...turnsBackwards(log)].filter((turn) => turn.sealed !== undefined).reverse();
}

/** Returns the model of the newest turn that names one, own or inherited. */
export function newestModel(log: Log): string | undefined {
  for (const turn of turnsBackwards(log)) {
    const model = turn.choices.model ?? turn.sealed?.metrics?.model;
    if (model !== undefined) return model;
  }
  return undefined;
}

/** Returns the newest compaction that was not undone, own or inherited. */
export function compactionInForce(log: Log): Compaction | undefined {
  for (const stretch of stretches(log)) {
    const found = stretch.log.compactions.findLast(
      ({ seq }) => seq <= stretch.through && !log.undone.has(seq),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns true if a fork may be made after `seq`: at the beginning, or where something sealed ends. */
export function isForkPoint(log: Log, seq: number): boolean {
  if (seq === 0) return true;
  if (!Number.isSafeInteger(seq) || seq < 0 || seq > log.sealedSeq) return false;
  const row = rowEndingAt(log, seq);
  if (row === undefined) return false;
  return row.turnId === undefined || findTurn(log, row.turnId)?.lastSeq === seq;
}
