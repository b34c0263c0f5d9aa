import { describe, expect, it } from "vitest";
import { manifestOf, messages } from "./manifest.test-support.js";
import { diffManifests, isSameContext, sentRanges } from "./manifest-diff.js";

const instructions = { kind: "instructions", estimatedTokens: 50 } as const;
const tools = { kind: "tools", estimatedTokens: 200 } as const;

describe("diffManifests", () => {
  it("shows what a step added to the request before it", () => {
    const before = manifestOf([instructions, tools, messages(1, 3, 100)], {
      instructionsHash: "i",
      toolsHash: "t",
    });
    const after = manifestOf([instructions, tools, messages(1, 3, 100), messages(4, 6, 40)], {
      instructionsHash: "i",
      toolsHash: "t",
      transforms: [{ kind: "result-synthesized", firstSeq: 5, lastSeq: 5, detail: "call c" }],
    });
    const diff = diffManifests(before, after);
    expect(diff).toMatchObject({
      tokensBefore: 350,
      tokensAfter: 390,
      instructions: "same",
      tools: "same",
      added: [{ firstSeq: 4, lastSeq: 6 }],
      removed: [],
      newTransforms: [{ kind: "result-synthesized" }],
    });
    expect(diff.kinds).toEqual([
      { kind: "instructions", before: 50, after: 50 },
      { kind: "tools", before: 200, after: 200 },
      { kind: "messages", before: 100, after: 140 },
    ]);
    expect(isSameContext(diff)).toBe(false);
  });

  it("shows a compaction as removed messages and an added summary", () => {
    const before = manifestOf([messages(1, 30, 3_000)]);
    const after = manifestOf(
      [
        { kind: "summary", role: "system", firstSeq: 31, lastSeq: 31, estimatedTokens: 200 },
        messages(21, 30, 1_000),
        messages(32, 32, 20),
      ],
      {
        dropped: [{ firstSeq: 1, lastSeq: 20, reason: "compacted", summarySeq: 31 }],
      },
    );
    const diff = diffManifests(before, after);
    expect(diff.removed).toEqual([{ firstSeq: 1, lastSeq: 20 }]);
    expect(diff.added).toEqual([{ firstSeq: 31, lastSeq: 32 }]);
    expect(diff.newlyDropped).toHaveLength(1);
    expect(diff.kinds).toEqual([
      { kind: "summary", before: 0, after: 200 },
      { kind: "messages", before: 3_000, after: 1_020 },
    ]);
  });

  it("does not report as dropped what was dropped for the same reason before", () => {
    const before = manifestOf([messages(11, 20, 10)], {
      dropped: [{ firstSeq: 1, lastSeq: 10, reason: "budget" }],
    });
    const same = manifestOf([messages(11, 21, 11)], {
      dropped: [{ firstSeq: 1, lastSeq: 10, reason: "budget" }],
    });
    const other = manifestOf([messages(15, 21, 7)], {
      dropped: [
        { firstSeq: 1, lastSeq: 10, reason: "compacted", summarySeq: 22 },
        { firstSeq: 11, lastSeq: 14, reason: "budget" },
      ],
    });
    expect(diffManifests(before, same).newlyDropped).toEqual([]);
    expect(diffManifests(before, other).newlyDropped).toHaveLength(2);
  });

  it.each([
    [undefined, undefined, "none"],
    [undefined, "a", "added"],
    ["a", undefined, "removed"],
    ["a", "b", "changed"],
    ["a", "a", "same"],
  ] as const)("calls instructions that were %s and are %s: %s", (before, after, change) => {
    const of = (instructionsHash: string | undefined) =>
      manifestOf([], instructionsHash === undefined ? {} : { instructionsHash });
    expect(diffManifests(of(before), of(after)).instructions).toBe(change);
  });

  it("finds a request equal to itself", () => {
    const manifest = manifestOf([instructions, messages(1, 3, 100)], {
      instructionsHash: "i",
      transforms: [{ kind: "orphan-removed", firstSeq: 2, lastSeq: 2 }],
    });
    expect(isSameContext(diffManifests(manifest, manifest))).toBe(true);
  });

  it("counts as sent only what has a place in the log", () => {
    expect(sentRanges(manifestOf([instructions, tools, messages(5, 9, 1), messages(10, 12, 1)]))).toEqual([
      { firstSeq: 5, lastSeq: 12 },
    ]);
  });
});
