import { describe, expect, it } from "vitest";
import { modelPrices, modelPricesDate } from "./index.js";

describe("modelPrices", () => {
  it("finds a model by its name, with or without the date of a version", () => {
    const prices = { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 5, currency: "USD" };
    expect(modelPrices("anthropic", "claude-haiku-4-5")).toEqual(prices);
    expect(modelPrices("anthropic", "claude-haiku-4-5-20251001")).toEqual(prices);
    expect(modelPrices("openai", "GPT-4o-2024-08-06")?.input).toBe(2.5);
  });

  it("has no prices for other sizes, versions and providers of a model", () => {
    for (const name of [
      "gpt-5-pro",
      "gpt-5.9",
      "gpt-5-mini-high",
      "o3-pro",
      "gpt-4o-audio-preview",
      "constructor",
    ])
      expect(modelPrices("openai", name)).toBeUndefined();
    for (const name of ["claude-opus-6", "claude-opus-4-9", "gpt-5", "claude"])
      expect(modelPrices("anthropic", name)).toBeUndefined();
  });

  it("charges caches that last for an hour at twice the input", () => {
    expect(modelPrices("anthropic", "claude-opus-4-5", { hourCache: true })?.cacheWrite).toBe(10);
    expect(modelPrices("openai", "gpt-5", { hourCache: true })?.cacheWrite).toBe(1.25);
  });

  it("states when it was read", () => {
    expect(modelPricesDate).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });
});
