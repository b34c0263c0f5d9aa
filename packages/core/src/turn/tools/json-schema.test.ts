import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundedPattern, testableLength } from "./bounded-pattern.js";
import { validateJsonSchema } from "./json-schema.js";

type Vector = [keyword: string, schema: unknown, valid: unknown[], invalid: unknown[]];

const vectors: Vector[] = [
  ["a schema of true", true, [1, null, {}], []],
  ["a schema of false", false, [], [1, null, {}]],
  ["the empty schema", {}, [1, "a", null, [], {}], []],
  ["type string", { type: "string" }, ["", "a"], [1, null, [], {}, true]],
  ["type number", { type: "number" }, [0, -1.5, 1e300], ["1", null, Number.POSITIVE_INFINITY]],
  ["type integer", { type: "integer" }, [0, 1.0, -7], [1.5, "1", null]],
  ["type boolean", { type: "boolean" }, [true, false], [0, "true", null]],
  ["type null", { type: "null" }, [null], [0, "", {}]],
  ["type array", { type: "array" }, [[], [1]], [{}, "a", null]],
  ["type object", { type: "object" }, [{}, { a: 1 }], [[], null, "a"]],
  ["several types", { type: ["string", "null"] }, ["a", null], [1, {}, []]],
  ["an undefined type", { type: "date" }, [1, "a"], []],
  ["nullable is ignored", { type: "string", nullable: true }, ["a"], [null]],
  ["properties", { properties: { a: { type: "string" } } }, [{}, { a: "x" }, { b: 1 }, 5], [{ a: 1 }]],
  ["required", { required: ["a"] }, [{ a: null }, "not an object"], [{}, { b: 1 }]],
  ["required names of the prototype", { required: ["toString"] }, [{ toString: 1 }], [{}]],
  [
    "no additional properties",
    { properties: { a: {} }, additionalProperties: false },
    [{ a: 1 }, {}],
    [{ b: 1 }],
  ],
  [
    "no additional properties named as in the prototype",
    { properties: {}, additionalProperties: false },
    [{}],
    [JSON.parse('{"__proto__":1}'), { constructor: 1 }],
  ],
  ["additional properties by schema", { additionalProperties: { type: "number" } }, [{ a: 1 }], [{ a: "1" }]],
  [
    "pattern properties",
    { patternProperties: { "^x-": { type: "string" } }, additionalProperties: false },
    [{ "x-a": "1" }, {}],
    [{ "x-a": 1 }, { y: "1" }],
  ],
  ["items", { items: { type: "number" } }, [[], [1, 2], "no array"], [["a"], [1, "a"]]],
  ["items false", { items: false }, [[]], [[1]]],
  [
    "the older tuple",
    { items: [{ type: "number" }, { type: "string" }] },
    [[], [1], [1, "a", null]],
    [["a"]],
  ],
  ["a closed older tuple", { items: [{}], additionalItems: false }, [[1]], [[1, 2]]],
  [
    "prefixItems",
    { prefixItems: [{ type: "number" }], items: { type: "string" } },
    [[], [1], [1, "a"]],
    [["a"], [1, 2]],
  ],
  ["minItems and maxItems", { minItems: 1, maxItems: 2 }, [[1], [1, 2], "a"], [[], [1, 2, 3]]],
  [
    "uniqueItems",
    { uniqueItems: true },
    [
      [1, 2, "1"],
      [[1], ["1"]],
      [{ a: 1 }, { a: 2 }],
    ],
    [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  ["enum", { enum: [1, "a", null, { b: [1] }] }, [1, "a", null, { b: [1] }], [2, "b", { b: [2] }, {}]],
  ["const", { const: { a: 1, b: 2 } }, [{ b: 2, a: 1 }], [{ a: 1 }, null]],
  ["const null", { const: null }, [null], [0, undefined]],
  ["anyOf", { anyOf: [{ type: "string" }, { minimum: 5 }] }, ["a", 5, null], [1]],
  ["oneOf", { oneOf: [{ type: "integer" }, { minimum: 2 }] }, [1, 2.5], [3, 1.5]],
  ["allOf", { allOf: [{ minimum: 1 }, { maximum: 3 }] }, [1, 2, 3], [0, 4]],
  ["not", { not: { type: "string" } }, [1, null], ["a"]],
  ["minimum and maximum", { minimum: 0, maximum: 1 }, [0, 0.5, 1, "a"], [-0.1, 1.1]],
  ["exclusive bounds", { exclusiveMinimum: 0, exclusiveMaximum: 1 }, [0.5], [0, 1, -1, 2]],
  ["multipleOf", { multipleOf: 0.01 }, [0, 19.99, 0.3, -4.35], [0.001, 1e-12, 19.995]],
  ["multipleOf of integers", { multipleOf: 3 }, [0, 9, -3], [1, 10]],
  [
    "lengths in code points",
    { minLength: 2, maxLength: 2 },
    ["ab", "\u{1F600}\u{1F600}"],
    ["a", "\u{1F600}", "abc"],
  ],
  ["pattern is not anchored", { pattern: "b+" }, ["abc", 5], ["ac", ""]],
  ["pattern in unicode", { pattern: "^\\p{L}+$" }, ["Grüße"], ["a1"]],
  ["a pattern only the older mode takes", { pattern: "^\\-a\\_$" }, ["-a_"], ["a"]],
  ["an invalid pattern is ignored", { pattern: "(" }, ["anything"], []],
  ["format is ignored", { type: "string", format: "email" }, ["no address"], [1]],
  ["unknown keywords are ignored", { "x-ui": { widget: "a" }, title: 5 }, [1, "a"], []],
  [
    "a reference into $defs",
    { $defs: { city: { type: "string" } }, properties: { a: { $ref: "#/$defs/city" } } },
    [{ a: "Oslo" }],
    [{ a: 1 }],
  ],
  [
    "an escaped reference",
    { definitions: { "a/b~c d": { const: 1 } }, $ref: "#/definitions/a~1b~0c%20d" },
    [1],
    [2],
  ],
  [
    "keywords beside a reference",
    { $defs: { a: { minimum: 1 } }, $ref: "#/$defs/a", maximum: 2 },
    [1, 2],
    [0, 3],
  ],
  ["a reference to nowhere", { $ref: "#/$defs/missing" }, [1, "a"], []],
  ["a reference outside", { $ref: "https://example.com/schema" }, [1, "a"], []],
  [
    "a recursive schema",
    { type: "object", properties: { value: { type: "number" }, next: { $ref: "#" } }, required: ["value"] },
    [{ value: 1 }, { value: 1, next: { value: 2, next: { value: 3 } } }],
    [{ value: 1, next: { value: 2, next: {} } }],
  ],
  ["a schema that is only itself", { $ref: "#" }, [1, {}], []],
  [
    "references in a circle",
    { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a", minimum: 1 } }, $ref: "#/$defs/a" },
    [1],
    [0],
  ],
  ["alternatives that recurse", { anyOf: [{ $ref: "#" }, { $ref: "#" }] }, [1], []],
  [
    "malformed keywords are ignored",
    { type: 5, required: "a", enum: 3, items: 7, anyOf: [], minimum: "1" },
    [0],
    [],
  ],
];

describe("validateJsonSchema", () => {
  for (const [keyword, schema, valid, invalid] of vectors) {
    it(`judges ${keyword}`, () => {
      for (const value of valid) expect([value, validateJsonSchema(schema, value)]).toEqual([value, []]);
      for (const value of invalid)
        expect([value, validateJsonSchema(schema, value).length]).toEqual([value, 1]);
    });
  }

  it("says where and what", () => {
    const schema = {
      type: "object",
      properties: {
        city: { type: "string" },
        days: { type: "array", items: { type: "integer", minimum: 1 } },
        unit: { enum: ["c", "f"] },
        place: { anyOf: [{ type: "string" }, { type: "object", required: ["lat"] }] },
        "a/b": { type: ["string", "null"] },
      },
      required: ["city", "when"],
      additionalProperties: false,
    };
    const value = { city: 5, days: [1, 0, "x"], unit: "k", place: {}, "a/b": [], extra: 1 };
    expect(validateJsonSchema(schema, value)).toEqual([
      { path: "/when", message: "is required" },
      { path: "/city", message: "must be a string, got number" },
      { path: "/days/1", message: "must be at least 1, got 0" },
      { path: "/days/2", message: "must be an integer, got string" },
      { path: "/unit", message: 'must be one of "c", "f", got "k"' },
      {
        path: "/place",
        message:
          "must match at least one alternative: (1) must be a string, got object; (2) /lat: is required",
      },
      { path: "/a~1b", message: "must be a string or null, got array" },
      { path: "/extra", message: "is not a known property (known: city, days, unit, place, a/b)" },
    ]);
  });

  it("names no more places than help", () => {
    const many = Array.from({ length: 10_000 }, () => "x");
    expect(validateJsonSchema({ items: { type: "number" } }, many)).toHaveLength(16);
  });

  it("refuses a value that nests too deeply instead of overflowing", () => {
    const schema = { type: "array", items: { $ref: "#" } };
    const deep = JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`) as unknown;
    expect(validateJsonSchema(schema, deep)).toEqual([{ path: "", message: "nests deeper than 128 levels" }]);
    expect(validateJsonSchema({ uniqueItems: true }, [deep])).toHaveLength(1);
    expect(validateJsonSchema({ enum: [[]] }, deep)).toHaveLength(1);
  });

  it("refuses a schema whose alternatives multiply without end", () => {
    const definitions: Record<string, unknown> = {};
    for (let level = 0; level < 60; level++) {
      const next = { $ref: `#/$defs/d${level + 1}` };
      definitions[`d${level}`] = { anyOf: [next, next] };
    }
    definitions.d60 = { type: "string" };
    const issues = validateJsonSchema({ $defs: definitions, $ref: "#/$defs/d0" }, 1);
    expect(issues).toEqual([{ path: "", message: "is too complex to be checked" }]);
  });

  it("finds nothing wrong with a value under a schema that describes it", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        expect(validateJsonSchema(schemaOf(value), value)).toEqual([]);
      }),
    );
  });

  it("finds something wrong when a value does not equal the constant", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const same = JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
        expect(validateJsonSchema({ const: left }, right).length === 0).toBe(same);
      }),
    );
  });

  it("turns every verdict around under not, and agrees with allOf, anyOf and oneOf of one", () => {
    const schemas = fc.constantFrom(
      ...vectors.map(([, schema]) => schema).filter((schema) => !refers(schema)),
    );
    fc.assert(
      fc.property(schemas, fc.jsonValue(), (schema, value) => {
        const valid = validateJsonSchema(schema, value).length === 0;
        expect(validateJsonSchema({ not: schema }, value).length === 0).toBe(!valid);
        for (const keyword of ["allOf", "anyOf", "oneOf"]) {
          expect(validateJsonSchema({ [keyword]: [schema] }, value).length === 0).toBe(valid);
        }
      }),
    );
  });

  it("never throws, whatever the schema and the value are", () => {
    const names = fc.constantFrom(
      "type",
      "items",
      "properties",
      "$ref",
      "enum",
      "anyOf",
      "pattern",
      "not",
      "required",
    );
    const schema = fc.dictionary(names, fc.oneof(fc.jsonValue(), fc.constant("#"), fc.constant("string")));
    fc.assert(
      fc.property(schema, fc.jsonValue(), (hostile, value) => {
        for (const issue of validateJsonSchema(hostile, value)) expect(issue.message).not.toBe("");
      }),
    );
  });
});

describe("boundedPattern", () => {
  it("tests ordinary patterns on texts as long as they get", () => {
    expect(testableLength("^[a-z]+$")).toBeGreaterThan(1_000_000);
    expect(testableLength("^\\d{4}-\\d{2}-\\d{2}$")).toBeGreaterThan(1_000_000);
    expect(testableLength("^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$")).toBeGreaterThan(320);
    expect(testableLength("^(25[0-5]|\\d{1,2})(\\.(25[0-5]|\\d{1,2})){3}$")).toBeGreaterThan(100);
  });

  it("does not test a long text against a pattern that can take forever", () => {
    const patterns = [
      "^(a+)+$",
      "^(a|a)*$",
      "^(a|aa)+$",
      "^((a)*)*$",
      "^(a?){40}$",
      "^(\\w+\\s?)*$",
      "(x+x+)+y",
      "^(a*)\\1$",
    ];
    for (const source of patterns) {
      const pattern = boundedPattern(source);
      expect([source, pattern?.accepts(`${"a".repeat(5_000)}!`)]).toEqual([source, true]);
      expect([source, pattern?.matches("a".repeat(5_000))]).toEqual([source, false]);
    }
    expect(boundedPattern("^(a+)+$")?.accepts("aaab")).toBe(false);
  });

  it("does not read quantifiers in classes and behind a backslash", () => {
    expect(testableLength("^[*+?{}()|]\\+\\*\\(\\)$")).toBeGreaterThan(1_000_000);
  });
});

function schemaOf(value: unknown): unknown {
  if (value === null) return { type: "null" };
  if (Array.isArray(value)) {
    return { type: "array", prefixItems: value.map(schemaOf), items: false, minItems: value.length };
  }
  if (typeof value === "object") {
    const properties = Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, schemaOf(each)]),
    );
    return { type: "object", properties, required: Object.keys(value), additionalProperties: false };
  }
  if (typeof value === "number") return { type: "number", minimum: value, maximum: value };
  return { type: typeof value, enum: [value] };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  // Entries rather than an object, because a key such as "1" would move to the front.
  return {
    entries: Object.entries(value)
      .map(([name, each]) => [name, sorted(each)])
      .sort(),
  };
}

function refers(schema: unknown): boolean {
  return JSON.stringify(schema).includes('"$ref"');
}
