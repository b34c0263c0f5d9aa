import { checkOfChunk, isCheckedRow, pageCursor } from "@parley/fold";
import { describe, expect, it } from "vitest";
import type { HistoryEntry } from "../../ports.js";
import { checkOfLast, readCursor } from "./cursor.js";
import { chunksOf } from "./frames.js";

describe("the cursor of a request", () => {
  it("is refused with its field named where no server has handed it out", () => {
    expect(readCursor("7")).toEqual({ seq: 7 });
    expect(() => readCursor("1~t")).toThrow(expect.objectContaining({ code: "invalid_request" }));
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
