import type { ContextManifest, ProviderCallInfo, StepId } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { createStyle } from "../../terminal/style.js";
import { manifestTree } from "./manifest-tree.js";

const options = { number: 1, isLast: true, style: createStyle(false) };
const manifest = (more: Partial<ContextManifest>): ContextManifest => ({
  segments: [],
  dropped: [],
  transforms: [],
  estimatedTokens: 1_000,
  prefixHash: "h",
  ...more,
});
const call = (more: Partial<ContextManifest>): ProviderCallInfo => ({
  id: "1",
  stepId: "t#0" as StepId,
  model: "demo/demo",
  provider: "demo",
  manifest: manifest(more),
});

describe("a manifest as a tree", () => {
  it("marks what is new since the call before, what was left out and what was changed", () => {
    const before = call({ segments: [{ kind: "tools", estimatedTokens: 100, hash: "a" }] });
    const lines = manifestTree(
      call({
        segments: [
          { kind: "tools", estimatedTokens: 100, hash: "a" },
          { kind: "messages", role: "user", firstSeq: 21, lastSeq: 25, estimatedTokens: 900, hash: "b" },
        ],
        dropped: [{ firstSeq: 1, lastSeq: 20, reason: "compacted", summarySeq: 26, estimatedTokens: 3_000 }],
        transforms: [{ kind: "result-clipped", firstSeq: 22, detail: "too long" }],
        prefixKept: true,
        prefixKeptTokens: 100,
      }),
      before,
      options,
    );
    expect(lines[0]).toMatch(/^└─ call 1 demo\/demo · about 1000 tokens/);
    expect(lines[1]).toMatch(/├─ = tools +100 tokens/);
    expect(lines[2]).toMatch(/├─ \+ messages \(user\) +#21–#25 +900 tokens/);
    expect(lines[3]).toContain("left out    #1–#20  3000 tokens, a summary stands for it (#26)");
    expect(lines[4]).toContain("~ result-clipped  #22  too long");
    expect(lines[5]).toContain("└─ goes on from the call before (100 tokens the same)");
  });

  it("names the files of the call, and what the model got of them", () => {
    const files = [
      { seq: 3, name: "cat.png", mediaType: "image/png", size: 9, as: "image" as const },
      {
        name: "a\u001B.zip",
        mediaType: "application/zip",
        size: 9,
        as: "note" as const,
        detail: "no archives",
      },
    ];
    const lines = manifestTree(call({ files }), undefined, options);
    expect(lines[1]).toContain("· file        #3  cat.png: as an image");
    expect(lines[2]).toMatch(/· file +a\S*\.zip: only named, no archives/);
    expect(lines[2]).not.toContain("\u001B");
  });

  it("says where the prefix broke, and why", () => {
    const lines = manifestTree(
      call({
        prefixKept: false,
        prefixKeptTokens: 40,
        prefixBreak: { at: "messages", seq: 7, detail: "window moved" },
      }),
      call({}),
      options,
    );
    expect(lines.at(-1)).toContain(
      "differs from the call before at messages #7: window moved (40 tokens the same up to there)",
    );
  });

  it("does not take silence about the cache for a miss", () => {
    expect(manifestTree(call({}), undefined, options).at(-1)).toContain("the provider does not say");
    const reported = { ...call({}), usage: { inputTokens: 200, outputTokens: 1, cacheReadTokens: 150 } };
    expect(manifestTree(reported, undefined, options).at(-1)).toContain("75 % came from the cache");
  });
});
