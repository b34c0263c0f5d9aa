import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { originalJson, originalText, storedJson, storedText } from "./stored-text.js";

/** Code units of every kind, the awkward ones often. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom("\u0000", "\u001a", "\ud83d", "\ude00", "\\", "\\u0000", "\\u001a0000", '"', "0000"),
      fc.string({ unit: "grapheme" }),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
    ),
  )
  .map((pieces) => pieces.join(""));

const storable = (text: string) => !text.includes("\u0000") && Buffer.from(text).toString() === text;

describe("stored text", () => {
  it("holds no character that the database refuses, and comes back as it was", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const stored = storedText(text);
        expect(storable(stored)).toBe(true);
        expect(originalText(stored)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it("is the text itself where nothing needs an escape", () => {
    expect(storedText("é \u{1F600} \\u0000\n")).toBe("é \u{1F600} \\u0000\n");
  });
});

describe("stored JSON", () => {
  it("has no character that jsonb refuses, in values and in keys, and comes back as it was", () => {
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 3 },
        anyText,
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("any"), { maxLength: 4 }),
        fc
          .array(fc.tuple(anyText, tie("any")), { maxLength: 4 })
          .map((entries) => Object.fromEntries(entries) as unknown),
      ),
    })).any;
    fc.assert(
      fc.property(value, (given) => {
        const stored = storedJson(given);
        // The database parses the text and writes it with its own escapes.
        const strings: string[] = [];
        JSON.parse(stored, (key, member: unknown) => {
          strings.push(key);
          if (typeof member === "string") strings.push(member);
          return member;
        });
        expect(strings.every(storable)).toBe(true);
        expect(originalJson(JSON.stringify(JSON.parse(stored)))).toEqual(JSON.parse(JSON.stringify(given)));
      }),
      { numRuns: 300 },
    );
  });

  it("leaves out members that are undefined", () => {
    expect(storedJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  const hole: unknown[] = [];
  hole[1] = 1;
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  const refusals: [string, unknown][] = [
    ["a bigint", 1n],
    ["not a number", { value: Number.NaN }],
    ["infinity", [Number.NEGATIVE_INFINITY]],
    ["a date", { at: new Date(0) }],
    ["a map", new Map([["a", 1]])],
    ["bytes", new Uint8Array(1)],
    ["an object that writes itself", { toJSON: () => "other" }],
    ["a function", { run: () => 1 }],
    ["a hole in a list", hole],
    ["undefined", undefined],
    ["a cycle", cycle],
    ["a hundred thousand levels", deep],
  ];
  for (const [what, value] of refusals) {
    it(`refuses ${what}`, () => {
      expect(() => storedJson(value)).toThrow(expect.objectContaining({ code: "invalid_request" }));
    });
  }
});
