import { describe, expect, it } from "vitest";
import { answerValue, takesText } from "./answer-value.js";

describe("a typed answer", () => {
  it("is a text, unless the question wants something else", () => {
    expect(answerValue(undefined, "42")).toBe("42");
    expect(answerValue({ type: "string" }, "42")).toBe("42");
    expect(answerValue({ type: ["string", "null"] }, "null")).toBe("null");
    expect(answerValue({ type: "integer" }, "42")).toBe(42);
    expect(answerValue({ type: "boolean" }, "yes")).toBeUndefined();
    expect(answerValue({ type: "object" }, '{"a": [1]}')).toEqual({ a: [1] });
    expect(takesText({ const: 1 })).toBe(false);
  });

  it("is one of the options, where there are some", () => {
    expect(answerValue({ enum: ["tea", "coffee"] }, "tea")).toBe("tea");
    expect(answerValue({ enum: ["tea", "coffee"] }, '"tea"')).toBe("tea");
    expect(answerValue({ enum: ["tea", 7] }, "7")).toBe(7);
    expect(answerValue({ enum: ["tea", "coffee"] }, "milk")).toBeUndefined();
  });
});
