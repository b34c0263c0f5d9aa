import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { partialJson } from "./partial-json.js";

describe("JSON that is still being written", () => {
  it.each([
    ["", undefined],
    ["{", {}],
    ['{"na', {}],
    ['{"name"', {}],
    ['{"name": "Be', { name: "Be" }],
    ['{"name": "Be\\', { name: "Be" }],
    ['{"name": "\\u00e', { name: "" }],
    ['{"name": "Bern", "people": 13', { name: "Bern" }],
    ['{"name": "Bern", "people": 13}', { name: "Bern", people: 13 }],
    ['{"a": [1, {"b": tru', { a: [1, {}] }],
    ['{"a": [1, {"b": true', { a: [1, { b: true }] }],
    ["[[[", [[[]]]],
    ["nul", undefined],
    ["words", undefined],
  ])("%s", (text, value) => {
    expect(partialJson(text)).toEqual(value);
  });

  it("is the value itself when it is whole, and never throws before", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, cut) => {
        const text = JSON.stringify({ value });
        expect(partialJson(text)).toEqual(JSON.parse(text));
        partialJson(text.slice(0, cut % text.length));
      }),
      { numRuns: 500 },
    );
  });

  it("keeps a name that objects have themselves", () => {
    const value = partialJson('{"__proto__": {"a": 1}, "b": ') as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect(({} as { a?: number }).a).toBeUndefined();
  });
});
