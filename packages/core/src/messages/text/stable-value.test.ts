import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { throughJsonb } from "../message-arbitrary.test-support.js";
import { stableValue } from "./stable-value.js";

describe("stableValue", () => {
  it("gives the same text for a value and for what a database without key order gives back", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const again = JSON.parse(throughJsonb(JSON.stringify(value))) as unknown;
        expect(JSON.stringify(stableValue(again))).toBe(JSON.stringify(stableValue(value)));
        expect(JSON.parse(JSON.stringify(stableValue(value)))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("treats live values as JSON would and survives what JSON refuses", () => {
    const cycle: Record<string, unknown> = { a: 1 };
    cycle.self = cycle;
    expect(
      stableValue({
        date: new Date(0),
        gone: undefined,
        call: () => 1,
        list: [undefined, Number.NaN],
        big: 12n,
        cycle,
      }),
    ).toEqual({
      big: "12",
      cycle: { a: 1, self: null },
      date: "1970-01-01T00:00:00.000Z",
      list: [null, null],
    });
    expect(stableValue(undefined)).toBeNull();
  });

  it("does not take a repeated object for a cycle", () => {
    const twice = { x: 1 };
    expect(stableValue([twice, twice])).toEqual([{ x: 1 }, { x: 1 }]);
  });
});
