import { createManualClock } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { ParleyError } from "../../errors.js";
import { retryWhileUnavailable, wait } from "./retry.js";

function failing(times: number, code: "store_unavailable" | "stale_fence" = "store_unavailable") {
  let calls = 0;
  return {
    get calls() {
      return calls;
    },
    async call() {
      calls += 1;
      if (calls <= times) throw new ParleyError(code);
      return "done";
    },
  };
}

describe("retrying while the store is away", () => {
  it("waits longer each time, and returns what comes in the end", async () => {
    const clock = createManualClock();
    const store = failing(4);
    const result = retryWhileUnavailable({ clock }, () => store.call());
    await clock.advance(99);
    expect(store.calls).toBe(1);
    await clock.advance(1);
    expect(store.calls).toBe(2);
    await clock.advance(200 + 400);
    expect(store.calls).toBe(4);
    await clock.advance(800);
    await expect(result).resolves.toBe("done");
    expect(clock.pending).toBe(0);
  });

  it("passes every other failure on at once", async () => {
    const store = failing(1, "stale_fence");
    const clock = createManualClock();
    await expect(retryWhileUnavailable({ clock }, () => store.call())).rejects.toMatchObject({
      code: "stale_fence",
    });
    expect(store.calls).toBe(1);
  });

  it("gives up when it is aborted, with the last failure", async () => {
    const clock = createManualClock();
    const store = failing(100);
    const abort = new AbortController();
    const result = retryWhileUnavailable({ clock }, () => store.call(), abort);
    await clock.advance(150);
    abort.abort();
    await expect(result).rejects.toMatchObject({ code: "store_unavailable" });
    expect([store.calls, clock.pending]).toEqual([2, 0]);
  });
});

describe("waiting", () => {
  it("ends with the time or the signal, whichever is first, and leaves no timer", async () => {
    const clock = createManualClock();
    const abort = new AbortController();
    let ended = 0;
    const count = () => {
      ended += 1;
    };
    void wait({ clock }, 10).then(count);
    void wait({ clock }, 1_000, abort.signal).then(count);
    await clock.advance(10);
    expect(ended).toBe(1);
    abort.abort();
    await clock.advance(0);
    await wait({ clock }, 1_000, abort.signal);
    expect([ended, clock.pending]).toEqual([2, 0]);
  });
});
