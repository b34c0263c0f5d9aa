import { getEventListeners } from "node:events";
import { VirtualClock } from "@parley/testing/http";
import { describe, expect, it } from "vitest";
import type { Clock } from "../clock.js";
import { HttpError } from "../errors.js";
import { AttemptWatch, type Interruption } from "./attempt-watch.js";

const NEVER = Number.POSITIVE_INFINITY;

function watchOver(
  clock: Clock,
  limits: { deadlineAt?: number; stallTimeoutMs?: number },
  caller?: AbortSignal,
): AttemptWatch {
  const { deadlineAt = NEVER, stallTimeoutMs = NEVER } = limits;
  const make = (why: Interruption, cause?: unknown): HttpError =>
    new HttpError(why, { status: 0, category: why === "canceled" ? "canceled" : "timeout", cause });
  return new AttemptWatch(clock, caller, { deadlineAt, stallTimeoutMs }, make);
}

describe("an attempt's watch", () => {
  it("holds no timer where nothing is limited", () => {
    const clock = new VirtualClock();
    const watch = watchOver(clock, {});
    watch.startWaiting();
    watch.startAttempt(NEVER);
    expect(clock.pending).toBe(0);
  });

  it("interrupts the pending step and aborts the signal with the same error", async () => {
    const clock = new VirtualClock();
    const watch = watchOver(clock, {});
    watch.startAttempt(100);
    const step = expect(watch.guard(new Promise(() => {}))).rejects.toThrow("attempt");
    clock.advance(100);
    await step;
    expect(watch.signal.aborted).toBe(true);
    expect(watch.signal.reason).toBe(watch.failure);
    await expect(watch.guard(Promise.resolve("late"))).rejects.toBe(watch.failure);
  });

  it("names the clock that ran out first", () => {
    for (const [attemptMs, deadlineMs, stallMs, why] of [
      [10, 20, 30, "attempt"],
      [20, 10, 30, "overall"],
      [30, 20, 10, "stall"],
    ] as const) {
      const clock = new VirtualClock();
      const watch = watchOver(clock, {
        deadlineAt: clock.monotonicNow() + deadlineMs,
        stallTimeoutMs: stallMs,
      });
      watch.startAttempt(attemptMs);
      watch.startWaiting();
      clock.advance(9);
      expect(watch.failure).toBeUndefined();
      clock.advance(1);
      expect(watch.failure?.message).toBe(why);
      expect(clock.pending).toBe(0);
    }
  });

  it("waits for limits that are longer than a timer can be", () => {
    const clock = new VirtualClock();
    const monthMs = 30 * 24 * 3_600_000;
    const watch = watchOver(clock, { deadlineAt: clock.monotonicNow() + monthMs });
    clock.advance(monthMs - 1);
    expect(watch.failure).toBeUndefined();
    clock.advance(1);
    expect(watch.failure?.message).toBe("overall");
  });

  it("sets no timer per chunk", () => {
    const clock = new VirtualClock();
    let timers = 0;
    const counting: Clock = {
      wallNow: clock.wallNow,
      monotonicNow: clock.monotonicNow,
      setTimer: (callback, delayMs) => {
        timers += 1;
        return clock.setTimer(callback, delayMs);
      },
      clearTimer: (timer) => clock.clearTimer(timer),
    };
    const watch = watchOver(counting, { stallTimeoutMs: 1000 });
    watch.startWaiting();
    for (let chunk = 0; chunk < 500; chunk += 1) {
      clock.advance(1);
      watch.stopWaiting();
      watch.startWaiting();
    }
    expect(timers).toBe(1);
    clock.advance(999);
    expect(watch.failure).toBeUndefined();
    clock.advance(1);
    expect(watch.failure?.message).toBe("stall");
  });

  it("does not take its own process being busy for a silent server", () => {
    let now = 0;
    let fire: () => void = () => {};
    const stuck: Clock = {
      wallNow: () => 0,
      monotonicNow: () => now,
      setTimer: (callback) => {
        fire = callback;
        return {};
      },
      clearTimer: () => {},
    };
    const watch = watchOver(stuck, { stallTimeoutMs: 1000 });
    watch.startWaiting();
    now = 5000;
    fire();
    expect(watch.failure).toBeUndefined();
    now = 6000;
    fire();
    expect(watch.failure?.message).toBe("stall");
  });

  it("cannot be interrupted once it is released", () => {
    const clock = new VirtualClock();
    const aborter = new AbortController();
    const watch = watchOver(clock, { deadlineAt: clock.monotonicNow() + 10 }, aborter.signal);
    watch.release();
    clock.advance(20);
    aborter.abort();
    watch.abandon();
    expect(watch.failure).toBeUndefined();
    expect(watch.signal.aborted).toBe(false);
    expect(getEventListeners(aborter.signal, "abort")).toHaveLength(0);
  });

  it("lasts until the body ends when the response was handed over, in either order", () => {
    const clock = new VirtualClock();
    const first = watchOver(clock, { deadlineAt: clock.monotonicNow() + 100 });
    first.startAttempt(10);
    first.handOver();
    clock.advance(50);
    expect(first.failure).toBeUndefined();
    expect(clock.pending).toBe(1);
    first.bodyEnded();
    expect(clock.pending).toBe(0);

    const second = watchOver(clock, { deadlineAt: clock.monotonicNow() + 100 });
    second.bodyEnded();
    expect(clock.pending).toBe(1);
    second.handOver();
    expect(clock.pending).toBe(0);
  });

  it("passes what a step yields too late to the function that discards it", async () => {
    const clock = new VirtualClock();
    const watch = watchOver(clock, { deadlineAt: clock.monotonicNow() + 10 });
    let yieldLate: (value: string) => void = () => {};
    const late = new Promise<string>((resolve) => {
      yieldLate = resolve;
    });
    const discarded: string[] = [];
    const step = expect(watch.guard(late, (value) => discarded.push(value))).rejects.toThrow("overall");
    clock.advance(10);
    await step;
    yieldLate("response");
    await late;
    expect(discarded).toEqual(["response"]);
  });
});
