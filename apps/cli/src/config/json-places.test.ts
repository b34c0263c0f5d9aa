import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JsonSyntaxError, readPlacedJson } from "./json-places.js";

describe("reading JSON with places", () => {
  it("reads what JSON.parse reads", () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 2), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), null, indent);
        expect(readPlacedJson(spaced).value).toEqual(JSON.parse(spaced));
      }),
    );
  });

  it("refuses what JSON.parse refuses", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]:,"\\ \n1a-.truefalsn') }), (text) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        if (valid) {
          // A name that stands twice is the one thing that it refuses and JSON.parse does not.
          expect(() => readPlacedJson(text)).not.toThrow();
        } else expect(() => readPlacedJson(text)).toThrow(JsonSyntaxError);
      }),
      { numRuns: 2_000 },
    );
  });

  it("knows the line of each value, and of the nearest one around a missing one", () => {
    const { lineOf } = readPlacedJson('{\n"a": 1,\n"b": [\n  2,\n  {"c":\n 3}]\n}');
    expect(lineOf(["a"])).toBe(2);
    expect(lineOf(["b", 1, "c"])).toBe(5);
    expect(lineOf(["b", 0])).toBe(4);
    expect(lineOf(["b", 7])).toBe(3);
    expect(lineOf(["z"])).toBe(1);
  });

  it("names the second of two equal names", () => {
    expect(() => readPlacedJson('{"a": 1,\n "a": 2}')).toThrow(/"a" stands here for the second time/);
  });
});
