import type { ClientRequest, IncomingMessage } from "node:http";
import { pipeline, type Readable } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { TransportResponse } from "../ports.js";
import { streamOfSource } from "../request/body-source.js";

/** An incoming message as a transport's response. Headers and web streams are built only on request. */
export class NodeResponse implements TransportResponse {
  readonly redirected = false;
  /** Undefined if there is no body. */
  readonly consume: TransportResponse["consume"];
  readonly #request: ClientRequest;
  readonly #message: IncomingMessage;
  readonly #url: URL;
  #headers: Headers | undefined;
  #stream: ReadableStream<Uint8Array> | undefined;
  #finish: (() => void) | undefined;
  #canceled = false;

  constructor(request: ClientRequest, message: IncomingMessage, url: URL) {
    this.#request = request;
    this.#message = message;
    this.#url = url;
    const hasBody = request.method !== "HEAD" && !BODILESS.has(this.status);
    this.consume = hasBody ? (onChunk) => this.#consume(onChunk) : undefined;
    // A response without a body is never read, and only a message that was read releases its socket.
    if (!hasBody) message.resume();
  }

  get status(): number {
    return this.#message.statusCode ?? 0;
  }

  get statusText(): string {
    return this.#message.statusMessage ?? "";
  }

  get url(): string {
    const { href, hash } = this.#url;
    return hash === "" ? href : href.slice(0, -hash.length);
  }

  get headers(): Headers {
    this.#headers ??= toHeaders(this.#message.rawHeaders);
    return this.#headers;
  }

  get body(): ReadableStream<Uint8Array> | null {
    const { consume } = this;
    if (consume === undefined) return null;
    this.#stream ??= streamOfSource({ consume, cancel: (reason) => this.cancel(reason) });
    return this.#stream;
  }

  header(name: string): string | null {
    const value = this.#message.headers[name];
    if (value === undefined) return null;
    return typeof value === "string" ? value : value.join(", ");
  }

  cancel(_reason?: unknown): void {
    this.#canceled = true;
    // A message that arrived completely is drained, which keeps its socket; any other is cut off with its
    // socket.
    if (this.#message.complete) this.#message.resume();
    else this.#request.destroy();
    this.#finish?.();
  }

  #consume(onChunk: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.#finish = resolve;
      const message = this.#message;
      if (this.#canceled) {
        resolve();
        return;
      }
      if (message.destroyed && !message.readableEnded) {
        reject(message.errored ?? brokenOff());
        return;
      }
      const bytes = decoded(message, reject);
      const fail = (error: unknown): void => {
        reject(error);
        this.cancel();
      };
      let busy = false;
      let ended = false;
      const proceed = (): void => {
        busy = false;
        if (ended) resolve();
        else bytes.resume();
      };
      bytes.on("data", (chunk: Uint8Array) => {
        if (this.#canceled) return;
        try {
          const wait = onChunk(chunk);
          if (wait === undefined) return;
          busy = true;
          bytes.pause();
          wait.then(proceed, fail);
        } catch (error) {
          fail(error);
        }
      });
      // A paused message still emits its end, so the reader may be busy with the last chunk.
      bytes.on("end", () => {
        ended = true;
        if (!busy) resolve();
      });
      bytes.on("error", reject);
      // A message always closes, whatever else happens to it.
      bytes.on("close", () => {
        if (!ended) reject(brokenOff());
      });
    });
  }
}

const BODILESS = new Set([204, 205, 304]);

/** Returns the message's bytes with any supported content encoding removed, as `fetch` does. */
function decoded(message: IncomingMessage, onError: (error: unknown) => void): Readable {
  const encoding = rawHeader(message.rawHeaders, "content-encoding");
  if (encoding === undefined) return message;
  const decoder = decoderFor(encoding.trim().toLowerCase());
  if (decoder === undefined) return message;
  pipeline(message, decoder, (error) => {
    if (error) onError(error);
  });
  return decoder;
}

/** Finds one header in the raw list. Reading `message.headers` would sort all of them into an object. */
function rawHeader(rawHeaders: readonly string[], name: string): string | undefined {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const candidate = rawHeaders[at];
    if (candidate?.length === name.length && candidate.toLowerCase() === name) return rawHeaders[at + 1];
  }
  return undefined;
}

function decoderFor(encoding: string) {
  // Flushing at each chunk passes a compressed stream on event by event.
  const flush = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip(flush);
    case "deflate":
      return createInflate(flush);
    case "br":
      return createBrotliDecompress({
        flush: constants.BROTLI_OPERATION_FLUSH,
        finishFlush: constants.BROTLI_OPERATION_FLUSH,
      });
    default:
      return undefined;
  }
}

function toHeaders(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    const value = rawHeaders[at + 1];
    if (name === undefined || value === undefined) continue;
    try {
      headers.append(name, value);
    } catch {
      // The parser is more lenient than the Headers class; a header that the class refuses is omitted.
    }
  }
  return headers;
}

function brokenOff(): Error {
  return Object.assign(new Error("The connection closed before the body ended"), { code: "ECONNRESET" });
}
