import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countSeqs, joinRanges, rangeText, type SeqRange, subtractRanges } from "./seq-ranges.js";

const ranges = fc.array(
  fc
    .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 8 }))
    .map(([firstSeq, length]) => ({ firstSeq, lastSeq: firstSeq + length })),
  { maxLength: 6 },
);

function seqsOf(all: Iterable<SeqRange>): Set<number> {
  const seqs = new Set<number>();
  for (const { firstSeq, lastSeq } of all) for (let seq = firstSeq; seq <= lastSeq; seq += 1) seqs.add(seq);
  return seqs;
}

describe("seq ranges", () => {
  it("are joined without gain or loss, in order and apart", () => {
    fc.assert(
      fc.property(ranges, (all) => {
        const joined = joinRanges(all);
        expect(seqsOf(joined)).toEqual(seqsOf(all));
        joined.slice(1).forEach(({ firstSeq }, index) => {
          expect(firstSeq).toBeGreaterThan((joined[index]?.lastSeq ?? 0) + 1);
        });
      }),
    );
  });

  it("are subtracted seq by seq", () => {
    fc.assert(
      fc.property(ranges, ranges, (from, taken) => {
        const gone = seqsOf(taken);
        const left = new Set([...seqsOf(from)].filter((seq) => !gone.has(seq)));
        expect(seqsOf(subtractRanges(from, taken))).toEqual(left);
        expect(countSeqs(subtractRanges(from, taken))).toBe(left.size);
      }),
    );
  });

  it("are written as one number if there is only one", () => {
    expect(rangeText({ firstSeq: 4, lastSeq: 4 })).toBe("4");
    expect(rangeText({ firstSeq: 4, lastSeq: 9 })).toBe("4 to 9");
  });
});
