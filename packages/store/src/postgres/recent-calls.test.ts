import { describe, expect, it } from "vitest";
import { RecentCalls } from "./recent-calls.js";

describe("recent calls", () => {
  function at() {
    let now = 5_000;
    const calls = new RecentCalls(() => now);
    return {
      calls,
      wait: (ms: number) => {
        now += ms;
      },
      fail: (count: number, unconnected = true) => {
        for (let index = 0; index < count; index += 1) calls.failed({ unconnected });
      },
      succeed: (count: number) => {
        for (let index = 0; index < count; index += 1) calls.succeeded();
      },
    };
  }

  it("are no trouble after one bad moment, however many failed in it", () => {
    const { calls, fail, wait } = at();
    fail(1_000);
    expect(calls.trouble()).toBeUndefined();
    wait(1_000);
    fail(1_000);
    expect(calls.trouble()).toBeUndefined();
  });

  it("are trouble when most of them failed over several seconds, and no more when the failures have passed", () => {
    const { calls, fail, succeed, wait } = at();
    for (let second = 0; second < 4; second += 1) {
      fail(3);
      succeed(2);
      wait(1_000);
    }
    expect(calls.trouble()).toContain("12 of 20 calls of the store failed within 10 seconds");
    expect(calls.trouble()).toContain("maxConnections");
    wait(10_000);
    expect(calls.trouble()).toBeUndefined();
  });

  it("are no trouble while most of them succeed, nor when nothing was called", () => {
    const { calls, fail, succeed, wait } = at();
    expect(calls.trouble()).toBeUndefined();
    for (let second = 0; second < 9; second += 1) {
      fail(3);
      succeed(4);
      wait(1_000);
    }
    expect(calls.trouble()).toBeUndefined();
  });

  it("say what to look at where connections are there but fail", () => {
    const { calls, fail, wait } = at();
    for (let second = 0; second < 4; second += 1) {
      fail(3, false);
      wait(1_000);
    }
    expect(calls.trouble()).toContain("check the database server");
  });
});
