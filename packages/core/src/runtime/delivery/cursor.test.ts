import { checkOfChunk, formatCursor, isCheckedRow, openCursor, pageCursor } from "@parley/fold";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HistoryEntry } from "../../ports.js";
import { checkOfLast, readCursor } from "./cursor.js";
import { chunksOf } from "./frames.js";

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
  it("reads back as the place it was made of", () => {
    fc.assert(
      fc.property(place, (each) => {
        const { seq, check, open } = each;
        expect(readCursor(formatCursor(each))).toEqual(each);
        if (open !== undefined) expect(openCursor(seq, check, open)(open.n)).toBe(formatCursor(each));
      }),
    );
  });

  it("of an earlier version, without a check, is one still", () => {
    expect(readCursor("7")).toEqual({ seq: 7 });
    expect(readCursor("7~t~1~-1")).toEqual({ seq: 7, open: { turnId: "t", epoch: 1, n: -1 } });
  });

  it("is only what a server has handed out", () => {
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
      expect(() => readCursor(text), text).toThrow(expect.objectContaining({ code: "invalid_request" }));
    }
  });

  it("any text is either a place or refused", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          const found = readCursor(text);
          expect(readCursor(formatCursor(found))).toEqual(found);
        } catch (error) {
          expect(error).toMatchObject({ code: "invalid_request" });
        }
      }),
    );
  });
});

describe("the check of a row", () => {
  const row = (
    firstSeq: number,
    given: Partial<HistoryEntry["message"]> = {},
    turnId = "t1",
  ): HistoryEntry => ({
    message: {
      id: `m${firstSeq}`,
      conversationId: "c",
      role: "assistant",
      createdAt: new Date(1_700_000_000_000),
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      ...given,
    },
    turnId,
    firstSeq,
    lastSeq: firstSeq + 1,
  });

  it("is the same for the row and for each of its chunks, whatever the part", () => {
    const entry = row(4);
    const chunks = chunksOf([entry]);
    const check = checkOfLast([row(2), entry]);
    expect(check?.seq).toBe(5);
    expect(chunks.map((chunk) => checkOfChunk(chunk)?.hash)).toEqual([check?.hash, check?.hash]);
    expect(check !== undefined && isCheckedRow(chunks[1], check)).toBe(true);
    expect(check !== undefined && isCheckedRow(chunks[0], check)).toBe(false);
    expect(check !== undefined && isCheckedRow(undefined, check)).toBe(false);
  });

  it("differs for another message, turn, time or place", () => {
    const others = [
      row(4),
      row(4, { id: "another" }),
      row(4, { createdAt: new Date(1_700_000_000_001) }),
      row(4, {}, "t2"),
      row(5, { id: "m4" }),
    ];
    expect(new Set(others.map((entry) => checkOfLast([entry])?.hash)).size).toBe(others.length);
  });

  it("of a page names the page's last row, at the place before its newest turn", () => {
    expect(pageCursor([])).toBeUndefined();
    const chunks = chunksOf([row(1, {}, "t0"), row(3), row(5)]);
    expect(readCursor(pageCursor(chunks) ?? "")).toEqual({ seq: 2, check: checkOfLast([row(5)]) });
  });
});
