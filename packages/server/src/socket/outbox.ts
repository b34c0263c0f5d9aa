import type { Duplex } from "node:stream";
import type { WsServerMessage } from "@parley/wire";
import { arrayFrame, frameBytes, jsonBytes } from "../stream/frame-bytes.js";
import { concatBytes, createByteJoiner } from "../stream/join-bytes.js";
import { type Flushable, flushSoon } from "../stream/tick.js";

/** Up to here it is cheaper to copy the frames into one than to hand them over one by one. */
const copiedBytes = 64_000;

const batchOf = createByteJoiner(arrayFrame);

/**
 * What is on its way to one socket. Frames are made once for all sockets and written as they are, past the socket
 * library: without compression and masks there is nothing left for it to do. All that a tick brings is written at once.
 */
export class Outbox implements Flushable {
  readonly #connection: Duplex;
  readonly #isBatch: boolean;
  readonly #bufferedBytes: number;
  readonly #onBehind: () => void;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #isClosed = false;

  constructor(options: {
    /** The connection below the socket. */
    readonly connection: Duplex;
    /** Several messages per frame. */
    readonly isBatch: boolean;
    readonly bufferedBytes: number;
    /** Called once, when the reader is too far behind; nothing is taken any more. */
    readonly onBehind: () => void;
  }) {
    this.#connection = options.connection;
    this.#isBatch = options.isBatch;
    this.#bufferedBytes = options.bufferedBytes;
    this.#onBehind = options.onBehind;
  }

  add(message: WsServerMessage): void {
    if (this.#isClosed) return;
    if (this.#behind > this.#bufferedBytes) {
      // Much may have come within one tick, which is not the reader's fault: first see what the connection takes.
      this.flush();
      if (this.#behind > this.#bufferedBytes) {
        this.#isClosed = true;
        this.#onBehind();
        return;
      }
    }
    const bytes = this.#isBatch ? jsonBytes(message) : frameBytes(message);
    this.#pendingBytes += bytes.length;
    if (this.#pending.push(bytes) === 1) flushSoon(this);
  }

  get #behind(): number {
    return this.#connection.writableLength + this.#pendingBytes;
  }

  flush(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    const bytes = this.#pendingBytes;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (this.#connection.destroyed || this.#connection.writableEnded) return;
    if (this.#isBatch) this.#connection.write(batchOf(pending));
    else if (bytes <= copiedBytes) this.#connection.write(concatBytes(pending));
    else {
      this.#connection.cork();
      for (const frame of pending) this.#connection.write(frame);
      this.#connection.uncork();
    }
  }

  /** Writes what is pending and takes nothing more: what the socket sends next comes behind it. */
  close(): void {
    this.flush();
    this.#isClosed = true;
  }
}
