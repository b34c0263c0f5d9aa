import { omitUndefined } from "@parley/fold";
import type { ErrorCode } from "@parley/wire";
import type { Link, OutgoingMessage } from "../connection/link.js";
import type { SendOptions, SendOutcome } from "../conversations/conversation-handle.js";
import { ParleyRequestError } from "../requests/request-error.js";
import { applyDiscard, applyOptimistic, applyReceipt, applySendFailure } from "../state/apply-send.js";
import type { ConversationState, Failure } from "../state/conversation-state.js";
import { newMessageId } from "./ids.js";

interface Pending {
  readonly message: OutgoingMessage;
  readonly resolve: (outcome: SendOutcome) => void;
  readonly reject: (error: ParleyRequestError) => void;
  readonly outcome: Promise<SendOutcome>;
}

/** What becomes of a message to a conversation that was let go of. */
const letGo: Failure = {
  code: "canceled",
  message: "The conversation is no longer followed",
  retryable: true,
};

/** What the messages of a conversation need. */
export interface OutgoingOptions {
  readonly conversationId: string;
  readonly link: Link;
  readonly now: () => number;
  readonly change: (by: (state: ConversationState) => ConversationState) => void;
  /** Does something after a while that grows with every time. */
  readonly retryLater: (work: () => void) => void;
}

/**
 * The messages of one conversation on their way. Each shows in the state at once, and is kept until it has an
 * outcome: whenever the link is back it is sent again under the same id, and the server takes it once.
 */
export class OutgoingMessages {
  readonly #options: OutgoingOptions;
  readonly #pending = new Map<string, Pending>();
  /** Failed ones, to be sent again as they were. */
  readonly #failed = new Map<string, OutgoingMessage>();
  #isOver = false;

  constructor(options: OutgoingOptions) {
    this.#options = options;
  }

  /** Whether a message has no outcome yet. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  send(text: string, options: SendOptions = {}): Promise<SendOutcome> {
    const { messageId = newMessageId(), ...choices } = options;
    const { conversationId } = this.#options;
    return this.#transmit({ ...choices, conversationId, messageId, message: text });
  }

  async retry(messageId: string): Promise<SendOutcome> {
    const message = this.#failed.get(messageId);
    if (message === undefined) {
      throw new ParleyRequestError("invalid_request", `No message ${messageId} has failed here`);
    }
    this.#failed.delete(messageId);
    return this.#transmit(message);
  }

  discard(messageId: string): void {
    this.#failed.delete(messageId);
    const pending = this.#pending.get(messageId);
    this.#pending.delete(messageId);
    this.#options.link.unsend(messageId);
    this.#options.change((state) => applyDiscard(state, messageId));
    pending?.reject(new ParleyRequestError("canceled", "The message was discarded"));
  }

  /** The link is back. */
  sendAgain(): void {
    for (const { message } of this.#pending.values()) this.#options.link.send(message);
  }

  /** The link is given up for good. */
  end(): void {
    this.#isOver = true;
    for (const messageId of [...this.#pending.keys()]) this.onFailure(messageId, letGo);
  }

  onReceipt({ conversationId, messageId, outcome, turnId }: SendOutcome): void {
    const receipt = { conversationId, messageId, outcome, ...omitUndefined({ turnId }) };
    this.#options.change((state) => applyReceipt(state, receipt));
    this.#pending.get(messageId)?.resolve(receipt);
    this.#pending.delete(messageId);
  }

  onFailure(messageId: string, error: Failure): void {
    const { link, change, retryLater } = this.#options;
    const pending = this.#pending.get(messageId);
    if (pending === undefined) return;
    if (error.code === "draining") {
      // This node goes away, and another one, or the same one anew, will take it.
      retryLater(() => {
        if (this.#pending.has(messageId) && link.isOpen()) link.send(pending.message);
      });
      return;
    }
    this.#pending.delete(messageId);
    this.#failed.set(messageId, pending.message);
    change((state) => applySendFailure(state, messageId, error));
    const { code, message, retryable } = error;
    pending.reject(new ParleyRequestError(code as ErrorCode, message, { retryable }));
  }

  #transmit(message: OutgoingMessage): Promise<SendOutcome> {
    const { link, now, change } = this.#options;
    const { messageId, message: text } = message;
    const known = this.#pending.get(messageId);
    if (known !== undefined) return known.outcome;
    change((state) => applyOptimistic(state, { messageId, text, createdAt: now() }));
    let resolve: Pending["resolve"] = () => {};
    let reject: Pending["reject"] = () => {};
    const outcome = new Promise<SendOutcome>((yes, no) => {
      resolve = yes;
      reject = no;
    });
    this.#pending.set(messageId, { message, resolve, reject, outcome });
    if (this.#isOver) this.onFailure(messageId, letGo);
    else if (link.isOpen()) link.send(message);
    return outcome;
  }
}
