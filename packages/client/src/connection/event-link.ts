import { readLines } from "../requests/read-lines.js";
import { type Caller, parseJson, transportError } from "../requests/request.js";
import { toFailure } from "../requests/request-error.js";
import { backoffMs } from "./backoff.js";
import { followConversation, wait } from "./follow-conversation.js";
import type { Link, Listener, OutgoingMessage } from "./link.js";
import type { ConnectionPace } from "./pace.js";

/** What an event link needs, and whom it tells. */
export interface EventLinkOptions {
  readonly call: Caller;
  readonly pace: ConnectionPace;
  readonly random: () => number;
  conversation(id: string): Listener | undefined;
  onOpen(): void;
  onWait(attempt: number, ms: number): void;
}

/** A message that is sent again and again. */
interface Sending {
  /** Ends the wait before the next attempt. */
  pause: AbortController;
}

/**
 * A link without a socket: an event stream for each conversation, and calls for what is sent. For places where
 * there is only `fetch`, such as an app in the same process.
 */
export class EventLink implements Link {
  readonly #options: EventLinkOptions;
  readonly #streams = new Map<string, AbortController>();
  readonly #sending = new Map<string, Sending>();
  #isClosed = false;

  constructor(options: EventLinkOptions) {
    this.#options = options;
  }

  isOpen(): boolean {
    return !this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    for (const id of [...this.#streams.keys()]) this.unfollow(id);
    for (const id of [...this.#sending.keys()]) this.unsend(id);
  }

  unfollow(conversationId: string): void {
    this.#streams.get(conversationId)?.abort();
    this.#streams.delete(conversationId);
  }

  follow(conversationId: string, cursor: string): void {
    this.unfollow(conversationId);
    const stream = new AbortController();
    this.#streams.set(conversationId, stream);
    this.#read(conversationId, cursor, stream.signal).catch((error: unknown) => {
      if (stream.signal.aborted) return;
      this.#options.conversation(conversationId)?.onFailure(toFailure(error));
    });
  }

  async #read(conversationId: string, cursor: string, signal: AbortSignal): Promise<void> {
    const { call, conversation, onOpen, onWait } = this.#options;
    const pace = { ...this.#backoff, onOpen, onWait };
    for await (const frame of followConversation(call, conversationId, { cursor, signal }, pace)) {
      if (signal.aborted) return;
      conversation(conversationId)?.onFrame(frame);
    }
  }

  /** One that is on its way already goes at once instead of waiting, not a second time beside itself. */
  send(message: OutgoingMessage): void {
    const { messageId } = message;
    const known = this.#sending.get(messageId);
    if (known !== undefined) {
      known.pause.abort();
      return;
    }
    const sending = { pause: new AbortController() };
    this.#sending.set(messageId, sending);
    void this.#post(message, sending);
  }

  unsend(messageId: string): void {
    this.#sending.get(messageId)?.pause.abort();
    this.#sending.delete(messageId);
  }

  async #post(message: OutgoingMessage, sending: Sending): Promise<void> {
    const { call, conversation } = this.#options;
    const { conversationId, messageId } = message;
    const isWanted = () => this.#sending.get(messageId) === sending;
    for (let attempt = 0; isWanted(); attempt += 1) {
      // Whoever asks while this attempt is under way does not wait for the next one either.
      sending.pause = new AbortController();
      try {
        const response = await call("POST /chat", { body: message, accept: "application/x-ndjson" });
        // It is durable. The turn is followed by its stream; its first event tells which one it is.
        const turnId = await firstTurnId(response);
        // First, for whoever hears of the outcome may send it again at once.
        if (isWanted()) this.#sending.delete(messageId);
        const started = { conversationId, messageId, outcome: "started" as const };
        conversation(conversationId)?.onReceipt(turnId === undefined ? started : { ...started, turnId });
        return;
      } catch (thrown) {
        // Nobody waits for this, or another one under the same id is on its way.
        if (!isWanted()) return;
        const error = toFailure(thrown);
        if (error.code !== "network") {
          this.#sending.delete(messageId);
          conversation(conversationId)?.onFailure(error, messageId);
          return;
        }
        await wait(backoffMs(attempt, this.#backoff), sending.pause.signal);
      }
    }
  }

  get #backoff() {
    const { pace, random } = this.#options;
    return { minMs: pace.retryMinMs, maxMs: pace.retryMaxMs, random };
  }
}

async function firstTurnId(response: Response): Promise<string | undefined> {
  if (response.body === null) return undefined;
  try {
    for await (const line of readLines(response.body)) {
      const event = parseJson(line) as { readonly turnId?: string };
      if (event.turnId !== undefined) return event.turnId;
    }
  } catch (cause) {
    throw transportError(cause, undefined, response.url);
  }
  return undefined;
}
