import type { TransportResponse } from "../ports.js";
import type { ByteSource } from "../response/http-response.js";

/** A body to be read once, by push. The contract of both methods is that of {@link ByteSource}. */
export type BodySource = Required<Pick<ByteSource, "consume" | "cancel">>;

/** Receives one chunk; a promise holds back the next. */
export type OnChunk = (chunk: Uint8Array) => void | Promise<void>;

/** The body of an answer, by its push path where it has one; null where there is no body. */
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
 * Reads the whole body of a response by pushing each chunk to `onChunk`, also where the response is one of `fetch`
 * and has no push path. It ends as {@link ByteSource.consume} says; without a body, at once.
 */
export async function readBytes(source: ByteSource, onChunk: OnChunk): Promise<void> {
  await bodyOf(source)?.consume(onChunk);
}

/** A body that is already there. */
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
      // A stream locked by someone else's reader refuses, which leaves it to that reader.
      (reader ?? stream).cancel(reason).catch(ignore);
    },
  };
}

/** Offers a pushed body as a web stream that reads no further than it is asked to. */
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
    // The stream was cancelled by its reader, so it is closed already.
  }
}

/** Thrown by {@link collect} when a body is longer than allowed. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/** Reads a body whole. A body of one chunk is returned as it came, without a copy. */
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

/** The start of a body, and the body as if nothing had been read of it. */
export interface PeekedBody {
  readonly head: Uint8Array;
  /** Whether `head` is all there is. */
  readonly complete: boolean;
  readonly source: BodySource;
}

/** Reads a body up to about `limit` bytes and holds the rest back. */
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
  // The rest may break while nobody reads it; whoever reads it gets the error then.
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
