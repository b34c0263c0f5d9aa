import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatCursor, isBefore, openCursor, parseCursor, wasReceived } from "./cursor.js";

const place = fc.record({
  seq: fc.nat(),
  check: fc.option(fc.record({ seq: fc.nat(), hash: fc.stringMatching(/^[0-9a-z]{1,7}$/) }), {
    nil: undefined,
  }),
  open: fc.option(
    fc.record({
      turnId: fc.stringMatching(/^[A-Za-z0-9._:-]{1,20}$/),
      epoch: fc.nat(),
      n: fc.integer({ min: -1, max: 1_000_000 }),
    }),
    { nil: undefined },
  ),
});

describe("a cursor", () => {
  it("parses to the place it was formatted from", () => {
    fc.assert(
      fc.property(place, (each) => {
        const { seq, check, open } = each;
        expect(parseCursor(formatCursor(each))).toEqual(each);
        if (open !== undefined) expect(openCursor(seq, check, open)(open.n)).toBe(formatCursor(each));
      }),
    );
  });

  it("of an earlier version, without a check, is still valid", () => {
    expect(parseCursor("7")).toEqual({ seq: 7 });
    expect(parseCursor("7~t~1~-1")).toEqual({ seq: 7, open: { turnId: "t", epoch: 1, n: -1 } });
  });

  it("is only a string that a server has issued", () => {
    for (const text of [
      "",
      "x",
      "-1",
      "1.",
      "1.A",
      "1.12345678",
      "1.a.",
      "1.a.b",
      "1.a.1.1",
      "1~",
      "1~t",
      "1~t~1",
      "1~~1~1",
      "1~t~x~1",
      "1~t~1~y",
      "1~t~1~2~3",
      " 1",
    ]) {
      expect(parseCursor(text), text).toBeUndefined();
    }
  });

  it("parses or refuses any text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const found = parseCursor(text);
        if (found !== undefined) expect(parseCursor(formatCursor(found))).toEqual(found);
      }),
    );
  });

  it("orders places by seq, then by the event of the same turn", () => {
    const at = (text: string) => parseCursor(text) ?? { seq: -1 };
    expect(isBefore(at("3"), at("4"))).toBe(true);
    expect(isBefore(at("4"), at("4"))).toBe(false);
    expect(isBefore(at("4~t~1~2"), at("4~t~1~3"))).toBe(true);
    expect(isBefore(at("4~t~1~3"), at("4~t~1~2"))).toBe(false);
    expect(wasReceived(at("4~t~1~2"), at("4~t~1~2"))).toBe(true);
    expect(wasReceived(at("4~t~1~3"), at("4~t~1~2"))).toBe(false);
    expect(wasReceived(at("4~t~1~3"), undefined)).toBe(false);
  });
});
