/**
 * The part of a response that readers of bytes need. A fetch `Response` has it, and so has every response of
 * this package, which adds the push path: one callback per chunk instead of one promise and one result
 * object.
 */
export interface ByteSource {
  /** The bytes as a web stream, or null if the response has no body. Created on first use. */
  readonly body: ReadableStream<Uint8Array> | null;

  /**
   * Reads the whole body by pushing each chunk to `onChunk`, in order and never two at once. While a promise
   * returned by `onChunk` is pending, no further chunk is delivered (and no stall is counted).
   *
   * Resolves at the end of the body or after `cancel`. Rejects when the body breaks (reset, stall, deadline,
   * abort), or with whatever `onChunk` threw, in which case the rest of the body is cancelled. Chunks are not
   * reused: they may be kept. Locks `body`: a response is read once, one way.
   */
  consume?(onChunk: (chunk: Uint8Array) => void | Promise<void>): Promise<void>;

  /**
   * Gives up the rest of the body, at any time, read or unread: an unfinished one closes its socket, a pending
   * `consume` resolves. Does nothing once the body has ended. Never throws.
   */
  cancel?(reason?: unknown): void;
}

/**
 * The fetch `Response` shape with the optional push path of {@link ByteSource}. Headers, streams and decoded
 * bodies are created on request, so a response whose body is not read costs almost nothing.
 */
export interface HttpResponse extends Response {
  /** See {@link ByteSource.consume}. */
  consume?(onChunk: (chunk: Uint8Array) => void | Promise<void>): Promise<void>;
  /** See {@link ByteSource.cancel}. */
  cancel?(reason?: unknown): void;
}
