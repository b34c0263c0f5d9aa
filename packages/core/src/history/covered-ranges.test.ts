import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCoveredRanges, type SeqRange, subtractRanges } from "./covered-ranges.js";
import { message } from "./history.test-support.js";

const range: fc.Arbitrary<SeqRange> = fc
  .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 10 }))
  .map(([firstSeq, more]) => ({ firstSeq, lastSeq: firstSeq + more }));

function seqsIn(ranges: readonly SeqRange[]): Set<number> {
  const seqs = new Set<number>();
  for (const { firstSeq, lastSeq } of ranges) for (let seq = firstSeq; seq <= lastSeq; seq++) seqs.add(seq);
  return seqs;
}

describe("what is left of ranges", () => {
  it("is every seq that is in them and not taken, in order and without overlaps", () => {
    fc.assert(
      fc.property(fc.array(range), fc.array(range), (ranges, taken) => {
        const left = subtractRanges(ranges, taken);
        const gone = seqsIn(taken);
        expect([...seqsIn(left)]).toEqual(
          [...seqsIn(ranges)].filter((seq) => !gone.has(seq)).toSorted((a, b) => a - b),
        );
        for (const [index, { firstSeq }] of left.entries()) {
          expect(firstSeq).toBeGreaterThan(left[index - 1]?.lastSeq ?? 0);
        }
      }),
    );
  });
});

describe("a summary", () => {
  const row = (seq: number) => ({
    message: message(`s${seq}`, "system", "so far"),
    firstSeq: seq,
    lastSeq: seq,
  });
  const entry = (firstSeq: number, lastSeq = firstSeq) => ({
    message: message(`m${firstSeq}`, "user", "text"),
    firstSeq,
    lastSeq,
  });

  it("hides what it covers as a whole, and nothing without a seq", () => {
    const covered = createCoveredRanges();
    covered.add(row(9), { fromSeq: 3, toSeq: 6 });
    expect([entry(3), entry(4, 6), entry(6, 7), entry(2)].map(covered.hides)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(covered.hides({ message: message("x", "user", "text") })).toBe(false);
  });

  it("that takes in an earlier one by its row stands for all of both", () => {
    const covered = createCoveredRanges();
    covered.add(row(20), { fromSeq: 8, toSeq: 15 });
    expect(covered.hidesFromHere(entry(12))).toBe(false);
    expect(covered.add(row(8), { fromSeq: 1, toSeq: 7 })).toBeUndefined();
    expect(covered.hidesFromHere(entry(7))).toBe(true);
  });
});
