import { describe, expect, it } from "vitest";
import { matchScore } from "./match-score.js";

describe("matchScore", () => {
  it("does not find letters that are only scattered over a title", () => {
    expect(matchScore("stop", ["slow task please"])).toBe(0);
    expect(matchScore("compact", ["Use many tools in parallel, complete in fact"])).toBe(0);
  });

  it("ranks a title that starts with the query before one that has its words, and that before other words for it", () => {
    const scores = [
      matchScore("stop", ["Stop the turn"]),
      matchScore("turn", ["Stop the turn"]),
      matchScore("halt", ["Stop the turn", "halt", "abort"]),
      matchScore("urn", ["Stop the turn"]),
    ];
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(new Set(scores).size).toBe(4);
    expect(scores.at(-1)).toBeGreaterThan(0);
  });

  it("requires every word of the query", () => {
    expect(matchScore("export json", ["Export as JSONL", "download"])).toBeGreaterThan(0);
    expect(matchScore("export pdf", ["Export as JSONL", "download"])).toBe(0);
  });

  it("finds everything for an empty query, and titles of other scripts", () => {
    expect(matchScore("  ", ["Anything"])).toBe(1);
    expect(matchScore("zür", ["Reise nach Zürich"])).toBeGreaterThan(0.5);
    expect(matchScore("東京", ["天気 東京"])).toBeGreaterThan(0.5);
  });
});
