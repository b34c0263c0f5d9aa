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

/** What the reading functions return: iterate over it once, with `for await` or by hand. */
export interface SseReading<T> extends AsyncIterableIterator<T> {
  next(): Promise<IteratorResult<T, undefined>>;
  /** Gives up the rest of the body, also while a `next` is pending, which then says that it is done. */
  return(): Promise<IteratorResult<T, undefined>>;
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
 * Iterates over the events of a source, one by one. It costs a promise per event: where that matters, take
 * {@link readSseBatches}, to which everything else said there applies.
 */
export function readSse(source: ByteSource, options: ReadSseOptions = {}): SseReading<SseEvent> {
  return new PulledEvents(source, options, (queue) => queue.shift());
}

/**
 * Iterates over the events of a source in batches, none of them empty: what has arrived when the loop asks for
 * more, so no event is held back for another. Nothing is read before the first batch is asked for, and the
 * source is held while events wait to be taken. A failure is thrown after all events that came before it.
 * Leaving the loop gives up the rest of the body.
 */
export function readSseBatches(
  source: ByteSource,
  options: ReadSseOptions = {},
): SseReading<readonly SseEvent[]> {
  return new PulledEvents(source, options, (queue) => queue.takeAll());
}

/** Events in order; taking one does not move the others. */
class EventQueue {
  #events: SseEvent[] = [];
  #taken = 0;

  get isEmpty(): boolean {
    return this.#taken === this.#events.length;
  }

  push(event: SseEvent): void {
    this.#events.push(event);
  }

  /** Must not be called on an empty queue. */
  shift(): SseEvent {
    const event = this.#events[this.#taken++] as SseEvent;
    if (this.isEmpty) this.takeAll();
    return event;
  }

  takeAll(): SseEvent[] {
    const rest = this.#taken === 0 ? this.#events : this.#events.slice(this.#taken);
    this.#events = [];
    this.#taken = 0;
    return rest;
  }
}

interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Turns pushed chunks into pulled values. Either callers of `next` wait for events (`waiters`), or events wait
 * for the next call (`queue`) and the source is held meanwhile (`releaseSource`); never both.
 *
 * Written out because an async generator costs four promises per value instead of one: on a paced stream, where
 * every chunk brings one event, that is a quarter of the reader's CPU.
 */
class PulledEvents<T> implements SseReading<T> {
  readonly #bytes: PushedBytes;
  readonly #options: ReadSseOptions;
  readonly #take: (queue: EventQueue) => T;
  readonly #queue = new EventQueue();
  readonly #waiters: Waiter<T>[] = [];
  #releaseSource: (() => void) | undefined;
  #state: "new" | "reading" | "over" = "new";
  #failure: { readonly error: unknown } | undefined;

  constructor(source: ByteSource, options: ReadSseOptions, take: (queue: EventQueue) => T) {
    this.#bytes = pushedBytes(source);
    this.#options = options;
    this.#take = take;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#state === "new") this.#start();
    if (!this.#queue.isEmpty) {
      const value = this.#take(this.#queue);
      if (this.#queue.isEmpty) this.#release();
      return Promise.resolve({ done: false, value });
    }
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      if (this.#state === "over") this.#answerWaiters();
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    if (this.#state !== "over") {
      this.#state = "over";
      this.#bytes.cancel();
    }
    this.#queue.takeAll();
    this.#failure = undefined;
    this.#release();
    this.#answerWaiters();
    return Promise.resolve({ done: true, value: undefined });
  }

  #start(): void {
    this.#state = "reading";
    const { onEnd, ...limits } = this.#options;
    const parser = createSseParser({ ...limits, onEvent: (event) => this.#queue.push(event) });
    const reading = this.#bytes.consume((chunk) => {
      if (this.#state === "over") throw new Error("the event stream is no longer read");
      parser.push(chunk);
      return this.#deliver();
    });
    reading
      .then(() => {
        if (this.#state === "reading") onEnd?.(parser.end());
      })
      .catch((error: unknown) => {
        if (this.#state === "reading") this.#failure = { error };
      })
      .then(() => {
        this.#state = "over";
        this.#answerWaiters();
      });
  }

  #deliver(): void | Promise<void> {
    this.#answerWaiters();
    if (this.#queue.isEmpty) return;
    return new Promise((resolve) => {
      this.#releaseSource = resolve;
    });
  }

  #answerWaiters(): void {
    while (this.#waiters.length > 0) {
      if (!this.#queue.isEmpty) {
        this.#waiters.shift()?.resolve({ done: false, value: this.#take(this.#queue) });
      } else if (this.#failure !== undefined) {
        // Thrown once: after it the iteration is over.
        this.#waiters.shift()?.reject(this.#failure.error);
        this.#failure = undefined;
      } else if (this.#state === "over") {
        this.#waiters.shift()?.resolve({ done: true, value: undefined });
      } else {
        return;
      }
    }
  }

  #release(): void {
    this.#releaseSource?.();
    this.#releaseSource = undefined;
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
    async consume(onChunk) {
      if (source.consume !== undefined) return source.consume(onChunk);
      if (source.body === null) return;
      reader = source.body.getReader();
      await consumeReader(reader, onChunk);
    },
    cancel() {
      if (source.cancel !== undefined) source.cancel();
      else (reader ?? source.body)?.cancel().catch(() => {});
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
