import { VirtualClock } from "@parley/testing/http";
import { describe, expect, it } from "vitest";
import { MemoryHttpCache } from "./memory-cache.js";

describe("MemoryHttpCache", () => {
  it("removes an entry when it expires", () => {
    const clock = new VirtualClock();
    const cache = new MemoryHttpCache({ clock });
    cache.set("a", 1, 100);
    clock.advance(99);
    expect(cache.get("a")).toBe(1);
    clock.advance(1);
    expect(cache.get("a")).toBeUndefined();
    expect(cache.size).toBe(0);
  });

  it("drops the least recently used entry when it is full", () => {
    const cache = new MemoryHttpCache({ maxEntries: 2 });
    cache.set("a", 1, 1000);
    cache.set("b", 2, 1000);
    cache.get("a");
    cache.set("c", 3, 1000);
    expect([cache.get("a"), cache.get("b"), cache.get("c")]).toEqual([1, undefined, 3]);
  });

  it("copies values in and out", () => {
    const cache = new MemoryHttpCache();
    const value = { list: [1] };
    cache.set("a", value, 1000);
    value.list.push(2);
    (cache.get("a") as typeof value).list.push(3);
    expect(cache.get("a")).toEqual({ list: [1] });
  });

  it("keeps nothing with a lifetime of zero, and replaces", () => {
    const cache = new MemoryHttpCache();
    cache.set("a", 1, 1000);
    cache.set("a", 2, 1000);
    expect(cache.get("a")).toBe(2);
    cache.set("a", 3, 0);
    expect(cache.get("a")).toBeUndefined();
  });
});
