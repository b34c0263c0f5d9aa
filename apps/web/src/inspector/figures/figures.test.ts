import { describe, expect, it } from "vitest";
import {
  cacheShare,
  formatDuration,
  formatRate,
  formatShare,
  formatTokenChange,
  formatTokens,
  formatTokensShort,
  knownUsage,
  tokensPerSecond,
} from "./figures.js";

describe("figures", () => {
  it("reports unknown instead of 0 if nothing is known", () => {
    const formats = [formatTokens, formatTokensShort, formatDuration, formatShare, formatRate];
    for (const format of formats) expect(format(undefined)).toBe("unknown");
    expect(formatTokens(0)).toBe("0");
    expect(formatDuration(0)).toBe("0 ms");
    expect(formatDuration(0.2)).toBe("<1 ms");
    expect(formatShare(0)).toBe("0 %");
  });

  it("never rounds a part to nothing or to everything", () => {
    expect(formatShare(0.0004)).toBe("<1 %");
    expect(formatShare(0.998)).toBe("99 %");
    expect(formatShare(1)).toBe("100 %");
  });

  it("gives a change its sign", () => {
    expect(formatTokenChange(1204)).toBe("+1,204");
    expect(formatTokenChange(-80)).toBe("\u221280");
    expect(formatTokenChange(0.2)).toBe("no change");
  });

  it("returns no speed without both tokens and time", () => {
    expect(tokensPerSecond(100, 2000)).toBe(50);
    expect(tokensPerSecond(100, 0)).toBeUndefined();
    expect(tokensPerSecond(undefined, 2000)).toBeUndefined();
    expect(tokensPerSecond(100, undefined)).toBeUndefined();
  });

  it("treats a usage of zero as not reported", () => {
    expect(knownUsage({ inputTokens: 0, outputTokens: 0 })).toBeUndefined();
    expect(knownUsage({ inputTokens: 3, outputTokens: 0 })).toEqual({ inputTokens: 3, outputTokens: 0 });
  });

  it("returns a cache share only if the provider reports it", () => {
    expect(cacheShare({ inputTokens: 100, outputTokens: 5 })).toBeUndefined();
    expect(cacheShare({ inputTokens: 100, outputTokens: 5, cacheReadTokens: 0 })).toBe(0);
    expect(cacheShare({ inputTokens: 100, outputTokens: 5, cacheReadTokens: 75 })).toBe(0.75);
  });
});
