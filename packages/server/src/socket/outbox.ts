import type { Duplex } from "node:stream";
import type { WsServerMessage } from "@parley/wire";
import { arrayFrame, frameBytes, jsonBytes } from "../stream/frame-bytes.js";
import { concatBytes, createByteJoiner } from "../stream/join-bytes.js";
import { type Flushable, flushSoon } from "../stream/tick.js";

/** Up to here it is cheaper to copy the frames into one than to pass them on one by one. */
const copiedBytes = 64_000;

const batchOf = createByteJoiner(arrayFrame);

/** A ping without a payload, as one frame (RFC 6455, section 5.5.2). */
const pingFrame = Buffer.from([0x89, 0]);

/**
 * Frames on their way to one socket. They are made once for all sockets and written as they are, past the socket
 * library: without compression and masks there is nothing left for it to do. All frames of a tick are written at once.
 */
export class Outbox implements Flushable {
  readonly #connection: Duplex;
  readonly #isBatch: boolean;
  readonly #bufferedBytes: number;
  readonly #onBehind: () => void;
  /** The frames of this tick. Mostly one: it needs no list. */
  #first: Buffer | undefined;
  #further: Buffer[] | undefined;
  #pendingBytes = 0;
  #isClosed = false;

  constructor(options: {
    /** The connection below the socket. */
    readonly connection: Duplex;
    /** Several messages per frame. */
    readonly isBatch: boolean;
    readonly bufferedBytes: number;
    /** Called once, when the reader is too far behind; later messages are dropped. */
    readonly onBehind: () => void;
  }) {
    this.#connection = options.connection;
    this.#isBatch = options.isBatch;
    this.#bufferedBytes = options.bufferedBytes;
    this.#onBehind = options.onBehind;
  }

  /**
   * Adds a message. Touches only the outbox: with many sockets memory access is the cost, and `flush` needs the rest
   * anyway.
   */
  add(message: WsServerMessage): void {
    if (this.#isClosed) return;
    const bytes = this.#isBatch ? jsonBytes(message) : frameBytes(message);
    this.#pendingBytes += bytes.length;
    if (this.#first === undefined) {
      this.#first = bytes;
      flushSoon(this);
      return;
    }
    if (this.#further === undefined) this.#further = [bytes];
    else this.#further.push(bytes);
    // Much may be added within one tick, which is not the reader's fault: the connection gets a chance to send first.
    if (this.#pendingBytes > this.#bufferedBytes) this.flush();
  }

  flush(): void {
    const first = this.#first;
    if (first === undefined) return;
    const further = this.#further;
    const bytes = this.#pendingBytes;
    this.#first = undefined;
    this.#further = undefined;
    this.#pendingBytes = 0;
    const connection = this.#connection;
    if (!connection.writable) return;
    if (connection.writableLength > this.#bufferedBytes) {
      this.#isClosed = true;
      this.#onBehind();
      return;
    }
    if (further === undefined) connection.write(this.#isBatch ? batchOf([first]) : first);
    else if (this.#isBatch) connection.write(batchOf([first, ...further]));
    else if (bytes <= copiedBytes) connection.write(concatBytes([first, ...further]));
    else {
      connection.cork();
      connection.write(first);
      for (const frame of further) connection.write(frame);
      connection.uncork();
    }
  }

  /** Sends the peer a ping, after what is pending. */
  ping(): void {
    if (this.#isClosed) return;
    this.flush();
    if (this.#connection.writable) this.#connection.write(pingFrame);
  }

  /** Writes what is pending and accepts nothing more: what the socket sends next comes after it. */
  close(): void {
    this.flush();
    this.#isClosed = true;
  }
}
