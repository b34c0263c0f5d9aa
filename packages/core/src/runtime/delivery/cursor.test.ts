import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatCursor, openCursor, parseCursor } from "./cursor.js";

const place = fc.record({
  seq: fc.nat(),
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
  it("reads back as the place it was made of", () => {
    fc.assert(
      fc.property(place, ({ seq, open }) => {
        expect(parseCursor(formatCursor(seq, open))).toEqual(open === undefined ? { seq } : { seq, open });
        if (open !== undefined) expect(openCursor(seq, open)(open.n)).toBe(formatCursor(seq, open));
      }),
    );
  });

  it("is only what a server has handed out", () => {
    for (const text of [
      "",
      "x",
      "-1",
      "1.5",
      "1~",
      "1~t",
      "1~t~1",
      "1~~1~1",
      "1~t~x~1",
      "1~t~1~y",
      "1~t~1~2~3",
      " 1",
    ]) {
      expect(() => parseCursor(text), text).toThrow(expect.objectContaining({ code: "invalid_request" }));
    }
  });

  it("any text is either a place or refused", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          const { seq, open } = parseCursor(text);
          expect(formatCursor(seq, open).split("~").map(Number)).toEqual(text.split("~").map(Number));
        } catch (error) {
          expect(error).toMatchObject({ code: "invalid_request" });
        }
      }),
    );
  });
});
