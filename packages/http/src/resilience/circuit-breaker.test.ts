import { VirtualClock } from "@parley/testing/http";
import { describe, expect, it } from "vitest";
import type { AttemptContext, CircuitEntry } from "../ports.js";
import { MemoryCircuitBreaker } from "./circuit-breaker.js";

const to = (origin: string): AttemptContext => ({
  clientName: "c",
  origin,
  request: { operation: "o", method: "GET" },
});
const A = to("http://a");

function admitted(entry: CircuitEntry): Extract<CircuitEntry, { admitted: true }> {
  if (!entry.admitted) throw new Error("refused");
  return entry;
}

function setUp() {
  const clock = new VirtualClock();
  const breaker = new MemoryCircuitBreaker({ failureThreshold: 3, openMs: 1000, clock });
  const fail = (context = A) => admitted(breaker.enter(context)).settle("failure");
  return { clock, breaker, fail };
}

describe("MemoryCircuitBreaker", () => {
  it("opens after failures in a row, for one origin only", () => {
    const { breaker, fail } = setUp();
    fail();
    fail();
    admitted(breaker.enter(A)).settle("success");
    fail();
    fail();
    expect(breaker.enter(A).admitted).toBe(true);
    fail();
    expect(breaker.enter(A)).toEqual({ admitted: false, retryAfterMs: 1000 });
    expect(breaker.enter(to("http://b")).admitted).toBe(true);
  });

  it("lets one probe through when its time is over, and closes when that succeeds", () => {
    const { clock, breaker, fail } = setUp();
    for (let n = 0; n < 3; n += 1) fail();
    clock.advance(999);
    expect(breaker.enter(A)).toEqual({ admitted: false, retryAfterMs: 1 });
    clock.advance(1);
    const probe = admitted(breaker.enter(A));
    expect(breaker.enter(A).admitted).toBe(false);
    probe.settle("success");
    expect(breaker.enter(A).admitted).toBe(true);
  });

  it("opens again when the probe fails", () => {
    const { clock, breaker, fail } = setUp();
    for (let n = 0; n < 3; n += 1) fail();
    clock.advance(1000);
    fail();
    expect(breaker.enter(A)).toEqual({ admitted: false, retryAfterMs: 1000 });
  });

  it("leaves the place of a probe that showed nothing to the next", () => {
    const { clock, breaker, fail } = setUp();
    for (let n = 0; n < 3; n += 1) fail();
    clock.advance(1000);
    admitted(breaker.enter(A)).settle("ignored");
    expect(breaker.enter(A).admitted).toBe(true);
  });

  it("pays no attention to attempts that began before it opened, nor to a second settlement", () => {
    const { breaker, fail } = setUp();
    const early = admitted(breaker.enter(A));
    for (let n = 0; n < 3; n += 1) fail();
    early.settle("success");
    expect(breaker.enter(A).admitted).toBe(false);

    const fresh = setUp();
    const twice = admitted(fresh.breaker.enter(A));
    for (let n = 0; n < 5; n += 1) twice.settle("failure");
    expect(fresh.breaker.enter(A).admitted).toBe(true);
  });
});
