import { describe, expect, it } from "vitest";
import { complaints } from "./json-schema-check.test-support.js";

const document = {
  components: {
    schemas: {
      Point: {
        type: "object",
        properties: { x: { type: "integer", minimum: 0 }, name: { type: ["string", "null"] } },
        required: ["x"],
      },
    },
  },
};
const point = { $ref: "#/components/schemas/Point" };

describe("the check of answers against the contract", () => {
  it("finds what is missing, wrong, too much or of no choice", () => {
    expect(complaints(document, point, { x: 1, name: null })).toEqual([]);
    expect(complaints(document, point, {})).toEqual(["$.x: missing"]);
    expect(complaints(document, point, { x: 1.5 })).toEqual(["$.x: not integer"]);
    expect(complaints(document, point, { x: -1 })).toEqual(["$.x: below 0"]);
    expect(complaints(document, point, { x: 1, y: 2 })).toEqual(["$.y: not in the contract"]);
    expect(complaints(document, { type: "array", items: point }, [{ x: 1 }, 3])).toEqual([
      "$[1]: not object",
    ]);
    expect(complaints(document, { oneOf: [point, { enum: ["here"] }] }, "there")).toHaveLength(1);
    expect(complaints(document, { oneOf: [point, { enum: ["here"] }] }, "here")).toEqual([]);
  });
});
