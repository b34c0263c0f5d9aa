import { describe, expect, it } from "vitest";
import { KeptHistory } from "../../history/kept-history.js";
import { HistoryCache } from "./history-cache.js";

function historyOf(characters: number): KeptHistory {
  const history = new KeptHistory();
  const message = {
    id: "m",
    conversationId: "c",
    role: "user" as const,
    content: [{ type: "text" as const, text: "x".repeat(characters) }],
    createdAt: new Date(0),
  };
  history.takeOlder([{ message, firstSeq: 1, lastSeq: 1 }], { isLast: true });
  return history;
}

describe("the histories that a node keeps", () => {
  it("are found by owner and conversation", () => {
    const cache = new HistoryCache();
    const history = historyOf(10);
    cache.keep("ada", "c", history);
    expect(cache.of("ada", "c")).toBe(history);
    expect(cache.of("bob", "c").size).toBe(0);
    expect(cache.of("ada", "d").size).toBe(0);
    cache.drop("ada", "c");
    expect([cache.of("ada", "c").size, cache.size]).toEqual([0, 0]);
  });

  it("stay within their memory: those used longest ago go first, and one that is too large is not kept", () => {
    const each = historyOf(10_000).bytes;
    const cache = new HistoryCache(each * 3);
    for (const id of ["a", "b", "c"]) cache.keep("ada", id, historyOf(10_000));
    cache.keep("ada", "a", cache.of("ada", "a"));
    cache.keep("ada", "d", historyOf(10_000));
    expect(["a", "b", "c", "d"].map((id) => cache.of("ada", id).size)).toEqual([1, 0, 1, 1]);
    cache.keep("ada", "e", historyOf(100_000));
    expect(["a", "c", "d", "e"].map((id) => cache.of("ada", id).size)).toEqual([1, 1, 1, 0]);
  });
});
