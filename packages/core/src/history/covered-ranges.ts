import type { HistoryEntry } from "../ports.js";

/** A range of seqs, both ends included. */
export interface SeqRange {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** A summary that is in force, with everything it replaces. */
export interface ActiveSummary {
  readonly entry: HistoryEntry;
  readonly ranges: readonly SeqRange[];
}

/** Messages that summaries replace. Entries must come newest first. */
export interface CoveredRanges {
  /**
   * Adds the summary of a compaction. Undefined if a later one supersedes it: by covering its range, or its own row;
   * the later one then replaces everything that the earlier one replaced.
   */
  add(entry: HistoryEntry, covers: { fromSeq: number; toSeq: number }): ActiveSummary | undefined;
  /** Returns true if a summary replaces this message. One that is only partly covered is shown as it is. */
  hides(entry: HistoryEntry): boolean;
  /**
   * Returns true if a summary replaces this message and every older one, so that there is no need to read further.
   */
  hidesFromHere(entry: HistoryEntry): boolean;
}

export function createCoveredRanges(): CoveredRanges {
  const active: { entry: HistoryEntry; ranges: SeqRange[] }[] = [];
  const covering = (range: Partial<SeqRange>) =>
    active.find((summary) => summary.ranges.some((own) => contains(own, range)));
  return {
    add(entry, covers) {
      const range = { firstSeq: covers.fromSeq, lastSeq: covers.toSeq };
      const later = covering(entry) ?? covering(range);
      if (later !== undefined) {
        later.ranges = joinRanges([...later.ranges, range, ...seqsOf([entry])]);
        return undefined;
      }
      const summary = { entry, ranges: [range] };
      active.push(summary);
      return summary;
    },
    hides: (entry) => covering(entry) !== undefined,
    hidesFromHere: ({ lastSeq }) => lastSeq !== undefined && covering({ firstSeq: 1, lastSeq }) !== undefined,
  };
}

/** Returns the seqs of the entries that have some. */
export function seqsOf(entries: readonly HistoryEntry[]): SeqRange[] {
  return entries.flatMap(({ firstSeq, lastSeq }) =>
    firstSeq === undefined || lastSeq === undefined ? [] : [{ firstSeq, lastSeq }],
  );
}

function contains(outer: SeqRange, inner: Partial<SeqRange>): boolean {
  if (inner.firstSeq === undefined || inner.lastSeq === undefined) return false;
  return outer.firstSeq <= inner.firstSeq && inner.lastSeq <= outer.lastSeq;
}

/** Joins the same seqs into as few ranges as possible, in order. */
function joinRanges(ranges: readonly SeqRange[]): SeqRange[] {
  const joined: { firstSeq: number; lastSeq: number }[] = [];
  for (const range of [...ranges].sort((a, b) => a.firstSeq - b.firstSeq)) {
    const last = joined.at(-1);
    if (last !== undefined && range.firstSeq <= last.lastSeq + 1) {
      last.lastSeq = Math.max(last.lastSeq, range.lastSeq);
    } else joined.push({ ...range });
  }
  return joined;
}

/** Returns the ranges without others: in order, without overlaps. */
export function subtractRanges(ranges: readonly SeqRange[], taken: readonly SeqRange[]): SeqRange[] {
  const holes = [...taken].sort((a, b) => a.firstSeq - b.firstSeq);
  const left: SeqRange[] = [];
  for (const range of joinRanges(ranges)) {
    let from = range.firstSeq;
    for (const hole of holes) {
      if (hole.lastSeq < from || hole.firstSeq > range.lastSeq) continue;
      if (hole.firstSeq > from) left.push({ firstSeq: from, lastSeq: hole.firstSeq - 1 });
      from = hole.lastSeq + 1;
    }
    if (from <= range.lastSeq) left.push({ firstSeq: from, lastSeq: range.lastSeq });
  }
  return left;
}
