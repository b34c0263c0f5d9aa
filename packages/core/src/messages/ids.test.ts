import { describe, expect, it } from "vitest";
import { createUuidV7Factory } from "./ids.js";

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("createUuidV7Factory", () => {
  it("writes time, counter and random bytes where the standard has them", () => {
    const random = (bytes: Uint8Array) => {
      bytes.set([0xff, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xfa, 0xbc]);
      return bytes;
    };
    const ids = createUuidV7Factory({ now: () => 0x0123_4567_89ab }, random);
    expect(ids.next()).toBe("01234567-89ab-72bc-bf01-23456789abcd");
    expect(ids.next()).toBe("01234567-89ab-72bd-bf01-23456789abcd");
  });

  it("ascends and never repeats, also while the clock stands still or goes back", () => {
    let now = 1_700_000_000_000;
    const ids = createUuidV7Factory({ now: () => now });
    const made: string[] = [];
    for (let index = 0; index < 10_000; index += 1) {
      if (index % 1_000 === 0) now += index % 2_000 === 0 ? 5 : -7;
      made.push(ids.next());
    }
    expect(new Set(made).size).toBe(made.length);
    expect([...made].sort()).toEqual(made);
    expect(made.filter((id) => !form.test(id))).toEqual([]);
  });
});
