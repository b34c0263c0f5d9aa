import type { ServerResponse } from "node:http";
import { ParleyError } from "@parley/core";
import type { Context } from "hono";
import type { AppEnv } from "../app-env.js";
import { concatBytes } from "./join-bytes.js";
import { type Flushable, flushSoon } from "./tick.js";

/**
 * Reason why a stream is over. `left`: the reader has gone. `behind`: it was too slow. `ended`: everything was sent.
 */
export type StreamEnd = "left" | "behind" | "ended";

/** Time that a reader that was cut off has to receive what is on its way to it. */
const lingerMs = 30_000;

/** An answer that is written piece by piece. */
export interface ResponseStream {
  readonly response: Response;
  /** Writes with everything else of this tick. Has no effect once the stream is over. */
  write(bytes: Buffer): void;
  /** Ends the answer after what was written, and after `lastWords`, however far the reader is behind. */
  end(lastWords?: Buffer): void;
  /** Breaks the connection off, so that the reader cannot mistake the received part for the whole answer. */
  cut(): void;
  /**
   * Resolves when the reader is at most half as far behind as it may be, or when the stream is over: for a stream's
   * only writer, if it can wait.
   */
  drained(): Promise<void>;
  /** Resolves when the stream is over, in any way. */
  readonly over: Promise<StreamEnd>;
  /** Bytes that the reader has not taken yet. */
  readonly behind: number;
  /** True if the reader is more than half as far behind as it may be: `drained` would wait. */
  readonly isCrowded: boolean;
}

/**
 * Opens an answer that is written piece by piece. On Node the bytes go to the response itself: a web stream per reader
 * costs more than everything else together. The web stream exists anyway, so that the answer passes through the code
 * around this app like any other; only its beginning and its end are used. Without a Node response, as in a call
 * within the process, the bytes go through it.
 *
 * A reader that is more than `bufferedBytes` behind is cut off, before the next bytes are added, so that each
 * connection brings it at least one step further. That does not happen if the writer waits for `drained`.
 */
export function openResponseStream(
  c: Context<AppEnv>,
  options: {
    readonly headers: Readonly<Record<string, string>>;
    readonly bufferedBytes: number;
  },
): ResponseStream {
  return new OpenStream(c, options);
}

class OpenStream implements ResponseStream, Flushable {
  readonly response: Response;
  readonly over: Promise<StreamEnd>;
  readonly #outgoing: ServerResponse | undefined;
  readonly #bufferedBytes: number;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #ending = false;
  #closed = false;
  #resolveOver: (end: StreamEnd) => void = () => {};
  #resolveDrained: (() => void) | undefined;
  /** Called when the reader has read something. */
  readonly #onTaken = () => this.#resolveDrained?.();

  constructor(
    c: Context<AppEnv>,
    options: { readonly headers: Readonly<Record<string, string>>; readonly bufferedBytes: number },
  ) {
    const outgoing = c.env?.outgoing;
    this.#outgoing = outgoing;
    this.#bufferedBytes = options.bufferedBytes;
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
    const onClose = () => this.#finish("left");
    outgoing?.once("close", onClose);
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: this.#onTaken,
        cancel: onClose,
      },
      new ByteLengthQueuingStrategy({ highWaterMark: options.bufferedBytes }),
    );
    // Proxies and compression hold bytes back until they have enough of them.
    const headers = {
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      ...options.headers,
    };
    this.response = c.body(body, 200, headers);
    // A reader that left before this started emits no further event.
    if (outgoing?.destroyed === true) this.#finish("left");
  }

  get behind(): number {
    const taken =
      this.#outgoing?.writableLength ?? this.#bufferedBytes - (this.#controller?.desiredSize ?? 0);
    return this.#pendingBytes + taken;
  }

  get isCrowded(): boolean {
    return this.behind > this.#bufferedBytes / 2;
  }

  write(bytes: Buffer): void {
    if (this.#closed || this.#ending) return;
    if (this.behind > this.#bufferedBytes) {
      // Much may have been added within one tick, which is not the reader's fault: first see what the connection
      // accepts.
      this.flush();
      if (this.behind > this.#bufferedBytes && this.#outgoing?.headersSent !== false) {
        this.#cutOff();
        return;
      }
    }
    this.#pendingBytes += bytes.length;
    if (this.#pending.push(bytes) === 1) flushSoon(this);
  }

  end(lastWords?: Buffer): void {
    if (this.#closed || this.#ending) return;
    this.#ending = true;
    if (this.#pending.length === 0) flushSoon(this);
    if (lastWords !== undefined) this.#pending.push(lastWords);
  }

  cut(): void {
    if (this.#closed) return;
    const outgoing = this.#outgoing;
    if (outgoing === undefined)
      this.#controller?.error(new ParleyError("network", "The answer was broken off"));
    else outgoing.destroy();
    this.#finish("left");
  }

  async drained(): Promise<void> {
    while (!this.#closed && this.isCrowded) {
      await new Promise<void>((resolve) => {
        this.#resolveDrained = resolve;
      });
    }
  }

  flush(): void {
    if (this.#closed || (this.#pending.length === 0 && !this.#ending)) return;
    if (this.#outgoing !== undefined && !this.#outgoing.headersSent) {
      flushSoon(this);
      return;
    }
    if (this.#pending.length > 0) {
      const bytes = concatBytes(this.#pending);
      this.#pending = [];
      this.#pendingBytes = 0;
      if (this.#outgoing === undefined) this.#controller?.enqueue(bytes);
      else this.#outgoing.write(bytes, this.#onTaken);
    }
    if (this.#ending) this.#close("ended");
  }

  /** Ends it after what was added so far: the reader can have that much, but not forever. */
  #cutOff(): void {
    this.#close("behind");
    const outgoing = this.#outgoing;
    if (outgoing !== undefined) setTimeout(() => outgoing.destroy(), lingerMs).unref();
  }

  #close(end: StreamEnd): void {
    try {
      this.#controller?.close();
    } catch {
      // The reader has canceled it meanwhile.
    }
    this.#finish(end);
  }

  #finish(end: StreamEnd): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pending = [];
    this.#resolveOver(end);
    this.#onTaken();
  }
}
