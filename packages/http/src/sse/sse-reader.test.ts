import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import type { ByteSource } from "../response/http-response.js";
import type { SseEnding, SseEvent } from "./sse-parser.js";
import { consumeSse, readSse, readSseBatches } from "./sse-reader.js";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const dataOf = (events: readonly SseEvent[]): string[] => events.map((event) => event.data);

/**
 * Creates a source on a web stream, as a fetch response is; `cancelled` resolves when its body is given up.
 */
function webSource(chunks: readonly string[], failure?: Error) {
  let onCancel: (reason: unknown) => void = () => {};
  const cancelled = new Promise<unknown>((resolve) => {
    onCancel = resolve;
  });
  const rest = [...chunks];
  const source: ByteSource = {
    body: new ReadableStream<Uint8Array>({
      pull(controller) {
        const chunk = rest.shift();
        if (chunk !== undefined) controller.enqueue(bytesOf(chunk));
        else if (failure !== undefined) controller.error(failure);
        else controller.close();
      },
      cancel: (reason) => onCancel(reason),
    }),
  };
  return { source, cancelled };
}

/** Creates a source with a push path that the test controls. */
function pushSource() {
  let onChunk: ((chunk: Uint8Array) => void | Promise<void>) | undefined;
  let end: () => void = () => {};
  let fail: (error: unknown) => void = () => {};
  let cancels = 0;
  const source: ByteSource = {
    get body(): never {
      throw new Error("the push path is there to be used");
    },
    consume(take) {
      onChunk = take;
      return new Promise((resolve, reject) => {
        end = resolve;
        fail = reject;
      });
    },
    cancel() {
      cancels++;
      end();
    },
  };
  const push = (text: string): void | Promise<void> => {
    if (onChunk === undefined) throw new Error("the source is not read yet");
    return onChunk(bytesOf(text));
  };
  return { source, push, end: () => end(), fail: (error: unknown) => fail(error), cancels: () => cancels };
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

describe("readSse", () => {
  it("yields the events of a web stream in order", async () => {
    const { source } = webSource(["data: a\n\nda", "ta: b\n", "\nid: 1\nevent: e\ndata: c\n\n"]);
    expect(await collect(readSse(source))).toEqual([
      { event: "message", data: "a", lastEventId: "" },
      { event: "message", data: "b", lastEventId: "" },
      { event: "e", data: "c", lastEventId: "1" },
    ]);
  });

  it("reads a response of fetch while it is still being sent, and closes its socket when the loop is left", async () => {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const requested = once(server, "request");
      const { port } = server.address() as AddressInfo;
      const responding = fetch(`http://127.0.0.1:${port}/`);
      const [, sending] = (await requested) as [unknown, ServerResponse];
      sending.writeHead(200, { "content-type": "text/event-stream" });
      sending.write("data: one\n\n");
      const closed = once(sending, "close");
      const seen: string[] = [];
      for await (const event of readSse(await responding)) {
        seen.push(event.data);
        if (event.data === "two") break;
        sending.write("data: two\n\n");
      }
      expect(seen).toEqual(["one", "two"]);
      await closed;
      expect(sending.writableFinished).toBe(false);
    } finally {
      server.close();
    }
  });

  it("yields nothing from a response without a body", async () => {
    const endings: SseEnding[] = [];
    expect(await collect(readSse({ body: null }, { onEnd: (ending) => endings.push(ending) }))).toEqual([]);
    expect(endings).toEqual([{ midEvent: false, lastEventId: "" }]);
  });

  it("reports comments and retry on the way", async () => {
    const comments: string[] = [];
    const retries: number[] = [];
    const { source } = webSource([": hi\nretry: 10\n\n"]);
    const options = {
      onComment: (text: string) => comments.push(text),
      onRetry: (ms: number) => retries.push(ms),
    };
    expect(await collect(readSse(source, options))).toEqual([]);
    expect({ comments, retries }).toEqual({ comments: ["hi"], retries: [10] });
  });

  it("reports at the end whether the stream broke off inside an event", async () => {
    const endings: SseEnding[] = [];
    const onEnd = (ending: SseEnding) => endings.push(ending);
    expect(await collect(readSse(webSource(["id: 1\ndata: a\n\n"]).source, { onEnd }))).toHaveLength(1);
    expect(await collect(readSse(webSource(["id: 1\ndata: a\n\ndata: b"]).source, { onEnd }))).toHaveLength(
      1,
    );
    expect(endings).toEqual([
      { midEvent: false, lastEventId: "1" },
      { midEvent: true, lastEventId: "1" },
    ]);
  });

  it("throws the failure of the source after the events before it, and reports no ending", async () => {
    const endings: SseEnding[] = [];
    const seen: string[] = [];
    const { source } = webSource(["data: a\n\ndata: b\n\n"], new Error("reset"));
    const reading = (async () => {
      for await (const event of readSse(source, { onEnd: (ending) => endings.push(ending) }))
        seen.push(event.data);
    })();
    await expect(reading).rejects.toThrow("reset");
    expect(seen).toEqual(["a", "b"]);
    expect(endings).toEqual([]);
  });

  it("throws past a limit after the events before it, and gives up the rest of the body", async () => {
    const { source, cancelled } = webSource(["data: a\n\ndata: 0123456789\n\n", "data: c\n\n"]);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of readSse(source, { maxLineBytes: 10 })) seen.push(event.data);
    })();
    await expect(reading).rejects.toMatchObject({ code: "sse_line_too_long", limit: 10 });
    expect(seen).toEqual(["a"]);
    expect(await cancelled).toMatchObject({ code: "sse_line_too_long" });
  });

  it("holds the source until the last event of a chunk is taken", async () => {
    const { source, push } = pushSource();
    const events = readSse(source);
    const first = events.next();
    let held = true;
    const released = Promise.resolve(push("data: a\n\ndata: b\n\ndata: c\n\n")).then(() => {
      held = false;
    });
    expect((await first).value?.data).toBe("a");
    expect((await events.next()).value?.data).toBe("b");
    expect(held).toBe(true);
    expect((await events.next()).value?.data).toBe("c");
    await released;
    await events.return();
  });

  it("gives up the rest of a web stream when the loop is left", async () => {
    const { source, cancelled } = webSource([
      "data: a\n\n",
      ...Array.from({ length: 9 }, () => "data: b\n\n"),
    ]);
    for await (const event of readSse(source)) {
      expect(event.data).toBe("a");
      break;
    }
    await cancelled;
  });

  it("fails on a body that is already being read", async () => {
    const { source } = webSource(["data: a\n\n"]);
    source.body?.getReader();
    await expect(collect(readSse(source))).rejects.toThrow(TypeError);
  });
});

describe("readSseBatches", () => {
  it("yields what one chunk brought as one batch, and no empty batch", async () => {
    const { source, push, end } = pushSource();
    const batches = readSseBatches(source);
    const first = batches.next();
    push("data: a\n\ndata: b\n\nda");
    expect(dataOf((await first).value ?? [])).toEqual(["a", "b"]);
    const second = batches.next();
    push("ta: c\n");
    push(": nothing\n");
    push("\n");
    expect(dataOf((await second).value ?? [])).toEqual(["c"]);
    const last = batches.next();
    end();
    expect(await last).toEqual({ done: true, value: undefined });
  });

  it("holds the source while a batch waits to be taken, and no longer", async () => {
    const { source, push } = pushSource();
    const batches = readSseBatches(source);
    const first = batches.next();
    expect(push("data: a\n\n")).toBeUndefined();
    await first;
    const held = push("data: b\n\n");
    expect(held).toBeInstanceOf(Promise);
    expect(dataOf((await batches.next()).value ?? [])).toEqual(["b"]);
    await held;
    const third = batches.next();
    expect(push("data: c\n\n")).toBeUndefined();
    expect(dataOf((await third).value ?? [])).toEqual(["c"]);
    await batches.return();
  });

  it("loses nothing when the source ends or fails while a batch waits", async () => {
    const ended = pushSource();
    const endedBatches = readSseBatches(ended.source);
    const first = endedBatches.next();
    ended.push("data: a\n\n");
    await first;
    ended.push("data: b\n\n");
    ended.end();
    expect((await collect(endedBatches)).map(dataOf)).toEqual([["b"]]);

    const failed = pushSource();
    const failedBatches = readSseBatches(failed.source);
    const waiting = failedBatches.next();
    failed.push("data: a\n\n");
    await waiting;
    failed.push("data: b\n\n");
    failed.fail(new Error("stalled"));
    expect(dataOf((await failedBatches.next()).value ?? [])).toEqual(["b"]);
    await expect(failedBatches.next()).rejects.toThrow("stalled");
    expect(await failedBatches.next()).toEqual({ done: true, value: undefined });
  });

  it("cancels a source once when it is left, and not when the source has ended", async () => {
    const left = pushSource();
    const batches = readSseBatches(left.source);
    const first = batches.next();
    left.push("data: a\n\n");
    await first;
    const held = left.push("data: b\n\n");
    await batches.return();
    await held;
    expect(left.cancels()).toBe(1);
    expect(() => left.push("data: c\n\n")).toThrow();

    const ended = pushSource();
    const all = collect(readSseBatches(ended.source));
    ended.end();
    await all;
    expect(ended.cancels()).toBe(0);
  });

  it("reads a web stream no further than one chunk ahead", async () => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          pulls++;
          controller.enqueue(bytesOf(`data: ${pulls}\n\n`));
        },
      },
      { highWaterMark: 0 },
    );
    const batches = readSseBatches({ body });
    await batches.next();
    // Anything read without a request would be read in the microtasks before this timer.
    await new Promise((resolve) => setTimeout(resolve));
    expect(pulls).toBe(2);
    expect(dataOf((await batches.next()).value ?? [])).toEqual(["2"]);
    await batches.return();
  });

  it("ends a pending call when it is left, and reports no ending", async () => {
    const { source, cancels } = pushSource();
    const endings: SseEnding[] = [];
    const batches = readSseBatches(source, { onEnd: (ending) => endings.push(ending) });
    const pending = batches.next();
    await batches.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(cancels()).toBe(1);
    await new Promise((resolve) => setTimeout(resolve));
    expect(endings).toEqual([]);
  });

  it("gives up a body that nobody began to read", async () => {
    const { source, cancelled } = webSource(["data: a\n\n"]);
    await readSseBatches(source).return();
    await cancelled;
  });

  it("answers calls that do not wait for each other in their order", async () => {
    const { source, push, end } = pushSource();
    const batches = readSseBatches(source);
    const calls = [batches.next(), batches.next(), batches.next(), batches.next()];
    push("data: a\n\n");
    push("data: b\n\n");
    end();
    const results = await Promise.all(calls);
    expect(results.map(({ value }) => value && dataOf(value))).toEqual([["a"], ["b"], undefined, undefined]);
  });

  it("throws what a callback threw", async () => {
    const { source, cancelled } = webSource([": a\n", ": b\n"]);
    const onComment = () => {
      throw new RangeError("no comment");
    };
    await expect(collect(readSseBatches(source, { onComment }))).rejects.toThrow(RangeError);
    await cancelled;
  });
});

describe("consumeSse", () => {
  it("calls back for each event and resolves with the ending", async () => {
    const seen: string[] = [];
    const onEvent = (event: SseEvent) => seen.push(event.data);
    const web = webSource(["data: a\n\nid: 4\nda", "ta: b\n\ndata: cut"]);
    expect(await consumeSse(web.source, { onEvent })).toEqual({ midEvent: true, lastEventId: "4" });
    const pushed = pushSource();
    const ending = consumeSse(pushed.source, { onEvent });
    pushed.push("data: c\n\n");
    pushed.end();
    expect(await ending).toEqual({ midEvent: false, lastEventId: "" });
    expect(seen).toEqual(["a", "b", "c"]);
  });

  it("rejects with what a callback threw and gives up the rest of the body", async () => {
    const { source, cancelled } = webSource(["data: a\n\n", "data: b\n\n"]);
    const onEvent = () => {
      throw new RangeError("enough");
    };
    await expect(consumeSse(source, { onEvent })).rejects.toThrow("enough");
    expect(await cancelled).toBeInstanceOf(RangeError);
  });

  it("rejects with the failure of the source", async () => {
    const { source } = webSource([], new Error("reset"));
    await expect(consumeSse(source, { onEvent: () => {} })).rejects.toThrow("reset");
  });
});
