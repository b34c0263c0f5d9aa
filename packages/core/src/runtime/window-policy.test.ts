import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createWindowPolicy,
  defaultWindowRules,
  type WindowPolicy,
  type WindowUse,
} from "./window-policy.js";

const declaredWindow = 100_000;
const { memoryMs } = defaultWindowRules;

const use = (owner: string, model = "test/one"): WindowUse => ({ owner, model, declaredWindow });

function createPolicy(): { policy: WindowPolicy; pass(ms: number): void } {
  let now = 12_345;
  return {
    policy: createWindowPolicy({ clock: { monotonic: () => now } }),
    pass: (ms) => {
      now += ms;
    },
  };
}

describe("the window policy", () => {
  it("believes a limit that the provider names, for its owner and this model alone", () => {
    const { policy } = createPolicy();
    expect(policy.overflowed(use("a"), { estimatedTokens: 9_000, namedWindow: 8_192 })).toEqual({
      model: "test/one",
      owner: "a",
      scope: "owner",
      from: declaredWindow,
      to: 8_192,
      source: "named",
    });
    expect(policy.windowFor(use("a"))).toBe(8_192);
    expect(policy.windowFor(use("b"))).toBe(declaredWindow);
    expect(policy.windowFor(use("a", "test/two"))).toBe(declaredWindow);
  });

  it("believes it for everyone once the same limit was named to a second owner", () => {
    const { policy } = createPolicy();
    const named = (owner: string, namedWindow: number) =>
      policy.overflowed(use(owner), { estimatedTokens: 9_000, namedWindow })?.scope;
    expect(named("a", 8_192)).toBe("owner");
    expect(named("a", 8_192)).toBeUndefined();
    expect(named("b", 4_096)).toBe("owner");
    expect(policy.windowFor(use("c"))).toBe(declaredWindow);
    expect(named("d", 8_192)).toBe("everyone");
    expect(policy.windowFor(use("c"))).toBe(8_192);
    expect(policy.windowFor(use("b"))).toBe(4_096);
  });

  it("infers a limit only from an overflow above 70 % of the declared window, for its owner alone", () => {
    const { policy } = createPolicy();
    for (const owner of ["a", "b"]) {
      expect(policy.overflowed(use(owner), { estimatedTokens: 70_000 })).toBeUndefined();
      expect(policy.overflowed(use(owner), { estimatedTokens: 10 })).toBeUndefined();
      const learned = policy.overflowed(use(owner), { estimatedTokens: 80_000 });
      expect(learned).toMatchObject({ source: "inferred", scope: "owner", to: 76_000 });
    }
    expect(policy.windowFor(use("c"))).toBe(declaredWindow);
  });

  it("does not believe limits that no model has, nor ones beyond the declared window", () => {
    const { policy } = createPolicy();
    for (const namedWindow of [0, -1, 1, 255, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 100_000, 200_000]) {
      expect(policy.overflowed(use("a"), { estimatedTokens: 10, namedWindow })).toBeUndefined();
    }
    expect(policy.windowFor(use("a"))).toBe(declaredWindow);
  });

  it("forgets what it learned after an hour", () => {
    const { policy, pass } = createPolicy();
    const request = { estimatedTokens: 9_000, namedWindow: 8_192 };
    policy.overflowed(use("a"), request);
    pass(memoryMs - 1);
    expect(policy.windowFor(use("a"))).toBe(8_192);
    pass(1);
    expect(policy.windowFor(use("a"))).toBe(declaredWindow);
    // An expired observation confirms nothing.
    policy.overflowed(use("b"), request);
    expect(policy.windowFor(use("c"))).toBe(declaredWindow);
    policy.overflowed(use("a"), request);
    expect(policy.windowFor(use("c"))).toBe(8_192);
    pass(memoryMs);
    expect(policy.windowFor(use("c"))).toBe(declaredWindow);
  });

  it("never goes below the largest success of any owner, and drops what a success disproves", () => {
    const { policy } = createPolicy();
    policy.succeeded(use("b"), { estimatedTokens: 50_000, reportedTokens: 52_000 });
    policy.overflowed(use("a"), { estimatedTokens: 9_000, namedWindow: 8_192 });
    expect(policy.windowFor(use("a"))).toBe(52_000);
    policy.overflowed(use("a"), { estimatedTokens: 60_000, namedWindow: 60_000 });
    expect(policy.windowFor(use("a"))).toBe(60_000);
    const change = policy.succeeded(use("b"), { estimatedTokens: 70_000, reportedTokens: 65_000 });
    expect(change).toBeUndefined();
    expect(policy.windowFor(use("a"))).toBe(declaredWindow);
  });

  it("says so when a success disproves what held for everyone", () => {
    const { policy } = createPolicy();
    for (const owner of ["a", "b"]) {
      policy.overflowed(use(owner), { estimatedTokens: 9_000, namedWindow: 8_192 });
    }
    expect(policy.succeeded(use("c"), { estimatedTokens: 9_000, reportedTokens: 8_193 })).toMatchObject({
      source: "disproved",
      scope: "everyone",
      from: 8_192,
      to: declaredWindow,
    });
    for (const owner of ["a", "b", "c"]) expect(policy.windowFor(use(owner))).toBe(declaredWindow);
  });

  it("takes no absurd report of a success for proof", () => {
    const { policy } = createPolicy();
    policy.succeeded(use("a"), { estimatedTokens: 10, reportedTokens: 1e12 });
    policy.succeeded(use("a"), { estimatedTokens: 10, reportedTokens: Number.NaN });
    policy.succeeded(use("a"), { estimatedTokens: Number.NaN, reportedTokens: 90_000 });
    // A server that cuts requests silently reports what it kept.
    policy.succeeded(use("a"), { estimatedTokens: 90_000, reportedTokens: 2_048 });
    policy.overflowed(use("a"), { estimatedTokens: 9_000, namedWindow: 4_096 });
    expect(policy.windowFor(use("a"))).toBe(4_096);
  });

  it("keeps a bounded number of owners", () => {
    const policy = createWindowPolicy({ clock: { monotonic: () => 0 }, rules: { ownersPerModel: 3 } });
    for (let owner = 0; owner < 10; owner += 1) {
      policy.overflowed(use(`o${owner}`), { estimatedTokens: 9_000, namedWindow: 8_000 + owner });
    }
    const learned = Array.from({ length: 10 }, (_, owner) => policy.windowFor(use(`o${owner}`)));
    expect(learned).toEqual([...Array<number>(7).fill(declaredWindow), 8_007, 8_008, 8_009]);
  });
});

describe("whatever providers answer", () => {
  const owners = ["a", "b", "c"] as const;
  const amount = fc.oneof(
    fc.integer({ min: -5, max: 300_000 }),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, 0.5),
  );
  const observation = fc.record({
    owner: fc.constantFrom(...owners),
    kind: fc.constantFrom("success", "overflow"),
    estimatedTokens: amount,
    said: fc.option(amount, { nil: undefined }),
    passMs: fc.integer({ min: 0, max: memoryMs }),
  });

  it("the window stays between the largest success of the last hour and the declared one", () => {
    fc.assert(
      fc.property(fc.array(observation, { maxLength: 40 }), (observations) => {
        const { policy, pass } = createPolicy();
        const successes: { tokens: number; at: number }[] = [];
        let now = 0;
        for (const { owner, kind, estimatedTokens, said, passMs } of observations) {
          pass(passMs);
          now += passMs;
          if (kind === "overflow") policy.overflowed(use(owner), { estimatedTokens, namedWindow: said });
          else {
            policy.succeeded(use(owner), { estimatedTokens, reportedTokens: said });
            const isSound = (tokens: number) => Number.isFinite(tokens) && tokens > 0;
            const reported = said !== undefined && isSound(said) ? said : estimatedTokens;
            const tokens = Math.floor(Math.min(reported, estimatedTokens * 2));
            if (isSound(estimatedTokens)) successes.push({ tokens, at: now });
          }
          const recent = successes.filter(({ at }) => now - at < memoryMs).map(({ tokens }) => tokens);
          for (const each of owners) {
            const window = policy.windowFor(use(each));
            expect(window).toBeLessThanOrEqual(declaredWindow);
            expect(window).toBeGreaterThanOrEqual(Math.min(declaredWindow, Math.max(0, ...recent)));
            expect(window).toBeGreaterThanOrEqual(defaultWindowRules.smallestWindow);
          }
        }
      }),
    );
  });

  it("one owner's answers leave the others' windows as declared", () => {
    fc.assert(
      fc.property(fc.array(observation, { maxLength: 40 }), (observations) => {
        const { policy, pass } = createPolicy();
        for (const { kind, estimatedTokens, said, passMs } of observations) {
          pass(passMs);
          if (kind === "overflow") policy.overflowed(use("a"), { estimatedTokens, namedWindow: said });
          else policy.succeeded(use("a"), { estimatedTokens, reportedTokens: said });
          expect(policy.windowFor(use("b"))).toBe(declaredWindow);
        }
      }),
    );
  });
});
