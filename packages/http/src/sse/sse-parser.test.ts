import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SseLimitError } from "./sse-limit-error.js";
import { createSseParser, type SseEnding, type SseEvent, type SseLimits } from "./sse-parser.js";

interface Reading {
  readonly events: SseEvent[];
  readonly comments: string[];
  readonly retries: number[];
  readonly ending: SseEnding;
}

function parse(chunks: Iterable<Uint8Array | string>, limits: SseLimits = {}): Reading {
  const events: SseEvent[] = [];
  const comments: string[] = [];
  const retries: number[] = [];
  const parser = createSseParser({
    ...limits,
    onEvent: (event) => events.push(event),
    onComment: (text) => comments.push(text),
    onRetry: (delayMs) => retries.push(delayMs),
  });
  for (const chunk of chunks) parser.push(chunk);
  return { events, comments, retries, ending: parser.end() };
}

function message(data: string, event = "message", lastEventId = ""): SseEvent {
  return { event, data, lastEventId };
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/**
 * Cuts at the given places, taken modulo the length, in any order and with repeats (which produce empty
 * chunks).
 */
function cutAt<T extends Uint8Array | string>(whole: T, places: readonly number[]): T[] {
  const length = whole.length;
  const cuts = places.map((place) => place % (length + 1)).sort((a, b) => a - b);
  return [...cuts, length].map((end, i) => whole.slice(cuts[i - 1] ?? 0, end) as T);
}

describe("createSseParser", () => {
  it("reports an event with its name, data and id", () => {
    const { events, ending } = parse(["event: greeting\nid: 7\ndata: hello\n\n"]);
    expect(events).toEqual([message("hello", "greeting", "7")]);
    expect(ending).toEqual({ midEvent: false, lastEventId: "7" });
  });

  it("calls an event without a name a message, also after a named one", () => {
    const { events } = parse(["event: a\ndata: 1\n\ndata: 2\n\nevent: b\nevent\ndata: 3\n\n"]);
    expect(events.map((each) => each.event)).toEqual(["a", "message", "message"]);
  });

  it("joins data lines with line feeds and keeps empty ones", () => {
    const { events } = parse(["data: a\ndata:\ndata\ndata: b\n\n"]);
    expect(events).toEqual([message("a\n\n\nb")]);
  });

  it("removes one space after the colon and no more", () => {
    const { events } = parse(["data:a\n\ndata: b\n\ndata:  c \n\ndata:\td\n\n"]);
    expect(events.map((each) => each.data)).toEqual(["a", "b", " c ", "\td"]);
  });

  it("dispatches an event whose data is an empty line, and none without a data line", () => {
    const { events } = parse(["data\n\ndata:\n\nevent: nothing\nid: 3\n\n\n\n: only a comment\n\n"]);
    expect(events).toEqual([message(""), message("")]);
  });

  it("forgets the name of an event that was not dispatched, and remembers its id", () => {
    const { events } = parse(["event: lost\nid: 3\n\ndata: x\n\n"]);
    expect(events).toEqual([message("x", "message", "3")]);
  });

  it("carries an id over to later events until another one replaces or clears it", () => {
    const { events } = parse(["id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\nid\ndata: d\n\n"]);
    expect(events.map((each) => each.lastEventId)).toEqual(["1", "1", "2", ""]);
  });

  it("ignores an id that has a NUL", () => {
    const { events } = parse(["id: 1\nid: 2\0\ndata: a\n\n"]);
    expect(events).toEqual([message("a", "message", "1")]);
  });

  it("reports retry only when it is all digits and a safe integer", () => {
    const lines = [
      "retry: 1500",
      "retry:0",
      "retry: -1",
      "retry: 1.5",
      "retry: 1s",
      "retry:",
      "retry",
      "retry: ٣",
    ];
    const { retries } = parse([`${lines.join("\n")}\nretry: ${"9".repeat(40)}\nretry: 20\n`]);
    expect(retries).toEqual([1500, 0, 20]);
  });

  it("reports comments, and ignores fields that it does not know", () => {
    const { comments, events } = parse([": ping\n:\n:  two\nfoo: bar\nData: x\n data: y\nfoo\ndata: z\n\n"]);
    expect(comments).toEqual(["ping", "", " two"]);
    expect(events).toEqual([message("z")]);
  });

  it("takes LF, CR and CRLF as line ends, mixed", () => {
    const { events } = parse(["data: a\r\rdata: b\n\ndata: c\r\n\r\ndata: d\r\n\rdata: e\n\r\n"]);
    expect(events.map((each) => each.data)).toEqual(["a", "b", "c", "d", "e"]);
  });

  it("dispatches at a lone CR without waiting to see whether a LF follows", () => {
    const events: SseEvent[] = [];
    const parser = createSseParser({ onEvent: (event) => events.push(event) });
    parser.push("data: a\r\n\r");
    expect(events).toEqual([message("a")]);
    parser.push("\ndata: b\r");
    parser.push("\n");
    expect(events).toHaveLength(1);
    parser.push("\r");
    expect(events).toEqual([message("a"), message("b")]);
  });

  it("drops a byte order mark at the start of the stream and only there", () => {
    const bytes = bytesOf("\ufeffdata: \ufeffa\n\n\ufeffdata: b\n\n");
    expect(parse([bytes]).events).toEqual([message("\ufeffa")]);
    expect(parse(Array.from(bytes, (byte) => Uint8Array.of(byte))).events).toEqual([message("\ufeffa")]);
  });

  it("keeps bytes that only begin like a byte order mark", () => {
    const bytes = Uint8Array.of(0xef, 0xbb, ...bytesOf("\ndata: a\n\n"));
    expect(parse([bytes]).events).toEqual([message("a")]);
    expect(parse(Array.from(bytes, (byte) => Uint8Array.of(byte))).events).toEqual([message("a")]);
    expect(parse([Uint8Array.of(0xef), Uint8Array.of(0xbb)]).ending.midEvent).toBe(true);
    // With a broken mark before it, the field has a different name.
    expect(parse([Uint8Array.of(0xef), bytesOf("data: a\n\n")]).events).toEqual([]);
  });

  it("puts together a surrogate pair that string chunks cut, and replaces a half that stays alone", () => {
    expect(parse(["data: \ud83d", "\ude00\n\n"]).events).toEqual([message("😀")]);
    expect(parse(["data: \ud83d", "", "\ude00\n\n"]).events).toEqual([message("😀")]);
    expect(parse(["data: \ud83d", bytesOf("\n\n")]).events).toEqual([message("\ufffd")]);
    expect(parse(["data: \ud83d", "x\n\n"]).events).toEqual([message("\ufffdx")]);
  });

  it("puts a long line together from many chunks", () => {
    const text = "0123456789".repeat(20_000);
    const bytes = bytesOf(`data: ${text}\n\ndata: b\n\n`);
    const chunks = cutAt(
      bytes,
      Array.from({ length: 500 }, (_, i) => i * 401),
    );
    expect(parse(chunks).events).toEqual([message(text), message("b")]);
  });

  it("does not depend on a chunk after push, not even on a Node Buffer", () => {
    const events: SseEvent[] = [];
    const parser = createSseParser({ onEvent: (event) => events.push(event) });
    const reused = Buffer.alloc(4);
    for (const part of ["data", ": ab", "cd\n\n"]) {
      reused.fill(part);
      parser.push(reused);
    }
    expect(events).toEqual([message("abcd")]);
  });

  it.each([
    ["", false],
    ["data: a\n\n", false],
    ["data: a\n\n: comm", false],
    ["data: a\n\n: comment\n", false],
    ["retry: 5\n", false],
    ["data: a\n\r", false],
    ["data: a\n", true],
    ["data: a", true],
    ["data: a\n\nevent: b\n", true],
    ["id: 4\n", true],
    ["data: a\n\nd", true],
    ["\ud83d", true],
  ])("says of a stream that ends with %j whether it ended inside an event", (stream, midEvent) => {
    const { ending, events } = parse([stream]);
    expect(ending.midEvent).toBe(midEvent);
    expect(events).toHaveLength(stream.startsWith("data: a\n\n") || stream === "data: a\n\r" ? 1 : 0);
  });

  it("resumes after the last closed event, not after one that was cut", () => {
    expect(parse(["id: 1\ndata: a\n\nid: 2\ndata: b\n"]).ending.lastEventId).toBe("1");
  });

  it("throws what a callback threw, now and for every later push", () => {
    const parser = createSseParser({
      onEvent: () => {
        throw new RangeError("no more");
      },
    });
    expect(() => parser.push("data: a\n\n")).toThrow(RangeError);
    expect(() => parser.push("data: b\n\n")).toThrow("no more");
  });
});

describe("limits of createSseParser", () => {
  function failing(chunks: readonly (Uint8Array | string)[], limits: SseLimits) {
    const events: SseEvent[] = [];
    const parser = createSseParser({ ...limits, onEvent: (event) => events.push(event) });
    let error: unknown;
    try {
      for (const chunk of chunks) parser.push(chunk);
    } catch (thrown) {
      error = thrown;
    }
    return { events, error, parser };
  }

  it("accepts a line of exactly the limit and refuses one byte more, counted in bytes", () => {
    const limits = { maxLineBytes: 10 };
    expect(parse(["data: abcd\n\n"], limits).events).toHaveLength(1);
    expect(parse(["data: éé\r\n\r\n"], limits).events).toHaveLength(1);
    for (const line of ["data: abcde\n", "data: ééa\n", "data: abcde", ": comments!\n"]) {
      const { error } = failing([line], limits);
      expect(SseLimitError.isInstance(error)).toBe(true);
      expect(error).toMatchObject({ name: "SseLimitError", code: "sse_line_too_long", limit: 10 });
      expect((error as Error).message).toBe(
        "sse_line_too_long: a line of the event stream is longer than 10 bytes",
      );
    }
  });

  it("refuses an endless line before its end has come", () => {
    const { error } = failing(["data: ", "0123456789", "0123456789"], { maxLineBytes: 20 });
    expect(error).toMatchObject({ code: "sse_line_too_long" });
  });

  it("refuses an event that grows line by line", () => {
    const lines = Array.from({ length: 100 }, () => "data: 0123456789\n");
    const { error, events } = failing(["data: before\n\n", ...lines], { maxEventBytes: 500 });
    expect(error).toMatchObject({ name: "SseLimitError", code: "sse_event_too_large", limit: 500 });
    expect((error as Error).message).toBe(
      "sse_event_too_large: an event of the event stream is larger than 500 bytes",
    );
    expect(events).toEqual([message("before")]);
  });

  it("counts the lines that an event with data ignores, but not comments between events", () => {
    const comments = ": 0123456789\n".repeat(100);
    expect(
      parse([comments, "data: a\n\n", comments, "data: b\n\n"], { maxEventBytes: 50 }).events,
    ).toHaveLength(2);
    expect(failing(["data: a\n", comments], { maxEventBytes: 50 }).error).toMatchObject({
      code: "sse_event_too_large",
    });
  });

  it("counts an event in bytes, and starts again with the next one", () => {
    const limits = { maxEventBytes: 8 };
    expect(parse(["data: éééé\n\ndata: 12345678\n\n"], limits).events).toHaveLength(2);
    expect(parse(["data: 😀😀\n\n"], limits).events).toHaveLength(1);
    expect(failing(["data: ééééa\n\n"], limits).error).toMatchObject({ code: "sse_event_too_large" });
    expect(failing(["data: €€€\n\n"], limits).error).toMatchObject({ code: "sse_event_too_large" });
  });

  it("counts the first data value and every line after it", () => {
    const stream = "data: 1234\ndata: 12345678\n\n";
    expect(parse([stream], { maxEventBytes: 18 }).events).toHaveLength(1);
    expect(failing([stream], { maxEventBytes: 17 }).error).toMatchObject({ code: "sse_event_too_large" });
  });

  it("stays failed", () => {
    const { error, parser } = failing(["data: 0123456789\n"], { maxLineBytes: 5 });
    expect(() => parser.push("\n\n")).toThrow(error as Error);
  });

  it("gives the same events and the same error for every way to cut the stream", () => {
    const lines = fc.constantFrom(
      "data: 12345",
      "data: é€😀",
      "data: 1234567890",
      ": c",
      "event: abcdefg",
      "",
    );
    fc.assert(
      fc.property(
        fc.array(lines, { maxLength: 30 }),
        fc.constantFrom("\n", "\r", "\r\n"),
        fc.array(fc.nat(), { maxLength: 20 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 40 }),
        (streamLines, lineEnd, places, maxLineBytes, maxEventBytes) => {
          const bytes = bytesOf(streamLines.map((line) => line + lineEnd).join(""));
          const limits = { maxLineBytes, maxEventBytes };
          const whole = failing([bytes], limits);
          const cut = failing(cutAt(bytes, places), limits);
          expect(cut.events).toEqual(whole.events);
          expect(cut.error).toEqual(whole.error);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("createSseParser beside eventsource-parser", () => {
  interface OracleReading {
    events: { id: string | undefined; event: string; data: string }[];
    comments: string[];
    retries: number[];
  }

  function oracle(bytes: Uint8Array): OracleReading {
    const reading: OracleReading = { events: [], comments: [], retries: [] };
    const parser = createParser({
      onEvent: ({ id, event, data }) => reading.events.push({ id, event: event ?? "message", data }),
      onComment: (text) => reading.comments.push(text),
      onRetry: (delayMs) => reading.retries.push(delayMs),
    });
    const text = new TextDecoder().decode(bytes);
    // The parser holds back a CR at the very end until it knows whether an LF follows.
    parser.feed(text.endsWith("\r") ? `${text}\n` : text);
    return reading;
  }

  function expectSame(reading: Reading, expected: OracleReading): void {
    expect(reading.events.map(({ event, data }) => ({ event, data }))).toEqual(
      expected.events.map(({ event, data }) => ({ event, data })),
    );
    // The parser knows only the ids of single events, and none from an event without data.
    for (const [i, { id }] of expected.events.entries()) {
      if (id !== undefined) expect(reading.events[i]?.lastEventId).toBe(id);
    }
    expect(reading.comments).toEqual(expected.comments);
    expect(reading.retries).toEqual(expected.retries);
  }

  const value = fc.string({ unit: "binary", maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, ""));
  const line = fc.oneof(
    { weight: 6, arbitrary: value.map((text) => `data: ${text}`) },
    { weight: 2, arbitrary: value.map((text) => `data:${text}`) },
    { weight: 4, arbitrary: fc.constant("") },
    { weight: 2, arbitrary: value.map((text) => `event: ${text}`) },
    { weight: 2, arbitrary: value.map((text) => `id: ${text}`) },
    { weight: 1, arbitrary: fc.nat().map((delay) => `retry: ${delay}`) },
    { weight: 1, arbitrary: value.map((text) => `: ${text}`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("data", "event", "id", "retry", ":", "dat", "events: x", "idx", "retry: 1x"),
    },
    { weight: 1, arbitrary: value },
  );
  const lineEnd = fc.constantFrom("\n", "\n", "\r", "\r\n");
  const stream = fc
    .tuple(fc.constantFrom("", "", "\ufeff"), fc.array(fc.tuple(line, lineEnd), { maxLength: 40 }), value)
    .map(([mark, lines, rest]) => mark + lines.flat().join("") + rest);
  const places = fc.array(fc.nat(), { maxLength: 30 });

  it("reads the same from any stream, cut anywhere between its bytes", () => {
    fc.assert(
      fc.property(stream, places, (text, cuts) => {
        const bytes = bytesOf(text);
        const expected = oracle(bytes);
        expectSame(parse([bytes]), expected);
        expectSame(parse(cutAt(bytes, cuts)), expected);
        expectSame(parse(Array.from(bytes, (byte) => Uint8Array.of(byte))), expected);
      }),
      { numRuns: 1000 },
    );
  });

  it("reads the same from strings, cut anywhere between their units", () => {
    fc.assert(
      fc.property(stream, places, (text, cuts) => {
        expectSame(parse(cutAt(text, cuts)), oracle(bytesOf(text)));
      }),
      { numRuns: 500 },
    );
  });

  it("reads the same from bytes that are not valid UTF-8", () => {
    const byte = fc.oneof(
      fc.constantFrom(...bytesOf("\r\n: data"), 0xef, 0xbb, 0xbf, 0xe2, 0x82, 0xf0, 0x9f, 0xc3, 0x80, 0xff),
      fc.integer({ min: 0, max: 255 }),
    );
    const noise = fc.array(byte, { maxLength: 20 }).map((bytes) => Uint8Array.from(bytes));
    const part = fc.oneof(noise, stream.map(bytesOf));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), places, (parts, cuts) => {
        const bytes = Uint8Array.from(parts.flatMap((each) => [...each]));
        const expected = oracle(bytes);
        expectSame(parse([bytes]), expected);
        expectSame(parse(cutAt(bytes, cuts)), expected);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("createSseParser beside the words of the standard", () => {
  /** Runs the standard's algorithm literally, over the whole text at once. */
  function interpret(text: string): { events: SseEvent[]; lastEventId: string } {
    const events: SseEvent[] = [];
    let [dataBuffer, typeBuffer, idBuffer, lastEventId] = ["", "", "", ""];
    const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
    // Text after the last line end is not a line.
    for (const each of lines.slice(0, -1)) {
      if (each === "") {
        lastEventId = idBuffer;
        if (dataBuffer !== "") {
          events.push({ event: typeBuffer || "message", data: dataBuffer.replace(/\n$/, ""), lastEventId });
        }
        dataBuffer = "";
        typeBuffer = "";
        continue;
      }
      const [, field, rest] = /^([^:]*):? ?(.*)$/s.exec(each) ?? [];
      if (field === "event") typeBuffer = rest ?? "";
      else if (field === "data") dataBuffer += `${rest}\n`;
      else if (field === "id" && !rest?.includes("\0")) idBuffer = rest ?? "";
    }
    return { events, lastEventId };
  }

  it("gives each event the id that the standard gives it", () => {
    const line = fc.constantFrom(
      "id: 1",
      "id: 22",
      "id",
      "id: 3\0",
      "event: e",
      "data: x",
      "data",
      ": c",
      "",
      "",
      "",
    );
    const stream = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r", "\r\n")), { maxLength: 30 });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 10 }), (lines, cuts) => {
        const text = lines.flat().join("");
        const { events, ending } = parse(cutAt(bytesOf(text), cuts));
        const expected = interpret(text);
        expect(events).toEqual(expected.events);
        expect(ending.lastEventId).toBe(expected.lastEventId);
      }),
      { numRuns: 1000 },
    );
  });
});
