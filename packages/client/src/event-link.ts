import { backoffMs } from "./backoff.js";
import { followConversation, wait } from "./follow-conversation.js";
import type { Link, Listener, OutgoingMessage } from "./link.js";
import type { ConnectionPace } from "./pace.js";
import { readLines } from "./read-lines.js";
import { type Caller, parseJson } from "./request.js";
import { toFailure } from "./request-error.js";

/** What an event link needs, and whom it tells. */
export interface EventLinkOptions {
  readonly call: Caller;
  readonly pace: ConnectionPace;
  readonly random: () => number;
  conversation(id: string): Listener | undefined;
  onOpen(): void;
  onWait(attempt: number, ms: number): void;
}

/**
 * A link without a socket: an event stream for each conversation, and calls for what is sent. For places where
 * there is only `fetch`, such as an app in the same process.
 */
export class EventLink implements Link {
  readonly #options: EventLinkOptions;
  readonly #streams = new Map<string, AbortController>();
  readonly #closed = new AbortController();

  constructor(options: EventLinkOptions) {
    this.#options = options;
  }

  isOpen(): boolean {
    return !this.#closed.signal.aborted;
  }

  close(): void {
    this.#closed.abort();
    for (const id of [...this.#streams.keys()]) this.unfollow(id);
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

  send(message: OutgoingMessage): void {
    void this.#post(message);
  }

  async #post(message: OutgoingMessage): Promise<void> {
    const { call, conversation } = this.#options;
    const { conversationId, messageId } = message;
    for (let attempt = 0; this.isOpen(); attempt += 1) {
      try {
        const response = await call("POST /chat", { body: message, accept: "application/x-ndjson" });
        // It is durable. The turn is followed by its stream; its first event tells which one it is.
        const turnId = await firstTurnId(response);
        const started = { conversationId, messageId, outcome: "started" as const };
        conversation(conversationId)?.onReceipt(turnId === undefined ? started : { ...started, turnId });
        return;
      } catch (thrown) {
        const error = toFailure(thrown);
        if (error.code !== "network") {
          conversation(conversationId)?.onFailure(error, messageId);
          return;
        }
        await wait(backoffMs(attempt, this.#backoff), this.#closed.signal);
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
  for await (const line of readLines(response.body)) {
    const event = parseJson(line) as { readonly turnId?: string };
    if (event.turnId !== undefined) return event.turnId;
  }
  return undefined;
}
