/** A body in the form that a transport sends. */
export interface EncodedBody {
  readonly body: BodyInit | undefined;
  /** Content type to send if the caller set none. */
  readonly contentType: string | undefined;
  /** False for a stream, which can be sent only once. */
  readonly replayable: boolean;
  /** True for a stream: `fetch` needs to know. */
  readonly stream: boolean;
}

const NOTHING: EncodedBody = { body: undefined, contentType: undefined, replayable: true, stream: false };

/**
 * Key of a body's method that returns its JSON text, for bodies with a cheaper encoder than `JSON.stringify`.
 */
export const jsonText: unique symbol = Symbol.for("parley.http.json-text");

/**
 * Encodes a request's `body` for sending: a `BodyInit` as it is, an async iterable as a stream, anything else
 * as JSON. Throws what `JSON.stringify` throws.
 */
export function encodeBody(body: unknown): EncodedBody {
  if (body === undefined || body === null) return NOTHING;
  if (typeof body === "string") return { body, contentType: undefined, replayable: true, stream: false };
  if (typeof body === "object") {
    if (body instanceof ReadableStream) {
      return { body, contentType: undefined, replayable: false, stream: true };
    }
    if (isPlatformBody(body)) return { body, contentType: undefined, replayable: true, stream: false };
    if (Symbol.asyncIterator in body) {
      const stream = streamOfIterable(body as AsyncIterable<Uint8Array>);
      return { body: stream, contentType: undefined, replayable: false, stream: true };
    }
  }
  const json: string | undefined = hasJsonText(body) ? body[jsonText]() : JSON.stringify(body);
  if (json === undefined) throw new TypeError("The body cannot be serialized as JSON");
  return { body: json, contentType: "application/json", replayable: true, stream: false };
}

function hasJsonText(body: unknown): body is { [jsonText](): string } {
  return typeof body === "object" && body !== null && jsonText in body;
}

function isPlatformBody(body: object): body is BodyInit & object {
  return (
    ArrayBuffer.isView(body) ||
    body instanceof ArrayBuffer ||
    body instanceof URLSearchParams ||
    body instanceof Blob ||
    body instanceof FormData
  );
}

function streamOfIterable(iterable: AsyncIterable<Uint8Array | string>): ReadableStream<Uint8Array> {
  const iterator = iterable[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(typeof next.value === "string" ? encoder.encode(next.value) : next.value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
