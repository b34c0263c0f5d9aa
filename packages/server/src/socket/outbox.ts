import type { Duplex } from "node:stream";
import type { WsServerMessage } from "@parley/wire";
import { arrayFrame, frameBytes, jsonBytes } from "../stream/frame-bytes.js";
import { concatBytes, createByteJoiner } from "../stream/join-bytes.js";
import { type Flushable, flushSoon } from "../stream/tick.js";

/** Up to here it is cheaper to copy the frames into one than to hand them over one by one. */
const copiedBytes = 64_000;

const batchOf = createByteJoiner(arrayFrame);

/** A ping without a payload, as one frame (RFC 6455, section 5.5.2). */
const pingFrame = Buffer.from([0x89, 0]);

/**
 * What is on its way to one socket. Frames are made once for all sockets and written as they are, past the socket
 * library: without compression and masks there is nothing left for it to do. All that a tick brings is written at once.
 */
export class Outbox implements Flushable {
  readonly #connection: Duplex;
  readonly #isBatch: boolean;
  readonly #bufferedBytes: number;
  readonly #onBehind: () => void;
  /** What the tick has brought. Mostly one frame: it needs no list. */
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
    /** Called once, when the reader is too far behind; nothing is taken any more. */
    readonly onBehind: () => void;
  }) {
    this.#connection = options.connection;
    this.#isBatch = options.isBatch;
    this.#bufferedBytes = options.bufferedBytes;
    this.#onBehind = options.onBehind;
  }

  /** Touches nothing but the outbox: with many sockets it is memory that costs, and `flush` needs the rest anyway. */
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
    // Much may come within one tick, which is not the reader's fault: it is seen what the connection takes.
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

  /** Asks the peer for a sign of life, behind what is pending. */
  ping(): void {
    if (this.#isClosed) return;
    this.flush();
    if (this.#connection.writable) this.#connection.write(pingFrame);
  }

  /** Writes what is pending and takes nothing more: what the socket sends next comes behind it. */
  close(): void {
    this.flush();
    this.#isClosed = true;
  }
}
