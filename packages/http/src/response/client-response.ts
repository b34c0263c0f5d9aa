import type { TransportResponse } from "../ports.js";
import {
  type BodySource,
  collect,
  peek,
  sourceOfChunks,
  sourceOfStream,
  streamOfSource,
} from "../request/body-source.js";
import type { AttemptWatch } from "../resilience/attempt-watch.js";
import type { HttpResponse } from "./http-response.js";

type ResponseHead = Omit<TransportResponse, "body" | "consume" | "cancel">;

const decoder = new TextDecoder();

/** Decodes bytes as UTF-8, without a byte order mark, as `Response.text` does. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

// A safety net for callers that drop a response without reading its body: its socket, timer and listener are
// released when the response itself is garbage-collected.
const abandoned = new FinalizationRegistry<AttemptWatch>((watch) => watch.abandon());

/**
 * The response that callers see, over either transport. Its body is touched only on request; a body that the
 * client has read whole is kept and can be read any number of times.
 */
export class ClientResponse implements HttpResponse {
  /** True if a redirect was followed, by the client or by its transport. */
  readonly redirected: boolean;
  readonly #head: ResponseHead;
  #source: BodySource | null;
  #root: BodySource | null;
  #stream: ReadableStream<Uint8Array<ArrayBuffer>> | undefined;
  #bytes: Uint8Array | undefined;
  #status: number;
  #used = false;
  /** `started` is true once the stream that `body` created has been read from. */
  #streamUse: { readonly started: boolean } | undefined;
  #watch: AttemptWatch | undefined;

  constructor(head: ResponseHead, source: BodySource | null, redirected = false) {
    this.redirected = redirected || head.redirected;
    this.#head = head;
    this.#source = source;
    this.#root = source;
    this.#status = head.status;
  }

  get status(): number {
    return this.#status;
  }

  get ok(): boolean {
    return this.#status >= 200 && this.#status <= 299;
  }

  get statusText(): string {
    return this.#head.statusText;
  }

  get url(): string {
    return this.#head.url;
  }

  get headers(): Headers {
    return this.#head.headers;
  }

  get type(): ResponseType {
    return "default";
  }

  get bodyUsed(): boolean {
    return this.#used || this.#streamUse?.started === true;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (this.#source === null) return null;
    if (this.#stream === undefined) {
      this.#claim();
      const source = this.#source;
      const use = { started: false };
      const stream = streamOfSource({
        consume: (onChunk) => {
          use.started = true;
          return source.consume(onChunk);
        },
        cancel: (reason) => source.cancel(reason),
      });
      this.#streamUse = use;
      this.#stream = stream;
      this.#source = sourceOfStream(stream);
    }
    return this.#stream;
  }

  /** Reads one header by its lower-case name, without building `headers` if the transport supports that. */
  header(name: string): string | null {
    return this.#head.header === undefined ? this.#head.headers.get(name) : this.#head.header(name);
  }

  consume(onChunk: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
    if (this.bodyUsed) return Promise.reject(new TypeError("The body has already been read"));
    this.#used = true;
    this.#claim();
    return this.#source === null ? Promise.resolve() : this.#source.consume(onChunk);
  }

  cancel(reason?: unknown): void {
    this.#claim();
    this.#root?.cancel(reason);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = await this.#read();
    const { buffer, byteOffset, byteLength } = bytes;
    // A chunk is often a slice of a larger, pooled buffer: only its own bytes are handed out. Bytes that the
    // client keeps are copied too, or the receiver could change what others read.
    const exact = buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength;
    return exact && this.#bytes === undefined ? buffer : new Uint8Array(bytes).buffer;
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return new Uint8Array(await this.arrayBuffer());
  }

  async blob(): Promise<Blob> {
    return new Blob([await this.arrayBuffer()], { type: this.header("content-type") ?? "" });
  }

  async formData(): Promise<FormData> {
    const type = this.header("content-type");
    return new Response(
      await this.arrayBuffer(),
      type === null ? {} : { headers: { "content-type": type } },
    ).formData();
  }

  async text(): Promise<string> {
    return decodeText(await this.#read());
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  clone(): ClientResponse {
    if (this.bodyUsed) throw new TypeError("The body has already been read");
    let copy: BodySource | null = null;
    if (this.#bytes !== undefined) copy = sourceOfChunks([this.#bytes]);
    else if (this.body !== null) {
      const [ours, theirs] = this.body.tee();
      this.#stream = undefined;
      this.#streamUse = undefined;
      this.#source = sourceOfStream(ours);
      this.#root = this.#source;
      copy = sourceOfStream(theirs);
    }
    const clone = new ClientResponse(this.#head, copy, this.redirected);
    clone.#status = this.#status;
    clone.#bytes = this.#bytes;
    return clone;
  }

  /** Reads the body into memory and keeps it, so that it can be read again. */
  async keepBody(maxBytes: number): Promise<Uint8Array> {
    if (this.#bytes !== undefined) return this.#bytes;
    const bytes = this.#source === null ? new Uint8Array(0) : await collect(this.#source, maxBytes);
    this.#keep(bytes);
    return bytes;
  }

  /**
   * Reads the start of the body as text and leaves the response as if nothing had been read. If more follows,
   * it stays readable if `keepRest` is true, and is given up otherwise.
   */
  async peekText(limit: number, keepRest: boolean): Promise<string> {
    if (this.#source === null) return "";
    const peeked = await peek(this.#source, limit);
    if (peeked.complete || !keepRest) {
      peeked.source.cancel();
      this.#keep(peeked.head);
    } else {
      this.#source = peeked.source;
      this.#root = peeked.source;
    }
    return decodeText(peeked.head);
  }

  /** Replaces the status that was received. */
  overrideStatus(status: number): void {
    this.#status = status;
  }

  /** Ends the watch of an unread body when this object is garbage-collected. */
  abandonWith(watch: AttemptWatch): void {
    this.#watch = watch;
    abandoned.register(this, watch, watch);
  }

  /** Records that a reader now owns the body. */
  #claim(): void {
    if (this.#watch === undefined) return;
    abandoned.unregister(this.#watch);
    this.#watch = undefined;
  }

  #keep(bytes: Uint8Array): void {
    this.#bytes = bytes;
    if (this.#source !== null) this.#source = sourceOfChunks(bytes.byteLength === 0 ? [] : [bytes]);
    this.#root = this.#source;
    this.#stream = undefined;
  }

  async #read(): Promise<Uint8Array> {
    if (this.bodyUsed) throw new TypeError("The body has already been read");
    if (this.#bytes !== undefined) return this.#bytes;
    this.#used = true;
    this.#claim();
    return this.#source === null ? new Uint8Array(0) : collect(this.#source);
  }
}
