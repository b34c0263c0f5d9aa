import { describe, expect, it } from "vitest";
import { countTextTokens } from "./text-tokens.js";
import { createTokenCounter, type TokenCounter, type TokenEstimator } from "./token-counter.js";

const text = "Every conversation is one durable log, and the same log is the model's memory.";

/** Returns a counter with ten reports that a model needs a quarter more than counted. */
function taught(model: string): TokenCounter {
  const counter = createTokenCounter();
  for (let i = 0; i < 10; i++) {
    const factor = counter.factor(model);
    counter.observe(model, { estimated: 2_000 * factor, actual: 2_500, factor });
  }
  return counter;
}

describe("TokenCounter", () => {
  it("counts as the text estimate does until something is reported", () => {
    const counter: TokenEstimator = createTokenCounter();
    expect(counter.countText(text)).toBe(countTextTokens(text));
    expect(counter.countText(text, "some-model")).toBe(countTextTokens(text));
    expect(counter.countText("")).toBe(0);
    expect(counter.countText("", "some-model")).toBe(0);
  });

  it("multiplies the counts of a model with what was learned of it, and of no other", () => {
    const counter = taught("some-model");
    const long = text.repeat(20);
    const expected = countTextTokens(long) * 1.25;
    expect(Math.abs(counter.countText(long, "some-model") / expected - 1)).toBeLessThan(0.02);
    expect(counter.factor("some-model")).toBeCloseTo(1.25, 1);
    expect(counter.factor("other-model")).toBe(1);
    expect(counter.countText(long, "other-model")).toBe(countTextTokens(long));
    expect(counter.countText(long)).toBe(countTextTokens(long));
  });

  it("gives whole numbers, and at least 1 for a text that is not empty", () => {
    const counter = createTokenCounter();
    for (let i = 0; i < 40; i++) {
      counter.observe("lean", { estimated: 1_000 * counter.factor("lean"), actual: 300 });
    }
    expect(counter.factor("lean")).toBeLessThan(0.5);
    expect(counter.countText("a", "lean")).toBe(1);
    expect(Number.isInteger(counter.countText(text, "lean"))).toBe(true);
  });

  it("continues from a snapshot that went through JSON", () => {
    const counter = taught("some-model");
    const copy = createTokenCounter(JSON.parse(JSON.stringify(counter.snapshot())));
    expect(copy.factor("some-model")).toBe(counter.factor("some-model"));
    const report = { estimated: 2_500, actual: 2_600, factor: 1.25 };
    counter.observe("some-model", report);
    copy.observe("some-model", report);
    expect(copy.factor("some-model")).toBe(counter.factor("some-model"));
  });

  it("leaves out what a snapshot does not say properly", () => {
    const counter = taught("some-model");
    const good = counter.snapshot().models["some-model"];
    counter.restore({ version: 1, models: { good, bad: { factor: 99 }, worse: null } });
    expect(Object.keys(counter.snapshot().models)).toEqual(["good"]);
    for (const nothing of [undefined, null, "x", { version: 2, models: { good } }, { version: 1 }]) {
      counter.restore(nothing);
      expect(counter.snapshot()).toEqual({ version: 1, models: {} });
    }
  });

  it("does not change a snapshot that was taken", () => {
    const counter = taught("some-model");
    const before = JSON.stringify(counter.snapshot());
    const snapshot = counter.snapshot();
    counter.observe("some-model", { estimated: 1_000, actual: 3_000 });
    counter.observe("new-model", { estimated: 1_000, actual: 3_000 });
    expect(JSON.stringify(snapshot)).toBe(before);
  });

  it("treats a model by any name as a name", () => {
    const counter = createTokenCounter();
    for (const name of ["__proto__", "constructor", "toString", ""]) {
      expect(counter.factor(name)).toBe(1);
      counter.observe(name, { estimated: 1_000, actual: 1_400, factor: 1 });
      expect(counter.factor(name)).toBeGreaterThan(1.2);
    }
    expect(createTokenCounter(counter.snapshot()).factor("__proto__")).toBeGreaterThan(1.2);
  });
});
