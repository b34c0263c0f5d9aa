import type { MessageReceipt } from "@parley/wire";
import type { Caller } from "../requests/request.js";
import { toFailure } from "../requests/request-error.js";
import { sendMessage } from "../requests/send-message.js";
import { followConversation } from "./follow-conversation.js";
import type { Link, Listener, OutgoingMessage } from "./link.js";
import type { ConnectionPace } from "./pace.js";

/** Dependencies and callbacks of an event link. */
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

  async send({ cursor, ...message }: OutgoingMessage, signal: AbortSignal): Promise<MessageReceipt> {
    const receipt = await sendMessage(this.#options.call, message, signal);
    if (cursor !== undefined && !signal.aborted) this.follow(message.conversationId, cursor);
    return receipt;
  }

  get #backoff() {
    const { pace, random } = this.#options;
    return { minMs: pace.retryMinMs, maxMs: pace.retryMaxMs, random };
  }
}
