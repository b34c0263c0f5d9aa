import { describe, expect, it } from "vitest";
import { dropWords, outlookWords, transformWords } from "./context-words.js";

describe("words about the context", () => {
  it("name a kind of change that this page does not know yet", () => {
    expect(transformWords("images-shrunk")).toBe("images shrunk");
    expect(transformWords("toString")).toBe("toString");
    expect(transformWords("result-clipped")).toContain("shortened");
  });

  it("distinguish a compaction that is due from one that is ahead and one that never happens", () => {
    expect(outlookWords({ kind: "automatic", atTokens: 800, inTokens: 0 })).toContain("before the next step");
    expect(outlookWords({ kind: "automatic", atTokens: 800, inTokens: 300 })).toContain("300 from here");
    expect(outlookWords({ kind: "automatic", atTokens: 800 })).toBe(
      "It is compacted by itself at 800 tokens.",
    );
    expect(outlookWords({ kind: "manual" })).toContain("only when you ask");
    expect(outlookWords({ kind: "unknown" })).toContain("not known");
  });

  it("say which summary replaces messages", () => {
    expect(dropWords({ firstSeq: 1, lastSeq: 2, reason: "compacted", summarySeq: 9 })).toContain("seq 9");
    expect(dropWords({ firstSeq: 1, lastSeq: 2, reason: "budget" })).toContain("did not fit");
  });
});
