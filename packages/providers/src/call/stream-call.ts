import { isParleyError, ParleyError } from "@parley/core/errors";
import {
  createProviderStream,
  type ProviderStreamWriter,
  TextDelta,
  toProviderFailure,
} from "@parley/core/messages";
import type {
  AnswerLimits,
  ProviderCallParams,
  ProviderStream,
  ProviderStreamEvent,
} from "@parley/core/ports";
import {
  createSseParser,
  type HttpClient,
  HttpError,
  type HttpRequestOptions,
  type HttpResponse,
  type HttpRetry,
  readBytes,
} from "@parley/http";
import { type AnswerBounds, boundsFor, readText, tooLarge } from "./answer-bounds.js";
import { hideHeaders } from "./hide-headers.js";
import { type ReadFailure, toProviderError, unreadableAnswer } from "./http-failure.js";
import { keepShape } from "./keep-shape.js";

/** A fold over a provider's stream: created for every attempt, fed with its parsed events. */
export interface StreamFold<VendorEvent> {
  /**
   * Returns the events that follow from one more of the provider's. The last one is a `done` or an `error`.
   */
  push(event: VendorEvent): readonly ProviderStreamEvent[];
  /**
   * Returns the remaining events after the last one: nothing (or an `error`) if the provider had not
   * finished. `marked` is true if the stream ended with `[DONE]`.
   */
  end(ending: { readonly marked: boolean }): readonly ProviderStreamEvent[];
  /** True once the answer is complete even if the connection breaks now; `end` is called then. */
  readonly complete?: boolean;
  /** Number of parts of the answer that have started, including those without events yet. */
  readonly parts: number;
}

type CallRequest = Omit<HttpRequestOptions, "signal">;

/** One call to a provider, in its own terms. */
export interface StreamCall<VendorEvent> {
  readonly provider: string;
  readonly http: HttpClient;
  /** `signal` is set by the call. */
  readonly request: CallRequest;
  readonly createFold: () => StreamFold<VendorEvent>;
  readonly readFailure: ReadFailure;
  readonly signal: AbortSignal | undefined;
  /** The caller's limits for the answer. */
  readonly limits: AnswerLimits | undefined;
  /** Returns the events equivalent to an answer in one piece of JSON, from a server that does not stream. */
  readonly eventsOfBody?: (body: unknown) => readonly VendorEvent[];
  /** Called before the wait for each retry of the call. */
  readonly onRetry?: ProviderCallParams["onRetry"] | undefined;
  /**
   * Returns another request for the same call if this failure can be avoided that way. Called at most once.
   */
  readonly recover?: (error: ParleyError) => CallRequest | undefined;
  /**
   * Number of times a call that failed inside its stream, before anything was visible, is retried. Default 2.
   */
  readonly streamRetries?: number | undefined;
  /** Waits before such a retry. */
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

const firstRetryMs = 500;
/** Time that a server may keep a connection open after its last event before the client closes it. */
const closingMs = 1_000;

/**
 * Makes one call to a provider that answers with server-sent events. The HTTP layer retries failures before
 * the answer started; a failure inside the answer is retried here, and only while nothing of it was visible.
 * While the reader is behind, nothing more is read from the socket.
 */
export function streamCall<VendorEvent>(call: StreamCall<VendorEvent>): ProviderStream {
  keepShapes();
  return createProviderStream((writer) => produce(call, writer), { signal: call.signal });
}

let shapesKept = false;

function keepShapes(): void {
  if (shapesKept) return;
  shapesKept = true;
  const parser = createSseParser({ onEvent: keepShape });
  parser.push(new TextEncoder().encode("event: sample\ndata: {}\n\n"));
  keepShape(parser);
  keepShape(createProviderStream(async () => {}));
  keepShape(new TextDelta("", "", 0));
  keepShape(new Attempt(sampleCall, { write: () => undefined, signal: new AbortController().signal }));
}

const sampleCall: StreamCall<unknown> = {
  provider: "",
  http: {} as HttpClient,
  request: { operation: "", method: "POST" },
  createFold: () => ({ push: () => [], end: () => [], parts: 0 }),
  readFailure: () => undefined,
  signal: undefined,
  limits: undefined,
};

async function produce<VendorEvent>(
  call: StreamCall<VendorEvent>,
  writer: ProviderStreamWriter,
): Promise<void> {
  const retries = call.streamRetries ?? 2;
  let request = call.request;
  let recovered = false;
  for (let retry = 0; ; ) {
    const attempt = new Attempt(call, writer);
    const error = await attempt.run(request);
    if (error === undefined) return;
    const other = recovered || attempt.visible || writer.signal.aborted ? undefined : call.recover?.(error);
    if (other !== undefined) {
      recovered = true;
      request = other;
      continue;
    }
    // A failure before the answer started was already retried as often as the HTTP client may.
    const again = attempt.answered && !attempt.visible && error.retryable && retry < retries;
    if (!again || writer.signal.aborted) {
      writer.write({ type: "error", error: hideHeaders(error, request.headers) });
      return;
    }
    const delayMs = error.retryAfterMs ?? firstRetryMs * 2 ** retry;
    call.onRetry?.({ code: error.code, delayMs });
    await (call.wait ?? pause)(delayMs, writer.signal);
    retry += 1;
  }
}

/** One request and the reading of its answer. */
class Attempt<VendorEvent> {
  /** True once the answer has started. */
  answered = false;
  /** True once anything of it was visible. */
  visible = false;
  readonly #call: StreamCall<VendorEvent>;
  readonly #writer: ProviderStreamWriter;
  readonly #fold: StreamFold<VendorEvent>;
  readonly #bounds: AnswerBounds;
  #unseenBytes = 0;
  #ended = false;
  #failure: ParleyError | undefined;
  #waiting: Promise<void> | undefined;
  /** An error thrown by this code, as opposed to one of the connection. */
  #thrown: unknown;

  constructor(call: StreamCall<VendorEvent>, writer: ProviderStreamWriter) {
    this.#call = call;
    this.#writer = writer;
    this.#fold = call.createFold();
    this.#bounds = boundsFor(call.limits);
  }

  /** Returns undefined if the call succeeded, otherwise why it failed. */
  async run(request: CallRequest): Promise<ParleyError | undefined> {
    const { provider, http, onRetry } = this.#call;
    const { signal } = this.#writer;
    try {
      const response = await http.requestRaw(
        onRetry === undefined ? { ...request, signal } : { ...request, signal, onRetry: this.#reportRetry },
      );
      this.answered = true;
      if (this.#call.eventsOfBody !== undefined && isJson(response)) {
        const body = parseEvent(provider, await readText(response, provider, this.#bounds.eventBytes));
        for (const event of this.#call.eventsOfBody(body)) this.#push(event, 0);
        this.#end(true);
      } else {
        await this.#readEvents(response);
        this.#end(false);
      }
      if (!this.#ended) {
        this.#failure = new ParleyError("network", `${provider}: the stream ended before its last event`);
      }
    } catch (error) {
      this.#fail(error);
    }
    return this.#failure;
  }

  readonly #reportRetry = ({ error, delayMs }: HttpRetry): void => {
    const { provider, readFailure, onRetry } = this.#call;
    onRetry?.({ code: toProviderError(error, provider, readFailure).code, delayMs });
  };

  async #readEvents(response: HttpResponse): Promise<void> {
    let closing: ReturnType<typeof setTimeout> | undefined;
    const { eventBytes } = this.#bounds;
    const parser = createSseParser({
      maxLineBytes: eventBytes,
      maxEventBytes: eventBytes,
      onEvent: ({ data }) => {
        if (this.#ended) return;
        if (data === "[DONE]") this.#end(true);
        else this.#push(parseEvent(this.#call.provider, data) as VendorEvent, data.length);
      },
    });
    const head = new BodyHead();
    try {
      await readBytes(response, (chunk) => {
        head.push(chunk);
        try {
          parser.push(chunk);
        } catch (error) {
          this.#thrown = error;
          throw error;
        }
        if (this.#ended) {
          // The end of the body usually arrives with its last event, and then the connection can be reused. A
          // failure is reported when the reading has ended, and does not wait for that.
          if (this.#failure !== undefined) response.cancel?.();
          else closing ??= setTimeout(() => response.cancel?.(), closingMs);
          return undefined;
        }
        const waiting = this.#waiting;
        this.#waiting = undefined;
        return waiting;
      });
    } finally {
      clearTimeout(closing);
    }
    if (!head.isOfEvents()) throw unreadableAnswer(this.#call.provider, "it is not an event stream");
  }

  #push(event: VendorEvent, bytes: number): void {
    let events: readonly ProviderStreamEvent[];
    try {
      events = this.#fold.push(event);
    } catch (cause) {
      // A fold assumes what the provider's protocol promises, and a server need not keep to it.
      throw isParleyError(cause)
        ? cause
        : unreadableAnswer(this.#call.provider, "an event has an unexpected form", cause);
    }
    if (events.length === 0) this.#unseenBytes += bytes;
    this.#take(events);
    if (!this.#ended) this.#checkUnseen();
  }

  /** Enforces the bounds of an answer while its caller does not see it grow. */
  #checkUnseen(): void {
    const { provider } = this.#call;
    const { parts, unseenBytes } = this.#bounds;
    if (this.#fold.parts > parts) throw tooLarge(provider, `the answer has more than ${parts} parts`);
    if (this.#unseenBytes > unseenBytes) {
      throw tooLarge(provider, `more than ${unseenBytes} bytes of the answer belong to no complete part`);
    }
  }

  #take(events: readonly ProviderStreamEvent[]): void {
    for (const event of events) {
      if (this.#ended) return;
      if (event.type === "error") {
        this.#failure = event.error;
        this.#ended = true;
        return;
      }
      if (event.type === "done") this.#ended = true;
      else if (event.type !== "usage") this.visible = true;
      this.#waiting = this.#writer.write(event) ?? this.#waiting;
    }
  }

  #end(marked: boolean): void {
    if (!this.#ended) this.#take(this.#fold.end({ marked }));
  }

  #fail(error: unknown): void {
    if (this.#ended) return;
    const { provider, readFailure } = this.#call;
    if (this.#writer.signal.aborted) {
      this.#failure = new ParleyError("canceled", undefined, { cause: error });
      return;
    }
    if (error !== this.#thrown && this.#fold.complete === true) {
      this.#end(false);
      if (this.#ended) return;
    }
    // A client from another package throws its platform's error if there is no connection or it breaks.
    const isForeign = error !== this.#thrown && !HttpError.isInstance(error);
    if (isForeign && error instanceof TypeError) {
      this.#failure = new ParleyError("network", `${provider}: the connection broke`, { cause: error });
    } else if (isForeign && !this.answered) this.#failure = toProviderFailure(error);
    else this.#failure = toProviderError(error, provider, readFailure);
  }
}

function isJson(response: HttpResponse): boolean {
  return /^\s*application\/(?:[\w.-]+\+)?json\b/i.test(response.headers.get("content-type") ?? "");
}

/** The start of a body, to distinguish a stream of events that was cut from a page of something else. */
class BodyHead {
  static readonly #fields = ["data", "event", "id", "retry", ":"];
  #bytes: number[] = [];

  push(chunk: Uint8Array): void {
    if (this.#bytes.length < 16) this.#bytes.push(...chunk.subarray(0, 16));
  }

  isOfEvents(): boolean {
    const start = new TextDecoder().decode(Uint8Array.from(this.#bytes)).trimStart();
    return BodyHead.#fields.some((field) => start.startsWith(field) || field.startsWith(start));
  }
}

function parseEvent(provider: string, data: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(data) as unknown;
  } catch (cause) {
    throw unreadableAnswer(provider, "it is not JSON", cause);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw unreadableAnswer(provider, "it is not a JSON object");
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish, { once: true });
    if (signal.aborted) finish();
  });
}
