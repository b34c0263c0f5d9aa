import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { composeGauge } from "./gauge.js";
import { manifestOf, messages } from "./manifest.test-support.js";

const manifest = manifestOf([
  { kind: "instructions", estimatedTokens: 100 },
  { kind: "tools", estimatedTokens: 300 },
  messages(1, 9, 600),
]);

describe("composeGauge", () => {
  it("reports unknown rather than 0", () => {
    expect(composeGauge({})).toEqual({
      isEstimate: false,
      parts: [],
      outlook: { kind: "unknown" },
      level: "unknown",
      isOutdated: false,
    });
    expect(
      composeGauge({ contextWindow: 1_000, compactThreshold: null, defaultThreshold: 800 }),
    ).toMatchObject({
      limit: 1_000,
      outlook: { kind: "automatic", atTokens: 800 },
      level: "unknown",
    });
  });

  it("scales the request's parts to what the provider counted, and adds the answer", () => {
    const gauge = composeGauge({
      contextSize: 2_200,
      contextWindow: 10_000,
      compactThreshold: null,
      defaultThreshold: 8_000,
      manifest,
      usage: { inputTokens: 2_000, outputTokens: 200 },
    });
    expect(gauge.parts.map(({ kind, tokens }) => [kind, tokens])).toEqual([
      ["instructions", 200],
      ["tools", 600],
      ["messages", 1_200],
      ["answer", 200],
    ]);
    expect(gauge).toMatchObject({ used: 2_200, share: 0.22, isEstimate: false, level: "calm" });
    expect(gauge.outlook).toEqual({ kind: "automatic", atTokens: 8_000, inTokens: 5_800 });
  });

  it("shows the estimate, and says so, if no provider counted", () => {
    const gauge = composeGauge({
      contextWindow: 2_000,
      compactThreshold: 0,
      manifest,
      usage: { inputTokens: 0, outputTokens: 0 },
    });
    expect(gauge).toMatchObject({ used: 1_000, isEstimate: true, share: 0.5, outlook: { kind: "manual" } });
    expect(gauge.parts.map(({ kind }) => kind)).toEqual(["instructions", "tools", "messages"]);
  });

  it("does not invent the parts of the context", () => {
    const gauge = composeGauge({ contextSize: 500, compactThreshold: 400 });
    expect(gauge.parts).toEqual([{ kind: "unsorted", tokens: 500, share: 1 }]);
    expect(gauge.outlook).toEqual({ kind: "automatic", atTokens: 400, inTokens: 0 });
    expect(gauge.level).toBe("full");
    expect(gauge.share).toBeUndefined();
  });

  it("does not know what is used between a compaction, or its undoing, and the next call", () => {
    const gauge = composeGauge({
      contextSize: 9_000,
      contextWindow: 10_000,
      compactThreshold: null,
      defaultThreshold: 8_000,
      manifest,
      usage: { inputTokens: 8_800, outputTokens: 200 },
      changedSince: true,
    });
    expect(gauge).toEqual({
      isEstimate: false,
      limit: 10_000,
      parts: [],
      outlook: { kind: "automatic", atTokens: 8_000 },
      level: "unknown",
      isOutdated: true,
    });
  });

  it("takes the default from the server, which may have none or compact by hand only", () => {
    const outlook = (defaultThreshold?: number) =>
      composeGauge({ contextWindow: 1_000, compactThreshold: null, defaultThreshold }).outlook;
    expect(outlook()).toEqual({ kind: "unknown" });
    expect(outlook(0)).toEqual({ kind: "manual" });
    expect(outlook(600)).toEqual({ kind: "automatic", atTokens: 600 });
  });

  it("warns before the threshold, or before the window if compaction is by hand", () => {
    const at = (contextSize: number, compactThreshold: number | null) =>
      composeGauge({ contextSize, contextWindow: 1_000, compactThreshold, defaultThreshold: 800 }).level;
    expect(at(639, null)).toBe("calm");
    expect(at(640, null)).toBe("near");
    expect(at(800, null)).toBe("full");
    expect(at(790, 0)).toBe("calm");
    expect(at(800, 0)).toBe("near");
    expect(at(1_000, 0)).toBe("full");
  });

  it("has parts that add up exactly to what is used", () => {
    const tokens = fc.integer({ min: 1, max: 1e6 });
    fc.assert(
      fc.property(tokens, tokens, tokens, fc.boolean(), (input, output, estimate, hasManifest) => {
        const gauge = composeGauge({
          contextSize: input + output,
          usage: { inputTokens: input, outputTokens: output },
          manifest: hasManifest
            ? manifestOf([messages(1, 2, estimate), { kind: "tools", estimatedTokens: 7 }])
            : undefined,
        });
        const sum = gauge.parts.reduce((total, part) => total + part.tokens, 0);
        expect(sum).toBeCloseTo(input + output, 3);
        expect(gauge.parts.reduce((total, part) => total + part.share, 0)).toBeCloseTo(1, 6);
      }),
    );
  });
});
