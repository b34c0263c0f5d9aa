import type { HistoryEntry } from "../ports.js";

/** A range of seqs, both ends included. */
export interface SeqRange {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** A summary that is in force, with everything it stands for. */
export interface ActiveSummary {
  readonly entry: HistoryEntry;
  readonly ranges: readonly SeqRange[];
}

/** Which messages summaries stand for. Entries must come newest first. */
export interface CoveredRanges {
  /**
   * Takes the summary of a compaction. Undefined if a later one supersedes it: by covering its range, or its
   * own row, and then the later one stands for all that the earlier one stood for.
   */
  add(entry: HistoryEntry, covers: { fromSeq: number; toSeq: number }): ActiveSummary | undefined;
  /** Whether a summary stands for this message. One that is covered in part only is shown as it is. */
  hides(entry: HistoryEntry): boolean;
  /** Whether a summary stands for this message and every older one, so that reading on is in vain. */
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

/** The seqs of the entries that have some. */
export function seqsOf(entries: readonly HistoryEntry[]): SeqRange[] {
  return entries.flatMap(({ firstSeq, lastSeq }) =>
    firstSeq === undefined || lastSeq === undefined ? [] : [{ firstSeq, lastSeq }],
  );
}

function contains(outer: SeqRange, inner: Partial<SeqRange>): boolean {
  if (inner.firstSeq === undefined || inner.lastSeq === undefined) return false;
  return outer.firstSeq <= inner.firstSeq && inner.lastSeq <= outer.lastSeq;
}

/** The same seqs in as few ranges as possible, in order. */
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

/** What is left of the ranges outside of others: in order, without overlaps. */
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
