import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createToolNames } from "./tool-names.js";

describe("createToolNames", () => {
  it("leaves a valid name unchanged", () => {
    const names = createToolNames(["read_file-2"]);
    expect(names.toSent("read_file-2")).toBe("read_file-2");
    expect(names.fromSent("read_file-2")).toBe("read_file-2");
  });

  it("rewrites any name to a valid one, and maps it back", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: "binary", maxLength: 90 }), { maxLength: 8 }), (given) => {
        const names = createToolNames(given);
        for (const name of given) {
          expect(names.toSent(name)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
          expect(names.fromSent(names.toSent(name))).toBe(name);
        }
      }),
    );
  });

  it("keeps names distinct that would be rewritten alike", () => {
    const names = createToolNames(["a.b", "a/b"]);
    expect(names.toSent("a.b")).not.toBe(names.toSent("a/b"));
  });
});
