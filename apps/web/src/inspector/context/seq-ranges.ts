/** Seqs from the first to the last, both inclusive. */
export interface SeqRange {
  readonly firstSeq: number;
  readonly lastSeq: number;
}

/** Returns the same seqs in ascending ranges that neither overlap nor touch. */
export function joinRanges(ranges: Iterable<SeqRange>): readonly SeqRange[] {
  const sorted = [...ranges]
    .filter(({ firstSeq, lastSeq }) => firstSeq <= lastSeq)
    .sort((a, b) => a.firstSeq - b.firstSeq);
  const joined: SeqRange[] = [];
  for (const { firstSeq, lastSeq } of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && firstSeq <= last.lastSeq + 1) {
      joined[joined.length - 1] = { firstSeq: last.firstSeq, lastSeq: Math.max(last.lastSeq, lastSeq) };
    } else {
      joined.push({ firstSeq, lastSeq });
    }
  }
  return joined;
}

/** Returns the seqs of the first that are not in the second. */
export function subtractRanges(from: Iterable<SeqRange>, taken: Iterable<SeqRange>): readonly SeqRange[] {
  const holes = joinRanges(taken);
  const left: SeqRange[] = [];
  for (const range of joinRanges(from)) {
    let firstSeq = range.firstSeq;
    for (const hole of holes) {
      if (hole.lastSeq < firstSeq) continue;
      if (hole.firstSeq > range.lastSeq) break;
      if (hole.firstSeq > firstSeq) left.push({ firstSeq, lastSeq: hole.firstSeq - 1 });
      firstSeq = hole.lastSeq + 1;
    }
    if (firstSeq <= range.lastSeq) left.push({ firstSeq, lastSeq: range.lastSeq });
  }
  return left;
}

/** Returns the number of seqs in the ranges. */
export function countSeqs(ranges: Iterable<SeqRange>): number {
  let count = 0;
  for (const { firstSeq, lastSeq } of joinRanges(ranges)) count += lastSeq - firstSeq + 1;
  return count;
}

/** Returns `12` or `12 to 40`. */
export function rangeText({ firstSeq, lastSeq }: SeqRange): string {
  return firstSeq === lastSeq ? `${firstSeq}` : `${firstSeq} to ${lastSeq}`;
}
