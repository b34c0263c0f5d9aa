import type { MetricsResponse, TurnMetrics } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { joinEarlier, joinNewest, type KnownMetrics } from "./known-metrics.js";

const turn = (turnId: string): TurnMetrics => ({
  turnId,
  usage: { inputTokens: 1, outputTokens: 1 },
  steps: [],
});
const page = (ids: string, nextBefore?: string): MetricsResponse => ({
  turns: [...ids].map(turn),
  ...(nextBefore === undefined ? {} : { nextBefore }),
});
const shown = ({ turns, nextBefore }: KnownMetrics) => [
  turns.map(({ turnId }) => turnId).join(""),
  nextBefore,
];

describe("what is known of the sealed turns", () => {
  it("starts with the newest page", () => {
    expect(shown(joinNewest(undefined, page("efg", "e")))).toEqual(["efg", "e"]);
  });

  it("keeps earlier pages when a turn is added", () => {
    const known = joinEarlier(page("efg", "e"), page("bcd", "b"), "e");
    expect(shown(known)).toEqual(["bcdefg", "b"]);
    expect(shown(joinNewest(known, page("fgh", "f")))).toEqual(["bcdefgh", "b"]);
    const whole = joinEarlier(known, page("a"), "b");
    expect(shown(joinNewest(whole, page("fgh", "f")))).toEqual(["abcdefgh", undefined]);
  });

  it("has no gap when more turns were added than a page holds", () => {
    expect(shown(joinNewest(page("abc"), page("fgh", "f")))).toEqual(["fgh", "f"]);
  });

  it("ignores a page that belongs before other turns", () => {
    const known = page("fgh", "f");
    expect(joinEarlier(known, page("ab"), "c")).toBe(known);
  });
});
