// A registered symbol, so that an error of a second copy of this package is recognized too.
const SSE_LIMIT_ERROR = Symbol.for("parley.http.sse-limit");

/** Thrown if a line or an event of a stream is larger than the reader accepts. */
export class SseLimitError extends Error {
  override readonly name = "SseLimitError";

  constructor(
    readonly code: "sse_line_too_long" | "sse_event_too_large",
    /** The limit that was exceeded, in bytes. */
    readonly limit: number,
  ) {
    super(
      code === "sse_line_too_long"
        ? `${code}: a line of the event stream is longer than ${limit} bytes`
        : `${code}: an event of the event stream is larger than ${limit} bytes`,
    );
    Object.defineProperty(this, SSE_LIMIT_ERROR, { value: true, enumerable: false });
  }

  /** Recognizes a `SseLimitError`, including one created by another copy of this package. */
  static isInstance(value: unknown): value is SseLimitError {
    return (
      typeof value === "object" &&
      value !== null &&
      (value as Record<symbol, unknown>)[SSE_LIMIT_ERROR] === true
    );
  }
}
