import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defaultModelLimits, modelLimits } from "./index.js";

describe("modelLimits", () => {
  it("finds a model by the start of its name", () => {
    expect(modelLimits("gpt-4o-2024-08-06")).toEqual({ contextWindow: 128_000, maxOutputTokens: 16_384 });
    expect(modelLimits("o3-mini").contextWindow).toBe(200_000);
  });

  it("prefers the longest prefix", () => {
    expect(modelLimits("gpt-5-chat-latest").contextWindow).toBe(128_000);
    expect(modelLimits("gpt-5-mini").contextWindow).toBe(400_000);
    expect(modelLimits("gpt-4.1-nano").contextWindow).toBe(1_047_576);
    expect(modelLimits("gpt-4-0613").contextWindow).toBe(8_192);
    expect(modelLimits("claude-sonnet-4-20250514").maxOutputTokens).toBe(64_000);
    expect(modelLimits("claude-sonnet-4-6").maxOutputTokens).toBe(128_000);
    expect(modelLimits("claude-opus-5-5")).toEqual({ contextWindow: 1_000_000, maxOutputTokens: 128_000 });
  });

  it("ignores the path of a router, a fine-tune and upper case", () => {
    expect(modelLimits("openai/gpt-5")).toEqual(modelLimits("gpt-5"));
    expect(modelLimits("ft:gpt-4o-mini:acme::x1")).toEqual(modelLimits("gpt-4o-mini"));
    expect(modelLimits("Claude-Sonnet-4-5")).toEqual(modelLimits("claude-sonnet-4-5"));
  });

  it("does not confuse names that only start alike", () => {
    expect(modelLimits("o10-future")).toBe(defaultModelLimits);
    expect(modelLimits("gpt-4all-falcon")).toBe(defaultModelLimits);
  });

  it("has limits for every name, which leave tokens for input beside the output", () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        const { contextWindow, maxOutputTokens } = modelLimits(name);
        expect(contextWindow).toBeGreaterThan(0);
        expect(maxOutputTokens).toBeGreaterThan(0);
        expect(maxOutputTokens).toBeLessThanOrEqual(contextWindow);
      }),
    );
  });
});
