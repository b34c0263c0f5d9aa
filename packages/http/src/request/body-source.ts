import type { TransportResponse } from "../ports.js";
import type { ByteSource } from "../response/http-response.js";

/** A body that is read once, by push. Both methods follow the contract of {@link ByteSource}. */
export type BodySource = Required<Pick<ByteSource, "consume" | "cancel">>;

/** Receives one chunk; returning a promise delays the next chunk. */
export type OnChunk = (chunk: Uint8Array) => void | Promise<void>;

/** Returns the body of a response, by its push path if it has one, or null if there is no body. */
export function bodyOf(answer: Pick<TransportResponse, "body" | "consume" | "cancel">): BodySource | null {
  const { consume, cancel } = answer;
  if (consume === undefined) return answer.body === null ? null : sourceOfStream(answer.body);
  return {
    consume: (onChunk) => consume.call(answer, onChunk),
    cancel: (reason) => {
      if (cancel !== undefined) cancel.call(answer, reason);
      else answer.body?.cancel(reason).catch(ignore);
    },
  };
}

/**
 * Reads the whole body of a response by pushing each chunk to `onChunk`, also if the response comes from
 * `fetch` and has no push path. Settles as {@link ByteSource.consume} does; without a body, at once.
 */
export async function readBytes(source: ByteSource, onChunk: OnChunk): Promise<void> {
  await bodyOf(source)?.consume(onChunk);
}

/** Creates a body from chunks that are already in memory. */
export function sourceOfChunks(chunks: readonly Uint8Array[]): BodySource {
  let canceled = false;
  return {
    async consume(onChunk) {
      for (const chunk of chunks) {
        if (canceled) return;
        await onChunk(chunk);
      }
    },
    cancel() {
      canceled = true;
    },
  };
}

/** Reads a web stream by push. */
export function sourceOfStream(stream: ReadableStream<Uint8Array>): BodySource {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return {
    async consume(onChunk) {
      const own = stream.getReader();
      reader = own;
      for (;;) {
        const { done, value } = await own.read();
        if (done) return;
        try {
          const wait = onChunk(value);
          if (wait !== undefined) await wait;
        } catch (error) {
          own.cancel(error).catch(ignore);
          throw error;
        }
      }
    },
    cancel(reason) {
      // If another reader has locked the stream, cancelling is refused and the stream is left to that reader.
      (reader ?? stream).cancel(reason).catch(ignore);
    },
  };
}

/** Exposes a pushed body as a web stream that reads no further than requested. */
export function streamOfSource(source: BodySource): ReadableStream<Uint8Array<ArrayBuffer>> {
  let resume: (() => void) | undefined;
  let started = false;
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      pull(controller) {
        if (started) {
          resume?.();
          return;
        }
        started = true;
        source
          .consume((chunk) => {
            // The gate exists before the chunk is enqueued, because enqueueing may pull again at once.
            const gate = new Promise<void>((open) => {
              resume = open;
            });
            controller.enqueue(chunk as Uint8Array<ArrayBuffer>);
            return gate;
          })
          .then(
            () => closeQuietly(controller),
            (error) => controller.error(error),
          );
      },
      cancel(reason) {
        source.cancel(reason);
        resume?.();
      },
    },
    { highWaterMark: 0 },
  );
}

function closeQuietly(controller: ReadableStreamDefaultController): void {
  try {
    controller.close();
  } catch {
    // The reader has cancelled the stream, so it is already closed.
  }
}

/** Thrown by {@link collect} if a body is longer than allowed. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/** Reads a whole body. A body of one chunk is returned as is, without a copy. */
export async function collect(source: BodySource, maxBytes = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
  let first: Uint8Array | undefined;
  let rest: Uint8Array[] | undefined;
  let size = 0;
  await source.consume((chunk) => {
    size += chunk.byteLength;
    if (size > maxBytes) throw new BodyTooLarge(`The body is longer than ${maxBytes} bytes`);
    if (first === undefined) first = chunk;
    else if (rest === undefined) rest = [first, chunk];
    else rest.push(chunk);
  });
  return rest === undefined ? (first ?? EMPTY) : concat(rest, size);
}

/** The start of a body, and a source that yields the body from its start. */
export interface PeekedBody {
  readonly head: Uint8Array;
  /** True if `head` is the whole body. */
  readonly complete: boolean;
  readonly source: BodySource;
}

/** Reads a body up to about `limit` bytes and pauses the rest. */
export async function peek(source: BodySource, limit: number): Promise<PeekedBody> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  let complete = false;
  let sink: OnChunk | undefined;
  let resume: (() => void) | undefined;
  let markFull: () => void = ignore;
  const full = new Promise<void>((resolve) => {
    markFull = resolve;
  });
  const end = source.consume((chunk) => {
    if (sink !== undefined) return sink(chunk);
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size < limit) return;
    markFull();
    return new Promise<void>((open) => {
      resume = open;
    });
  });
  await Promise.race([
    full,
    end.then(() => {
      complete = true;
    }),
  ]);
  // The rest may break before it is read; its reader then gets the error.
  end.catch(ignore);

  const head = chunks.length === 1 ? (chunks[0] ?? EMPTY) : concat(chunks, size);
  let canceled = false;
  return {
    head,
    complete,
    source: {
      async consume(onChunk) {
        if (size > 0) await onChunk(head);
        if (canceled) return;
        sink = onChunk;
        resume?.();
        await end;
      },
      cancel(reason) {
        canceled = true;
        source.cancel(reason);
        resume?.();
      },
    },
  };
}

const EMPTY = new Uint8Array(0);

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

function ignore(): void {}
