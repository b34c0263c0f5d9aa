import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readEvents } from "../connection/read-events.js";
import { readLines, readText } from "./read-lines.js";

/** Returns a stream of the text's bytes, cut at these places. */
function streamOf(
  text: string,
  cuts: readonly number[],
  onCancel: () => void = () => {},
): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const pieces: Uint8Array[] = [];
  let start = 0;
  for (const end of [...ends, bytes.length]) {
    pieces.push(bytes.slice(start, end));
    start = end;
  }
  return new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
    cancel: onCancel,
  });
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const value of values) list.push(value);
  return list;
}

const line = fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, " "));
const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 30 });

describe("reading lines", () => {
  it("gives the same lines wherever the bytes were cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line), cuts, fc.constantFrom("\n", "\r\n"), async (lines, at, end) => {
        const text = lines.map((each) => each + end).join("");
        expect(await all(readLines(streamOf(text, at)))).toEqual(lines);
      }),
    );
  });

  it("gives a last line without its end", async () => {
    expect(await all(readLines(streamOf("one\ntwo", [2])))).toEqual(["one", "two"]);
  });

  it("gives text with every character whole", async () => {
    await fc.assert(
      fc.asyncProperty(line, cuts, async (text, at) => {
        const pieces = await all(readText(streamOf(text, at)));
        expect(pieces.join("")).toBe(text);
        expect(pieces.join("|")).not.toContain("\ufffd");
      }),
    );
  });

  it("cancels the stream when the reader leaves early", async () => {
    let isCanceled = false;
    const stream = streamOf("one\ntwo\nthree\n", [4], () => {
      isCanceled = true;
    });
    for await (const each of readLines(stream)) if (each === "one") break;
    await Promise.resolve();
    expect(isCanceled).toBe(true);
  });

  it("ends when the signal aborts, also in the middle of a read of a stream that goes on", async () => {
    const abort = new AbortController();
    let isCanceled = false;
    const endless = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("one\ntwo")),
      cancel() {
        isCanceled = true;
      },
    });
    const lines = readLines(endless, abort.signal);
    expect(await lines.next()).toEqual({ done: false, value: "one" });
    const next = lines.next();
    abort.abort(new Error("Enough"));
    await expect(next).rejects.toThrow("Enough");
    expect(isCanceled).toBe(true);
    await expect(all(readLines(streamOf("late\n", []), abort.signal))).rejects.toThrow("Enough");
  });

  it("passes on what breaks the stream", async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error("The wire is cut")),
    });
    await expect(all(readLines(broken))).rejects.toThrow("The wire is cut");
  });
});

describe("reading server-sent events", () => {
  it("gives the same events wherever the bytes were cut", async () => {
    const text =
      ': hello\n\nevent: delta\nid: 1~t~1~2\ndata: {"a":"ä"}\n\n:\n\ndata: one\ndata:two\n\nid: 9\nevent: chunks\ndata: {}\n\n';
    const events = [
      { event: "delta", id: "1~t~1~2", data: '{"a":"ä"}' },
      { event: "message", id: "1~t~1~2", data: "one\ntwo" },
      { event: "chunks", id: "9", data: "{}" },
    ];
    await fc.assert(
      fc.asyncProperty(cuts, fc.boolean(), async (at, crlf) => {
        const sent = crlf ? text.replaceAll("\n", "\r\n") : text;
        expect(await all(readEvents(streamOf(sent, at)))).toEqual(events);
      }),
    );
  });

  it("drops an event that was cut off, and fields without a value", async () => {
    expect(await all(readEvents(streamOf("data\n\nretry: 5\ndata: cut", [])))).toEqual([
      { event: "message", data: "" },
    ]);
  });
});
