import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256 } from "./sha256.js";

const reference = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");

describe("sha256", () => {
  it("is SHA-256, around the lengths at which a block ends and for long texts", () => {
    for (const length of [0, 1, 3, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 128, 1_000, 1_000_000]) {
      const text = "x".repeat(length);
      expect([length, sha256(text)]).toEqual([length, reference(text)]);
    }
  });

  it("is that of the UTF-8 bytes of any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(sha256(text)).toBe(reference(text));
      }),
    );
  });
});
