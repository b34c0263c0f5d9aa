import { describe, expect, it } from "vitest";
import { argumentChanges, parseArguments, wherePattern } from "./argument-changes.js";

describe("changes of arguments", () => {
  it("lists the differences, as deep as they are", () => {
    const before = { to: "a@x", amount: 3, tags: ["a", "b"], deep: { kept: 1, gone: null }, list: [1] };
    const after = { to: "b@x", amount: 3, tags: ["a", "c"], deep: { kept: 1, fresh: {} }, list: [1, 2] };
    expect(argumentChanges(before, after)).toEqual([
      { path: "to", before: "a@x", after: "b@x" },
      { path: "tags[1]", before: "b", after: "c" },
      { path: "deep.gone", before: null },
      { path: "deep.fresh", after: {} },
      { path: "list", before: [1], after: [1, 2] },
    ]);
    expect(argumentChanges(before, structuredClone(before))).toEqual([]);
    expect(argumentChanges("a", { a: 1 })).toEqual([{ path: "", before: "a", after: { a: 1 } }]);
  });

  it("treats names from a model as names", () => {
    const before = parseArguments('{"__proto__": {"x": 1}, "constructor": 1}') ?? null;
    const after = parseArguments('{"__proto__": {"x": 2}, "toString": 1}') ?? null;
    expect(argumentChanges(before, after)).toEqual([
      { path: "__proto__.x", before: 1, after: 2 },
      { path: "constructor", before: 1 },
      { path: "toString", after: 1 },
    ]);
    expect(parseArguments("{")).toBeUndefined();
  });
});

describe("the pattern of a standing approval", () => {
  it("matches these values only, or does not exist", () => {
    expect(wherePattern({ to: "a@x", amount: 3, deep: { q: "*" } })).toEqual({
      to: "a@x",
      amount: 3,
      deep: { q: "*" },
    });
    for (const value of [{}, [], "a", undefined, { q: "a*" }, { "a.b": 1 }]) {
      expect(wherePattern(value)).toBeUndefined();
    }
  });
});
