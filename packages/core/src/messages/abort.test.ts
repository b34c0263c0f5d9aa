import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { onAbort, untilAborted } from "./abort.js";

describe("onAbort", () => {
  it("calls the listener once, also when the signal has aborted before", () => {
    let calls = 0;
    const abort = new AbortController();
    onAbort(abort.signal, () => calls++);
    abort.abort();
    abort.abort();
    expect(calls).toBe(1);
    onAbort(abort.signal, () => calls++);
    expect(calls).toBe(2);
  });

  it("leaves nothing behind once it was stopped", () => {
    const { signal } = new AbortController();
    onAbort(signal, () => {})();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("untilAborted", () => {
  it("settles as the promise does, and stops listening", async () => {
    const { signal } = new AbortController();
    await expect(untilAborted(Promise.resolve(1), signal)).resolves.toBe(1);
    await expect(untilAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("rejects with canceled when the signal comes first", async () => {
    const abort = new AbortController();
    const waiting = untilAborted(new Promise<never>(() => {}), abort.signal);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: "canceled" });
    await expect(untilAborted(new Promise<never>(() => {}), abort.signal)).rejects.toMatchObject({
      code: "canceled",
    });
  });
});
