import fc from "fast-check";
import { expect, it } from "vitest";
import { grownText } from "./grown-text.js";

it("is the text and what comes behind it, however long it grows", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 3_000 }), { maxLength: 40 }), (pieces) => {
      expect(pieces.reduce(grownText, "")).toBe(pieces.join(""));
    }),
  );
});
