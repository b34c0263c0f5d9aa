import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkPlain, isPlain } from "./plain-data.js";

class Point {
  x = 1;
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe("plain data", () => {
  it("is whatever JSON gives back as it was", () => {
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => isPlain(value)));
    expect(isPlain({ absent: undefined, bare: Object.assign(Object.create(null), { a: 1 }) as object })).toBe(
      true,
    );
    expect(isPlain(nested(1_900))).toBe(true);
  });

  it("is nothing that JSON would change, refuse or never end", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const others = [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      10n,
      new Date(0),
      new Point(),
      new Map(),
      [undefined],
      new Array(1),
      () => 1,
      Symbol("s"),
      { toJSON: () => 1 },
      cycle,
      nested(3_000),
    ];
    for (const value of others) {
      expect(isPlain({ within: [value] })).toBe(false);
      expect(() => checkPlain({ value }, "message")).toThrow(
        expect.objectContaining({
          code: "invalid_request",
          message: expect.stringMatching(/^message: /) as string,
        }),
      );
    }
  });
});
