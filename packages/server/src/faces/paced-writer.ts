import type { ResponseStream } from "../stream/response-stream.js";

/** Frames that wait for a slow reader before it is cut off: a replay comes all at once. */
const mostWaiting = 100_000;

/**
 * Writes as fast as the reader reads, and keeps what it has not taken yet. A reader that is too far behind is cut off:
 * a normal end of the stream would look like the end of the answer.
 */
export class PacedWriter {
  readonly #stream: ResponseStream;
  #waiting: Buffer[] = [];
  #hasEnded = false;
  #lastWords: Buffer | undefined;

  constructor(stream: ResponseStream) {
    this.#stream = stream;
  }

  /** Writes a frame, now or when the reader has taken those before it. */
  write(frame: Buffer): void {
    if (this.#waiting.length === 0 && !this.#stream.isCrowded) {
      this.#stream.write(frame);
      return;
    }
    if (this.#waiting.push(frame) === 1) void this.#drain();
    else if (this.#waiting.length > mostWaiting) this.#stream.cut();
  }

  /** Ends the answer after what was written. */
  end(lastWords?: Buffer): void {
    this.#hasEnded = true;
    this.#lastWords = lastWords;
    if (this.#waiting.length === 0) this.#stream.end(lastWords);
  }

  async #drain(): Promise<void> {
    let at = 0;
    for (; at < this.#waiting.length; at += 1) {
      await this.#stream.drained();
      this.#stream.write(this.#waiting[at] as Buffer);
    }
    this.#waiting = [];
    if (this.#hasEnded) this.#stream.end(this.#lastWords);
  }
}
