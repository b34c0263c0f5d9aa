import type { ChatTransport, UIMessage, UIMessageChunk } from "ai";
import { backoffMs } from "../connection/backoff.js";
import { readEvents } from "../connection/read-events.js";
import { StreamPlace } from "./stream-place.js";
import type { ParleyUIMessage } from "./ui-message.js";

type Resolvable<T> = T | (() => T | Promise<T>);

/** Options of a `ParleyChatTransport`. */
export interface ParleyChatTransportOptions {
  /** Path that the face is mounted under. Default `/api/chat`. */
  readonly api?: string;
  /** Headers of every request, such as `Authorization`. */
  readonly headers?: Resolvable<Record<string, string> | Headers>;
  /** Fields of every post, such as `model` or `ifBusy`. */
  readonly body?: Resolvable<object>;
  readonly credentials?: RequestCredentials;
  readonly fetch?: typeof globalThis.fetch;
  /** Attempts to resume a stream that was cut, before it fails. Default 8. */
  readonly attempts?: number;
  /** The longest wait between two attempts. Default 5 s. */
  readonly maxDelayMs?: number;
}

type SendOptions<Message extends UIMessage> = Parameters<ChatTransport<Message>["sendMessages"]>[0];
type ReconnectOptions<Message extends UIMessage> = Parameters<
  ChatTransport<Message>["reconnectToStream"]
>[0] & {
  /** Passed by version 7. */
  readonly abortSignal?: AbortSignal | undefined;
};

/** The stream of one answer, as far as it is known. */
interface Answer {
  readonly chatId: string;
  readonly headers: Record<string, string>;
  readonly signal: AbortSignal | undefined;
  /** Sends the request again. It repeats nothing that the first one has done. */
  readonly repeat: () => Promise<Response>;
  /** Steps of the message that the server leaves out of this answer, because the page has them. */
  readonly steps?: number;
  turnId: string | undefined;
}

/**
 * A `ChatTransport` for Parley. It sends the last message only. When the connection drops, it resumes after the last
 * chunk it has, in the same stream: the page never sees the drop, and nothing is shown twice.
 */
export class ParleyChatTransport<Message extends UIMessage = ParleyUIMessage>
  implements ChatTransport<Message>
{
  /** A page that has a part of the answer is sent the rest; a page that has none of it is sent all of it. */
  readonly resumeStreamIsReplay = false;
  readonly #options: ParleyChatTransportOptions;
  readonly #api: string;
  readonly #query: string;
  /** Answers whose connection was lost permanently, by chat: the SDK keeps what it has of them for a resume. */
  readonly #lost = new Map<string, { readonly answer: Answer; readonly place: StreamPlace }>();

  constructor(options: ParleyChatTransportOptions = {}) {
    this.#options = options;
    const [path = "", query = ""] = (options.api ?? "/api/chat").split("?");
    this.#api = path.replace(/\/$/, "");
    this.#query = query;
  }

  async sendMessages(options: SendOptions<Message>): Promise<ReadableStream<UIMessageChunk>> {
    const { chatId, trigger, messageId, messages, abortSignal } = options;
    this.#lost.delete(chatId);
    const message = messages.at(-1);
    const body = JSON.stringify({
      ...(await resolve(this.#options.body)),
      ...options.body,
      id: chatId,
      message,
      trigger,
      messageId,
    });
    const headers = await this.#headers(options.headers);
    const repeat = () =>
      this.#fetch("", {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
        signal: abortSignal ?? null,
      });
    const isContinued = message?.role === "assistant";
    const steps = isContinued ? message.parts.filter(({ type }) => type === "step-start").length : undefined;
    const response = await succeeded(await repeat());
    const answer: Answer = {
      chatId,
      headers,
      signal: abortSignal,
      repeat,
      turnId: turnOf(response),
      ...(steps === undefined ? {} : { steps }),
    };
    return this.#stream(answer, response);
  }

  async reconnectToStream(
    options: ReconnectOptions<Message>,
  ): Promise<ReadableStream<UIMessageChunk> | null> {
    const { chatId, abortSignal: signal } = options;
    const headers = await this.#headers(options.headers);
    const lost = this.#lost.get(chatId);
    if (lost !== undefined) {
      const answer = { ...lost.answer, headers, signal };
      return this.#stream(answer, await succeeded(await this.#behind(answer, lost.place)), lost.place);
    }
    const repeat = () =>
      this.#fetch(`/${encodeURIComponent(chatId)}/stream`, { headers, signal: signal ?? null });
    const response = await repeat();
    if (response.status === 204) return null;
    const answer: Answer = {
      chatId,
      headers,
      signal,
      repeat,
      turnId: turnOf(await succeeded(response)),
    };
    return this.#stream(answer, response);
  }

  /** Stops the running answer. `stop()` of the SDK only disconnects: the answer continues. */
  async stop(chatId: string): Promise<void> {
    const headers = await this.#headers(undefined);
    await succeeded(await this.#fetch(`/${encodeURIComponent(chatId)}/stop`, { method: "POST", headers }));
  }

  /** Reads the messages of a chat, for `useChat({ messages })`. */
  async messages(chatId: string): Promise<Message[]> {
    const headers = await this.#headers(undefined);
    const path = `/${encodeURIComponent(chatId)}/messages`;
    return (await (await succeeded(await this.#fetch(path, { headers }))).json()) as Message[];
  }

  #fetch(path: string, init: RequestInit, query: readonly string[] = []): Promise<Response> {
    const { fetch = globalThis.fetch, credentials } = this.#options;
    const search = [this.#query, ...query].filter((part) => part !== "").join("&");
    const address = `${this.#api}${path}${search === "" ? "" : `?${search}`}`;
    return fetch(address, { ...init, ...(credentials === undefined ? {} : { credentials }) });
  }

  async #headers(given: Record<string, string> | Headers | undefined): Promise<Record<string, string>> {
    return { ...plain(await resolve(this.#options.headers)), ...plain(given) };
  }

  #stream(answer: Answer, response: Response, place = new StreamPlace()): ReadableStream<UIMessageChunk> {
    this.#lost.delete(answer.chatId);
    const chunks = this.#chunks(answer, response, place);
    return new ReadableStream<UIMessageChunk>({
      async pull(controller) {
        const next = await chunks.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await chunks.return();
      },
    });
  }

  /** Yields the chunks of an answer over as many connections as it takes. */
  async *#chunks(
    answer: Answer,
    first: Response,
    place: StreamPlace,
  ): AsyncGenerator<UIMessageChunk, void, undefined> {
    let response = first;
    for (;;) {
      const cut = new CutShort();
      for await (const chunk of readChunks(response, answer.signal, cut)) {
        if (chunk.type === "start") answer.turnId ??= chunk.messageId;
        place.add(chunk as Parameters<StreamPlace["add"]>[0]);
        yield chunk;
      }
      if (!cut.isCut) return;
      response = await this.#goOn(answer, place, cut.cause);
    }
  }

  /** Connects again after what was received, until it succeeds or the attempts are used up. */
  async #goOn(answer: Answer, place: StreamPlace, cause: unknown): Promise<Response> {
    const { attempts = 8, maxDelayMs = 5_000 } = this.#options;
    let failure: unknown = cause;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (answer.signal?.aborted) throw answer.signal.reason;
      await delay(backoffMs(attempt, { minMs: 100, maxMs: maxDelayMs, random: Math.random }), answer.signal);
      try {
        const response = await this.#behind(answer, place);
        if (response.status === 200) return response;
        failure = new Error(await response.text());
        if (response.status < 500 && response.status !== 429 && response.status !== 408)
          throw new Refused(failure);
      } catch (error) {
        if (error instanceof Refused) throw error.cause;
        if (answer.signal?.aborted) throw error;
        failure = error;
      }
    }
    if (answer.turnId !== undefined) this.#lost.set(answer.chatId, { answer, place });
    // The SDK recognizes by this message that it may resume.
    throw new TypeError("network error: the connection to the server was lost", { cause: failure });
  }

  #behind(answer: Answer, place: StreamPlace): Promise<Response> {
    const { chatId, turnId, steps, headers, signal } = answer;
    if (turnId === undefined) return answer.repeat();
    const query = [`after=${encodeURIComponent(`${turnId}~${place}`)}`];
    if (steps !== undefined) query.push(`steps=${steps}`);
    return this.#fetch(`/${encodeURIComponent(chatId)}/stream`, { headers, signal: signal ?? null }, query);
  }
}

/** Carries a refusal that another attempt does not change. */
class Refused extends Error {
  constructor(cause: unknown) {
    super("refused", { cause });
  }
}

/** Records that a stream ended before its end. */
class CutShort {
  isCut = true;
  cause: unknown = new TypeError("The connection was lost");
}

/** Reads one connection's chunks. `cut` reports afterwards if more was to come. */
async function* readChunks(
  response: Response,
  signal: AbortSignal | undefined,
  cut: CutShort,
): AsyncGenerator<UIMessageChunk, void, undefined> {
  try {
    if (response.body === null) return;
    for await (const { data } of readEvents(response.body)) {
      if (data === "[DONE]") {
        cut.isCut = false;
        return;
      }
      const chunk = JSON.parse(data) as UIMessageChunk;
      // Nothing follows an error.
      if (chunk.type === "error") cut.isCut = false;
      yield chunk;
    }
  } catch (error) {
    if (signal?.aborted) throw error;
    cut.cause = error;
  }
}

function turnOf(response: Response): string | undefined {
  return response.headers.get("x-resumable-stream-id") ?? undefined;
}

async function succeeded(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new Error((await response.text()) || `The server answered ${response.status}`);
}

async function resolve<T>(given: Resolvable<T> | undefined): Promise<T | undefined> {
  return typeof given === "function" ? await (given as () => T | Promise<T>)() : given;
}

function plain(headers: Record<string, string> | Headers | undefined): Record<string, string> {
  return headers instanceof Headers ? Object.fromEntries(headers) : { ...headers };
}

function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolvePromise) => {
    const timer = setTimeout(resolvePromise, ms);
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolvePromise();
      },
      { once: true },
    );
  });
}
