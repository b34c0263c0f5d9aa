import type { HistoryEntry } from "../ports.js";
import { isInput, splitSteps, type TurnPiece } from "./split-steps.js";

/** A turn as a window takes it: whole, or from one of its steps on. */
export interface TurnGroup {
  /** In order. */
  readonly entries: readonly HistoryEntry[];
  /** In order. */
  readonly pieces: readonly TurnPiece[];
}

/** Gathers entries, offered newest first, into turns. */
export interface TurnGrouper {
  /** Adds an older entry, and returns the turns that are complete now: newest first, usually none. */
  add(entry: HistoryEntry): TurnGroup[];
  /** Adds a whole turn at once. */
  addTurn(entries: readonly HistoryEntry[]): TurnGroup[];
  /** Ends the turn that was being gathered: there is nothing older. */
  end(): TurnGroup[];
  /**
   * Ends the turn that was being gathered if an older entry belongs to another one. Undefined if the entry belongs to
   * it, or if its turn may turn out to.
   */
  endBefore(older: HistoryEntry): TurnGroup[] | undefined;
  /** Returns the entries that are not part of a complete turn yet, newest first. */
  open(): HistoryEntry[];
  /** Returns true if the last entry added is the only open one. */
  hasJustBegun(): boolean;
  /** Returns true if the turn being gathered may turn out to hold the call of a newer turn's result. */
  awaitsCall(): boolean;
}

const nothing: ReadonlySet<string> = new Set();

/**
 * Groups entries into turns. A turn is a run of entries with the same turn id or, where entries have none, an input
 * with what follows until the next one. If a turn brings results whose calls were made in the turn before it (the
 * host ran the tools and sent the results as a new turn), both are one turn here, because no window may separate
 * them. A call further back is not searched for: such a result answers nothing.
 */
export function createTurnGrouper(): TurnGrouper {
  // Newest first.
  let current: HistoryEntry[] = [];
  // Turns that belong together, newest first, each in order; they wait for the turn before them.
  let tied: (readonly HistoryEntry[])[] = [];
  let awaited: ReadonlySet<string> = nothing;

  function complete(turn: readonly HistoryEntry[]): TurnGroup[] {
    const done: TurnGroup[] = [];
    const split = splitSteps(turn);
    if (tied.length > 0 && !meet(awaited, split.openCallIds)) done.push(release());
    if (tied.length === 0 && split.openResultIds.size === 0) {
      done.push({ entries: turn, pieces: split.pieces });
      return done;
    }
    tied.push(turn);
    awaited = split.openResultIds;
    if (awaited.size === 0) done.push(release());
    return done;
  }

  function release(): TurnGroup {
    const entries = tied.toReversed().flat();
    tied = [];
    awaited = nothing;
    return { entries, pieces: splitSteps(entries).pieces };
  }

  function closeCurrent(): TurnGroup[] {
    if (current.length === 0) return [];
    const turn = current.toReversed();
    current = [];
    return complete(turn);
  }

  return {
    add(entry) {
      const newer = current.at(-1);
      const done = newer !== undefined && turnBeginsBetween(entry, newer) ? closeCurrent() : [];
      current.push(entry);
      return done;
    },
    addTurn: (entries) => [...closeCurrent(), ...(entries.length === 0 ? [] : complete(entries))],
    end() {
      const done = closeCurrent();
      if (tied.length > 0) done.push(release());
      return done;
    },
    endBefore(older) {
      const newer = current.at(-1);
      if (newer !== undefined && !turnBeginsBetween(older, newer)) return undefined;
      const done = closeCurrent();
      return tied.length > 0 ? undefined : done;
    },
    open: () => [...tied.flatMap((turn) => turn.toReversed()), ...current],
    hasJustBegun: () => current.length === 1 && tied.length === 0,
    awaitsCall: () => tied.length > 0,
  };
}

/** Returns true if the newer of two neighbors opens a turn. */
function turnBeginsBetween(older: HistoryEntry, newer: HistoryEntry): boolean {
  if (older.turnId !== undefined || newer.turnId !== undefined) return older.turnId !== newer.turnId;
  return isInput(newer) && !isInput(older);
}

function meet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const id of a) if (b.has(id)) return true;
  return false;
}
