import type { Usage } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { cacheExplanation, judgeCache, segmentReuse } from "./cache-verdict.js";
import { manifestOf, messages } from "./manifest.test-support.js";

const usage = (cacheReadTokens?: number): Usage => ({
  inputTokens: 5_000,
  outputTokens: 10,
  ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
});
const kept = manifestOf([messages(1, 9, 4_000), messages(10, 12, 1_000)], {
  prefixKept: true,
  prefixKeptTokens: 4_000,
});

describe("judgeCache", () => {
  it.each([
    [3_840, "held"],
    [512, "partial"],
    [0, "missed"],
    [undefined, "unreported"],
  ] as const)("calls a kept prefix of which %s tokens were read: %s", (read, outcome) => {
    expect(judgeCache({ manifest: kept, usage: usage(read) })).toMatchObject({
      outcome,
      expectedTokens: 4_000,
    });
  });

  it("does not blame the provider for a prefix that is too short to be cached", () => {
    const short = manifestOf([messages(1, 2, 300)], { prefixKept: true, prefixKeptTokens: 200 });
    expect(judgeCache({ manifest: short, usage: usage(0) }).outcome).toBe("short");
  });

  it("expects nothing from the cache of another model, and the start from a window that moved", () => {
    const model = manifestOf([messages(1, 2, 300)], {
      prefixKept: false,
      prefixKeptTokens: 250,
      prefixBreak: { at: "model", detail: "a/b -> a/c" },
    });
    const verdict = judgeCache({ manifest: model, usage: usage(0) });
    expect(verdict).toMatchObject({ outcome: "broken", expectedTokens: 0 });
    expect(cacheExplanation(verdict)).toContain("a/b -> a/c");
    const moved = manifestOf([messages(9, 20, 900)], {
      prefixKept: false,
      prefixKeptTokens: 250,
      prefixBreak: { at: "messages", seq: 9, detail: "window moved" },
    });
    expect(judgeCache({ manifest: moved })).toMatchObject({ outcome: "broken", expectedTokens: 250 });
    expect(cacheExplanation(judgeCache({ manifest: moved }))).toContain("from seq 9 on");
  });

  it("reports that a first call and an unrecorded one have nothing to compare", () => {
    expect(judgeCache({ manifest: manifestOf([]) }).outcome).toBe("first");
    expect(judgeCache({ usage: usage(4) })).toEqual({ outcome: "unknown", readTokens: 4 });
  });
});

describe("segmentReuse", () => {
  it("ends where the previous request ended", () => {
    expect(segmentReuse(kept)).toEqual(["kept", "new"]);
  });

  it("marks the segment in which two requests diverge", () => {
    const broken = manifestOf([messages(1, 3, 100), messages(5, 9, 100), messages(11, 12, 50)], {
      prefixKept: false,
      prefixKeptTokens: 140,
      prefixBreak: { at: "messages", seq: 7 },
    });
    expect(segmentReuse(broken)).toEqual(["kept", "partly", "new"]);
  });

  it("finds everything new for another model, and on the first call", () => {
    const other = manifestOf([messages(1, 3, 100)], {
      prefixKept: false,
      prefixKeptTokens: 100,
      prefixBreak: { at: "model" },
    });
    expect(segmentReuse(other)).toEqual(["new"]);
    expect(segmentReuse(manifestOf([messages(1, 3, 100)]))).toEqual(["new"]);
  });
});
