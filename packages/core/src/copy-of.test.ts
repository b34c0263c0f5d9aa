import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { copyOf } from "./copy-of.js";

class Point {
  x = 1;
}

describe("copyOf", () => {
  it("copies plain data as the platform's own copier does", () => {
    const plain = fc.anything({ withDate: true, withTypedArray: true, withMap: true, withBigInt: true });
    fc.assert(
      fc.property(plain, (value) => {
        expect(copyOf(value)).toEqual(structuredClone(value));
      }),
    );
  });

  it("shares nothing with what it was given", () => {
    const given = { list: [{ text: "a" }], at: new Date(5), bytes: new Uint8Array([1]) };
    const copy = copyOf(given);
    given.list[0] = { text: "b" };
    given.at.setTime(6);
    given.bytes[0] = 2;
    expect(copy).toEqual({ list: [{ text: "a" }], at: new Date(5), bytes: new Uint8Array([1]) });
  });

  it("keeps a key that would set the prototype as a key", () => {
    const copy = copyOf(JSON.parse('{"__proto__":{"x":1}}'));
    expect(Object.keys(copy)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"x":1}}');
  });

  it("copies what is nested deeper than its own way goes", () => {
    let deep: unknown = { text: "end" };
    for (let level = 0; level < 500; level += 1) deep = level % 2 === 0 ? [deep] : { deep };
    expect(JSON.stringify(copyOf(deep))).toBe(JSON.stringify(deep));
  });

  it("refuses what cannot be stored", () => {
    const twice: { left?: unknown; right?: unknown } = {};
    twice.left = twice;
    twice.right = twice;
    for (const value of [() => 1, { run: () => 1 }, [Symbol("s")], twice, { point: new Point() }]) {
      expect(() => copyOf(value)).toThrow(expect.objectContaining({ code: "invalid_request" }));
    }
  });
});
