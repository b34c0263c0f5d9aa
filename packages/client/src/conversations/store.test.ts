import { afterEach, describe, expect, it, vi } from "vitest";
import { createStore, frameSchedule } from "./store.js";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("a store", () => {
  it("changes at once and notifies of many changes once", () => {
    const planned: (() => void)[] = [];
    const store = createStore(0, (flush) => planned.push(flush));
    let notified = 0;
    const stop = store.subscribe(() => {
      notified += 1;
    });
    for (const value of [1, 2, 3]) store.set(value);
    expect([store.get(), notified, planned.length]).toEqual([3, 0, 1]);
    planned.shift()?.();
    expect(notified).toBe(1);
    store.set(3);
    expect(planned).toHaveLength(0);
    store.set(4);
    store.set(3);
    planned.shift()?.();
    expect(notified).toBe(1);
    stop();
    store.set(5);
    expect(planned).toHaveLength(0);
  });

  it("notifies the others when one listener throws", () => {
    const thrown: unknown[] = [];
    vi.stubGlobal("queueMicrotask", (work: () => void) => {
      try {
        work();
      } catch (error) {
        thrown.push(error);
      }
    });
    const store = createStore(0, (flush) => flush());
    let notified = 0;
    store.subscribe(() => {
      throw new Error("Mine");
    });
    store.subscribe(() => {
      notified += 1;
    });
    store.set(1);
    expect(notified).toBe(1);
    expect(thrown).toEqual([new Error("Mine")]);
  });
});

describe("the notification of listeners", () => {
  it("is at the end of what is under way, where there is no page", async () => {
    const order: string[] = [];
    frameSchedule(() => order.push("notified"));
    order.push("done");
    await Promise.resolve();
    expect(order).toEqual(["done", "notified"]);
  });

  it("is with the next frame of a page that is seen", () => {
    vi.useFakeTimers();
    const frames: (() => void)[] = [];
    vi.stubGlobal("document", { visibilityState: "visible" });
    vi.stubGlobal("requestAnimationFrame", (frame: () => void) => frames.push(frame));
    const flush = vi.fn();
    frameSchedule(flush);
    expect(flush).not.toHaveBeenCalled();
    frames.shift()?.();
    vi.runAllTimers();
    expect(flush).toHaveBeenCalledTimes(1);
  });

  it("is soon, where the page is hidden, or is hidden before its frame comes", () => {
    vi.useFakeTimers();
    vi.stubGlobal("document", { visibilityState: "visible" });
    vi.stubGlobal("requestAnimationFrame", () => {});
    const late = vi.fn();
    frameSchedule(late);
    vi.runAllTimers();
    expect(late).toHaveBeenCalledTimes(1);
    vi.stubGlobal("document", { visibilityState: "hidden" });
    const hidden = vi.fn();
    frameSchedule(hidden);
    vi.advanceTimersByTime(16);
    expect(hidden).toHaveBeenCalledTimes(1);
  });
});
