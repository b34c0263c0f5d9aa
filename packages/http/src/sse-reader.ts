import type { ByteSource } from "./http-response.js";
import {
  createSseParser,
  type SseEnding,
  type SseEvent,
  type SseLimits,
  type SseParserOptions,
} from "./sse-parser.js";

/** Options of the readers that are iterated. */
export interface ReadSseOptions extends SseLimits {
  /** Called when the source has ended by itself, after its last event; not after a failure or a `break`. */
  readonly onEnd?: (ending: SseEnding) => void;
}

/**
 * Reads a source to its end and calls back for each event: the cheapest way, with no promise per event.
 * Rejects with `SseLimitError` or whatever a callback threw, both of which give up the rest of the body, or with
 * the failure of the source.
 */
export async function consumeSse(source: ByteSource, options: SseParserOptions): Promise<SseEnding> {
  const parser = createSseParser(options);
  await pushedBytes(source).consume((chunk) => parser.push(chunk));
  return parser.end();
}

/**
 * Iterates over the events of a source, one by one. Leaving the loop early gives up the rest of the body.
 * It costs a promise per event: where that matters, take {@link readSseBatches}.
 */
export async function* readSse(
  source: ByteSource,
  options: ReadSseOptions = {},
): AsyncGenerator<SseEvent, void, undefined> {
  for await (const events of readSseBatches(source, options)) {
    for (const event of events) yield event;
  }
}

/**
 * Iterates over the events of a source in batches, none of them empty: what has arrived when the loop asks for
 * more, so no event is held back for another. The source is held while a batch waits to be taken. A failure is
 * thrown after all events that came before it. Leaving the loop early gives up the rest of the body.
 */
export async function* readSseBatches(
  source: ByteSource,
  options: ReadSseOptions = {},
): AsyncGenerator<readonly SseEvent[], void, undefined> {
  const { onEnd, ...limits } = options;
  const bytes = pushedBytes(source);
  let batch: SseEvent[] = [];
  const parser = createSseParser({ ...limits, onEvent: (event) => void batch.push(event) });
  // At most one of these is set: the loop waits for events, or the source waits for the loop.
  let wakeLoop: (() => void) | undefined;
  let releaseSource: (() => void) | undefined;
  let outcome: { readonly failed: boolean; readonly error?: unknown } | undefined;
  let left = false;

  const settle = (result: NonNullable<typeof outcome>): void => {
    outcome = result;
    wakeLoop?.();
  };
  const onChunk = (chunk: Uint8Array): void | Promise<void> => {
    if (left) throw new Error("the event stream is no longer read");
    parser.push(chunk);
    if (batch.length === 0) return;
    if (wakeLoop === undefined) {
      return new Promise((resolve) => {
        releaseSource = resolve;
      });
    }
    wakeLoop();
    wakeLoop = undefined;
  };

  try {
    bytes.consume(onChunk).then(
      () => settle({ failed: false }),
      (error: unknown) => settle({ failed: true, error }),
    );
    for (;;) {
      if (batch.length === 0 && outcome === undefined) {
        await new Promise<void>((resolve) => {
          wakeLoop = resolve;
        });
      }
      if (batch.length > 0) {
        const events = batch;
        batch = [];
        releaseSource?.();
        releaseSource = undefined;
        yield events;
      } else if (outcome !== undefined) {
        if (outcome.failed) throw outcome.error;
        onEnd?.(parser.end());
        return;
      }
    }
  } finally {
    left = true;
    if (outcome === undefined) bytes.cancel();
    releaseSource?.();
  }
}

interface PushedBytes {
  consume(onChunk: (chunk: Uint8Array) => void | Promise<void>): Promise<void>;
  cancel(): void;
}

/** The push path of a source: its own where it has one, else one over its web stream. */
function pushedBytes(source: ByteSource): PushedBytes {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return {
    consume: (onChunk) => {
      if (source.consume !== undefined) return source.consume(onChunk);
      if (source.body === null) return Promise.resolve();
      reader = source.body.getReader();
      return consumeReader(reader, onChunk);
    },
    cancel: () => {
      source.cancel?.();
      reader?.cancel().catch(() => {});
    },
  };
}

async function consumeReader(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void | Promise<void>,
): Promise<void> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const held = onChunk(value);
      if (held !== undefined) await held;
    }
  } catch (error) {
    reader.cancel(error).catch(() => {});
    throw error;
  }
}
