import { SseLimitError } from "./sse-limit-error.js";

const KEPT_BUFFER_BYTES = 64 * 1024;
const LF = 10;
const CR = 13;
const BOM = [0xef, 0xbb, 0xbf] as const;

/**
 * Cuts a stream of bytes into decoded texts of whole lines, one or two per chunk. A text ends with a line end
 * (LF, CR or CRLF), except that the LF of a CRLF may be the start of the next text. A byte order mark at the
 * start of the stream is removed.
 *
 * As no text ends inside a UTF-8 sequence, the decoder never needs its stream mode, which costs three to
 * seven times as much on Node 20.
 */
export class LineTexts {
  readonly #onText: (text: string) => void;
  readonly #maxLineBytes: number;
  // Only the mark at the very start is removed, and by hand.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  // Number of bytes of a byte order mark that the stream has started with; BOM.length once that is settled.
  #bomProgress = 0;
  // The unfinished last line. The array has spare capacity, so a long line in small chunks is rarely copied.
  #pending = new Uint8Array(0);
  #pendingBytes = 0;

  constructor(onText: (text: string) => void, maxLineBytes: number) {
    this.#onText = onText;
    this.#maxLineBytes = maxLineBytes;
  }

  /** The first byte of the unfinished last line, undefined if there is none. */
  get firstPendingByte(): number | undefined {
    if (this.#bomProgress > 0 && this.#bomProgress < BOM.length) return BOM[0];
    return this.#pendingBytes > 0 ? this.#pending[0] : undefined;
  }

  push(chunk: Uint8Array): void {
    let start = this.#bomProgress < BOM.length ? this.#skipBom(chunk) : 0;
    let end = chunk.length;
    while (end > start && chunk[end - 1] !== LF && chunk[end - 1] !== CR) end--;
    if (end > start) {
      if (this.#pendingBytes > 0) start = this.#finishPending(chunk, start);
      if (end > start) this.#readWholeLines(viewOf(chunk, start, end));
      start = end;
    }
    if (start < chunk.length) this.#keepPending(chunk.subarray(start));
  }

  /** Returns the start of the text in a chunk at the start of the stream. */
  #skipBom(chunk: Uint8Array): number {
    for (let i = 0; i < chunk.length; i++) {
      if (chunk[i] !== BOM[this.#bomProgress]) {
        const inEarlierChunks = this.#bomProgress - i;
        this.#bomProgress = BOM.length;
        // The bytes looked like a mark but are text; the part in this chunk is still to be read.
        if (inEarlierChunks > 0) this.#keepPending(Uint8Array.from(BOM.slice(0, inEarlierChunks)));
        return 0;
      }
      this.#bomProgress++;
      if (this.#bomProgress === BOM.length) return i + 1;
    }
    return chunk.length;
  }

  #keepPending(bytes: Uint8Array): void {
    const length = this.#pendingBytes + bytes.length;
    if (length > this.#maxLineBytes) throw this.#tooLong();
    this.#append(bytes, length);
  }

  #append(bytes: Uint8Array, length: number): void {
    if (length > this.#pending.length) {
      const doubled = Math.min(2 * this.#pending.length, this.#maxLineBytes);
      const grown = new Uint8Array(Math.max(length, doubled, 1024));
      grown.set(this.#pending.subarray(0, this.#pendingBytes));
      this.#pending = grown;
    }
    this.#pending.set(bytes, this.#pendingBytes);
    this.#pendingBytes = length;
  }

  /**
   * Completes the unfinished line from a chunk that has a line end; returns the end of the line in that
   * chunk.
   */
  #finishPending(chunk: Uint8Array, from: number): number {
    let end = from;
    while (chunk[end] !== LF && chunk[end] !== CR) end++;
    end++;
    const length = this.#pendingBytes + end - from;
    if (length - 1 > this.#maxLineBytes) throw this.#tooLong();
    this.#append(chunk.subarray(from, end), length);
    const line = this.#pending.subarray(0, length);
    this.#pendingBytes = 0;
    if (this.#pending.length > KEPT_BUFFER_BYTES) this.#pending = new Uint8Array(0);
    this.#onText(this.#decoder.decode(line));
    return end;
  }

  #readWholeLines(bytes: Uint8Array): void {
    const end = bytes.length - 1 > this.#maxLineBytes ? this.#endOfShortLines(bytes) : bytes.length;
    if (end > 0) this.#onText(this.#decoder.decode(viewOf(bytes, 0, end)));
    if (end < bytes.length) throw this.#tooLong();
  }

  #endOfShortLines(bytes: Uint8Array): number {
    let lineStart = 0;
    for (let i = 0; i < bytes.length; i++) {
      if (bytes[i] !== LF && bytes[i] !== CR) continue;
      if (i - lineStart > this.#maxLineBytes) return lineStart;
      lineStart = i + 1;
    }
    return bytes.length;
  }

  #tooLong(): SseLimitError {
    return new SseLimitError("sse_line_too_long", this.#maxLineBytes);
  }
}

/**
 * Returns the array itself for a view of all the bytes: creating another costs a third of a short chunk's
 * decoding.
 */
function viewOf(bytes: Uint8Array, start: number, end: number): Uint8Array {
  return start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
}
