import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyText } from "../message-arbitrary.test-support.js";
import { chainHash, hashText } from "./hash.js";

describe("hashText", () => {
  it("gives the values that are already stored", () => {
    expect(["", "a", "Hello, world!", "日本語", "\ud800", "\u0000"].map(hashText)).toEqual([
      "db4a8acc6131be34",
      "0622c2684499afcd",
      "124848cb4acc4e2d",
      "0cd4ae38eb314ea7",
      "306e1c851f80862c",
      "bf98f836e663d4f2",
    ]);
  });

  it("is 16 hex digits for any string and differs where the strings differ", () => {
    fc.assert(
      fc.property(anyText, anyText, (left, right) => {
        expect(hashText(left)).toMatch(/^[0-9a-f]{16}$/);
        expect(hashText(left) === hashText(right)).toBe(left === right);
      }),
    );
  });

  it("has no collision among many similar texts, as a whole", () => {
    const hashes = new Set<string>();
    const count = 200_000;
    for (let index = 0; index < count; index++) hashes.add(hashText(`message ${index}`));
    expect(hashes.size).toBe(count);
  });

  it("changes about half of its bits with one bit of the text", () => {
    let changed = 0;
    const rounds = 400;
    for (let index = 0; index < rounds; index++) {
      const text = `some text ${index} that goes on`;
      const flipped = text.replace("some", "sole");
      changed += bitsOf(BigInt(`0x${hashText(text)}`) ^ BigInt(`0x${hashText(flipped)}`));
    }
    expect(changed / rounds).toBeGreaterThan(28);
    expect(changed / rounds).toBeLessThan(36);
  });
});

describe("chainHash", () => {
  it("begins as the hash of the text", () => {
    fc.assert(fc.property(anyText, (text) => void expect(chainHash("", text)).toBe(hashText(text))));
  });

  it("depends on order and on where one text ends", () => {
    const chain = (...texts: string[]) => texts.reduce(chainHash, "");
    expect(chain("ab", "c")).not.toBe(chain("a", "bc"));
    expect(chain("ab", "c")).not.toBe(chain("c", "ab"));
    expect(chain("a", "")).not.toBe(chain("a"));
    expect(chain("abc")).not.toBe(chain("ab", "c"));
  });

  it("continues from any text that is given as the previous hash", () => {
    expect(chainHash("not a hash", "x")).toBe(chainHash(hashText("not a hash"), "x"));
  });
});

function bitsOf(value: bigint): number {
  return value.toString(2).replaceAll("0", "").length;
}
