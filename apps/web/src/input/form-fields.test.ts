import type { JsonObject } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { draftOf, fieldsOfSchema, fieldsOfValue, readDraft } from "./form-fields.js";

const fill = (schema: JsonObject | undefined, typed: Readonly<Record<string, string>>) => {
  const fields = fieldsOfSchema(schema);
  const draft = Object.fromEntries(
    fields.map((field) => [field.key, typed[field.path.join(".")] ?? ""] as const),
  );
  const read = readDraft(fields, draft);
  if (read.ok) return read.value;
  return Object.fromEntries(
    fields.flatMap(({ key, path }) => {
      const problem = read.problems[key];
      return problem === undefined ? [] : [[path.join("."), problem]];
    }),
  );
};

const trip: JsonObject = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2 },
    people: { type: "integer", minimum: 1, maximum: 9 },
    window: { type: "boolean" },
    class: { enum: ["first", "second", 3] },
    place: { type: "object", properties: { city: { type: "string", description: "Where to" } } },
    stops: { type: "array", items: { type: "string" } },
  },
  required: ["name", "people"],
};

describe("a form from a schema", () => {
  it("has a field for each simple value, and JSON for the rest", () => {
    expect(fieldsOfSchema(trip).map(({ path, kind, required }) => [path.join("."), kind, required])).toEqual([
      ["name", "text", true],
      ["people", "integer", true],
      ["window", "yes-no", false],
      ["class", "choice", false],
      ["place.city", "text", false],
      ["stops", "json", false],
    ]);
    const kinds = (schema: JsonObject | undefined) => fieldsOfSchema(schema).map(({ kind }) => kind);
    expect(kinds(undefined)).toEqual(["text"]);
    expect(kinds({ enum: ["a", "b"] })).toEqual(["choice"]);
    expect(kinds({ anyOf: [{ type: "string" }] })).toEqual(["json"]);
    expect(kinds({ type: "object" })).toEqual(["json"]);
  });

  it("returns a value of that form", () => {
    const typed = {
      name: "Ada",
      people: "2",
      window: "false",
      class: "2",
      "place.city": "Ulm",
      stops: '["x"]',
    };
    expect(fill(trip, typed)).toEqual({
      name: "Ada",
      people: 2,
      window: false,
      class: 3,
      place: { city: "Ulm" },
      stops: ["x"],
    });
    expect(fill(trip, { name: "Ada", people: "1" })).toEqual({ name: "Ada", people: 1 });
    expect(fill({ type: "object", properties: { note: { type: "string" } } }, {})).toEqual({});
    expect(fill({ type: "boolean" }, { "": "true" })).toBe(true);
  });

  it("reports problems field by field", () => {
    expect(fill(trip, { name: "A", people: "1.5", stops: "x" })).toEqual({
      name: "This has to be at least 2 characters.",
      people: "This has to be a whole number.",
      stops: "This is not JSON. A text needs quotes.",
    });
    expect(fill(trip, { people: "12" })).toEqual({
      name: "This is needed.",
      people: "This may be at most 9.",
    });
    expect(fill({ type: "number" }, { "": "many" })).toEqual({ "": "This is not a number." });
  });
});

describe("a form of arguments", () => {
  it("returns the same arguments if nothing is typed", () => {
    const value = JSON.parse(
      '{"to": "", "n": 1.5, "ok": false, "none": null, "__proto__": {"x": "y"}, "list": [1, {"a": 2}]}',
    );
    const fields = fieldsOfValue(value);
    const read = readDraft(fields, draftOf(fields, value));
    expect(read.ok && JSON.stringify(read.value)).toBe(JSON.stringify(value));
    for (const whole of ["text", 3, [], {}, null]) {
      const own = fieldsOfValue(whole);
      expect(readDraft(own, draftOf(own, whole))).toEqual({ ok: true, value: whole });
    }
  });
});
