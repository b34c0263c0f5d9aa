import { describe, expect, it } from "vitest";
import { resolveResilience } from "./resilience.js";

const NEVER = Number.POSITIVE_INFINITY;

describe("resolveResilience", () => {
  it("tries once, without limits, by default", () => {
    expect(resolveResilience([undefined])).toEqual({
      maxAttempts: 1,
      perAttemptTimeoutMs: NEVER,
      overallTimeoutMs: NEVER,
      stallTimeoutMs: NEVER,
      baseBackoffMs: 250,
      maxBackoffMs: 60_000,
      jitterFactorRange: [0.8, 1.2],
    });
  });

  it("lets the request win over the config, field by field, and the budget over both", () => {
    const merged = resolveResilience(
      [
        { maxAttempts: 2, perAttemptTimeoutMs: 10, overallTimeoutMs: 100 },
        { maxAttempts: 3, baseBackoffMs: 5 },
      ],
      { maxAttempts: 4, maxTotalDurationMs: 50 },
    );
    expect(merged).toMatchObject({
      maxAttempts: 4,
      perAttemptTimeoutMs: 10,
      overallTimeoutMs: 50,
      baseBackoffMs: 5,
    });
  });

  it("reads the older name of the overall timeout in its own layer", () => {
    const overall = (...profiles: Parameters<typeof resolveResilience>[0]) =>
      resolveResilience(profiles).overallTimeoutMs;
    expect(overall({ maxEndToEndLatencyMs: 7 })).toBe(7);
    expect(overall({ maxEndToEndLatencyMs: 7, overallTimeoutMs: 8 })).toBe(8);
    expect(overall({ overallTimeoutMs: 8 }, { maxEndToEndLatencyMs: 7 })).toBe(7);
    expect(overall({ maxEndToEndLatencyMs: 7 }, { maxAttempts: 2 })).toBe(7);
  });

  it("does not retry where retries are switched off, and survives absurd numbers", () => {
    expect(resolveResilience([{ maxAttempts: 5, retryEnabled: false }]).maxAttempts).toBe(1);
    expect(resolveResilience([{ maxAttempts: 0 }]).maxAttempts).toBe(1);
    expect(resolveResilience([{ maxAttempts: Number.NaN }]).maxAttempts).toBe(1);
    expect(resolveResilience([{ maxAttempts: 2.9 }]).maxAttempts).toBe(2);
    expect(resolveResilience([{ perAttemptTimeoutMs: -1, baseBackoffMs: -1 }])).toMatchObject({
      perAttemptTimeoutMs: 0,
      baseBackoffMs: 0,
    });
  });
});
