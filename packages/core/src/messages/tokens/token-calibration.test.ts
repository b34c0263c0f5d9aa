import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  calibrate,
  type ModelCalibration,
  readCalibration,
  type TokenObservation,
  uncalibrated,
} from "./token-calibration.js";

/** Creates a sequence of numbers between 0 and 1 that is the same in every run. */
function createNoise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Traffic {
  /** Ratio of actual to uncalibrated tokens of the n-th request. */
  readonly ratio: (request: number) => number;
  readonly requests: number;
  /** Number of requests that are open at once. */
  readonly open?: number;
  /** True if reports carry the factor of their estimate. */
  readonly withFactor?: boolean;
  readonly seed?: number;
}

/** Sends requests of one mix: each is estimated with the factor of its time and reported `open` requests later. */
function serve({ ratio, requests, open = 0, withFactor = false, seed = 1 }: Traffic) {
  const noise = createNoise(seed);
  const reports: TokenObservation[] = [];
  const errors: number[] = [];
  let known = uncalibrated;
  for (let request = 0; request < requests; request++) {
    const uncalibratedTokens = 500 + 6_000 * noise();
    const expected = uncalibratedTokens * ratio(request);
    const estimated = uncalibratedTokens * known.factor;
    errors.push(Math.abs(estimated / expected - 1));
    const actual = expected * (0.97 + 0.06 * noise());
    reports.push({ estimated, actual, ...(withFactor ? { factor: known.factor } : {}) });
    const report = request >= open ? reports[request - open] : undefined;
    if (report !== undefined) known = calibrate(known, report);
  }
  return { known, errors };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe("calibrate", () => {
  it("is off by at most 3 % after ten reports of one mix", () => {
    for (const ratio of [0.5, 0.7, 0.9, 1, 1.2, 1.4, 2, 3]) {
      for (const withFactor of [false, true]) {
        for (const seed of [1, 2, 3]) {
          const { errors } = serve({ ratio: () => ratio, requests: 30, withFactor, seed });
          expect(mean(errors.slice(10)), `${ratio} ${withFactor} ${seed}`).toBeLessThan(0.03);
        }
      }
    }
  });

  it("does not correct the same error again when reports come late", () => {
    for (const open of [1, 5, 20, 40]) {
      const { errors, known } = serve({ ratio: () => 1.3, requests: 200, open });
      expect(known.factor, `${open} open`).toBeGreaterThan(1.2);
      expect(known.factor, `${open} open`).toBeLessThan(1.4);
      expect(mean(errors.slice(open + 10)), `${open} open`).toBeLessThan(0.03);
    }
  });

  it("stays exact with any number of open requests when reports say what estimates were made with", () => {
    const { errors } = serve({ ratio: () => 1.3, requests: 1_500, open: 400, withFactor: true });
    expect(mean(errors.slice(500))).toBeLessThan(0.02);
  });

  it("learns from the steps of one turn that are reported together", () => {
    let known = uncalibrated;
    for (let turn = 0; turn < 5; turn++) {
      const { factor } = known;
      for (let step = 1; step <= 12; step++) {
        known = calibrate(known, { estimated: 1_000 * step * factor, actual: 1_250 * step });
      }
    }
    expect(known.factor).toBeCloseTo(1.25, 1);
  });

  it("follows a ratio that has changed", () => {
    for (const [from, to] of [
      [1.2, 1.32],
      [1.2, 1.6],
      [1.2, 0.9],
      [1, 1.5],
    ] as const) {
      const { errors } = serve({ ratio: (request) => (request < 50 ? from : to), requests: 200 });
      expect(mean(errors.slice(150)), `${from} to ${to}`).toBeLessThan(0.03);
    }
  });

  it("ignores reports that cannot be", () => {
    const { known } = serve({ ratio: () => 1.2, requests: 20 });
    const odd = [0, -5, Number.NaN, Number.POSITIVE_INFINITY];
    for (const value of odd) {
      expect(calibrate(known, { estimated: 1_000, actual: value })).toBe(known);
      expect(calibrate(known, { estimated: value, actual: 1_000 })).toBe(known);
    }
    // Three tokens beside a cached prompt of five thousand.
    expect(calibrate(known, { estimated: 5_000, actual: 3 })).toBe(known);
    const factors = odd.map((factor) => calibrate(known, { estimated: 1_000, actual: 1_000, factor }).factor);
    for (const factor of factors) expect(factor).toBeCloseTo(known.factor, 1);
  });

  it("is moved by a third at most by a first report, whatever it says", () => {
    const amount = fc.integer({ min: 1, max: 200_000 });
    fc.assert(
      fc.property(amount, amount, (estimated, actual) => {
        const known = calibrate(uncalibrated, { estimated, actual, factor: 1 });
        expect(Math.abs(Math.log(known.factor))).toBeLessThanOrEqual(0.3 + 1e-9);
      }),
    );
    // Two valid reports undo an absurd one.
    let known = calibrate(uncalibrated, { estimated: 10_000, actual: 99_000, factor: 1 });
    for (let report = 0; report < 2; report += 1) {
      const { factor } = known;
      known = calibrate(known, { estimated: 10_000 * factor, actual: 10_000, factor });
    }
    expect(known.factor).toBeCloseTo(1, 1);
  });

  it("is moved little by a single odd report", () => {
    const { known } = serve({ ratio: () => 1.2, requests: 20 });
    for (const actual of [300, 4_000, 9_000]) {
      let after = calibrate(known, { estimated: 1_000 * known.factor, actual });
      for (let i = 0; i < 12; i++)
        after = calibrate(after, { estimated: 1_000 * after.factor, actual: 1_200 });
      expect(after.factor / known.factor, `${actual}`).toBeGreaterThan(0.95);
      expect(after.factor / known.factor, `${actual}`).toBeLessThan(1.05);
    }
  });

  it("is not misled by one odd report among the first", () => {
    for (let odd = 0; odd < 5; odd++) {
      let known = uncalibrated;
      for (let i = 0; i < 10; i++) {
        const actual = i === odd ? 3_600 : 1_200;
        known = calibrate(known, { estimated: 1_000 * known.factor, actual });
      }
      expect(Math.abs(known.factor / 1.2 - 1), `the ${odd}th`).toBeLessThan(0.05);
    }
  });

  it("keeps a first tiny request from deciding", () => {
    const known = calibrate(uncalibrated, { estimated: 3, actual: 9, factor: 1 });
    expect(known.factor).toBeLessThan(1.1);
  });

  it("keeps the factor between a quarter and four whatever is reported", () => {
    const amount = fc.oneof(fc.double(), fc.integer({ min: 1, max: 100_000 }));
    const report = fc.record({ estimated: amount, actual: amount });
    fc.assert(
      fc.property(fc.array(report, { maxLength: 60 }), (reports) => {
        const known = reports.reduce<ModelCalibration>(calibrate, uncalibrated);
        expect(known.factor).toBeGreaterThanOrEqual(0.25);
        expect(known.factor).toBeLessThanOrEqual(4);
        expect(Object.values(known).flat().every(Number.isFinite)).toBe(true);
      }),
    );
  });
});

describe("readCalibration", () => {
  it("reads what was learned back from JSON", () => {
    const { known } = serve({ ratio: () => 1.3, requests: 30 });
    const read = readCalibration(JSON.parse(JSON.stringify(known)));
    expect(read).toMatchObject({
      factor: known.factor,
      logRatio: known.logRatio,
      weight: known.weight,
      observations: 30,
    });
  });

  it("gives nothing for anything else", () => {
    const { known } = serve({ ratio: () => 1.3, requests: 3 });
    const wrong = [
      undefined,
      null,
      1,
      "x",
      {},
      { ...known, factor: 40 },
      { ...known, factor: "1" },
      { ...known, logRatio: null },
      { ...known, weight: -1 },
      { ...known, first: ["1"] },
      { ...known, observations: -1 },
      { ...known, observations: 1.5 },
    ];
    for (const value of wrong) expect(readCalibration(value)).toBeUndefined();
  });
});
