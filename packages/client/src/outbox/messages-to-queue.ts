import type { EnqueueRequest, EnqueueResponse, ErrorCode, QueuePayload } from "@parley/wire";
import type { EnqueueOptions } from "../conversations/conversation-handle.js";
import type { Request } from "../requests/request.js";
import { ParleyRequestError } from "../requests/request-error.js";
import type { ConversationState } from "../state/conversation-state.js";
import { applyUnsent, applyUnsentDone } from "../state/unsent.js";
import { newMessageId } from "./ids.js";

/** What a server says that cannot do its work now, or something between it and here. */
const passing: readonly ErrorCode[] = ["network", "timeout", "draining", "store_unavailable"];

interface Pending {
  readonly answer: Promise<EnqueueResponse>;
  isDiscarded: boolean;
}

/** What the messages to a queue need. */
export interface MessagesToQueueOptions {
  readonly conversationId: string;
  readonly request: Request;
  /** How long a request may take. Then it is made anew, lest all that comes after it wait for one that hangs. */
  readonly requestMs: number;
  readonly change: (by: (state: ConversationState) => ConversationState) => void;
  /** Shows the queue of an answer. */
  readonly take: <Answer extends { readonly queue: QueuePayload }>(call: Promise<Answer>) => Promise<Answer>;
  /** Lets time pass after so many failures, until the link is back at most. False when there is no more to be done. */
  readonly pause: (attempt: number) => Promise<boolean>;
}

/**
 * The messages of one conversation on their way to its queue. Each shows in the state as unsent until the server has
 * it, and is sent again and again while the server is not there for it: its id makes it one message. They go one after
 * the other, so that they wait in the order in which they were written.
 */
export class MessagesToQueue {
  readonly #options: MessagesToQueueOptions;
  readonly #pending = new Map<string, Pending>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: MessagesToQueueOptions) {
    this.#options = options;
  }

  /** Whether a message has no outcome yet. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  enqueue(text: string, options: EnqueueOptions = {}): Promise<EnqueueResponse> {
    const { messageId = newMessageId(), mode = "steer", ...choices } = options;
    const known = this.#pending.get(messageId);
    if (known !== undefined) return known.answer;
    const { change } = this.#options;
    change((state) => applyUnsent(state, { id: messageId, text, mode }));
    const body = { ...choices, mode, text, messageId };
    const answer = this.#last
      .then(() => this.#transmit(body))
      .finally(() => {
        this.#pending.delete(messageId);
        change((state) => applyUnsentDone(state, messageId));
      });
    this.#pending.set(messageId, { answer, isDiscarded: false });
    this.#last = answer.catch(() => {});
    return answer;
  }

  discard(messageId: string): void {
    const pending = this.#pending.get(messageId);
    if (pending === undefined) return;
    pending.isDiscarded = true;
    this.#options.change((state) => applyUnsentDone(state, messageId));
  }

  async #transmit(body: EnqueueRequest & { readonly messageId: string }): Promise<EnqueueResponse> {
    const { conversationId: id, request, requestMs, take, pause } = this.#options;
    const { messageId } = body;
    const isDiscarded = () => this.#pending.get(messageId)?.isDiscarded === true;
    for (let attempt = 0; !isDiscarded(); attempt += 1) {
      try {
        const signal = AbortSignal.timeout(requestMs);
        const answer = await take(request("POST /conversations/:id/queue", { params: { id }, body, signal }));
        if (!isDiscarded()) return answer;
      } catch (error) {
        if (!isAway(error)) throw error;
        if (!(await pause(attempt))) throw error;
      }
      if (isDiscarded()) await this.#takeBack(messageId);
    }
    throw new ParleyRequestError("canceled", "The message was discarded");
  }

  /** Removes a message that may have come through, though nobody heard so. One that was delivered stays. */
  async #takeBack(messageId: string): Promise<void> {
    const { conversationId: id, request, requestMs, take, pause } = this.#options;
    const params = { id, messageId };
    for (let attempt = 0; ; attempt += 1) {
      try {
        const signal = AbortSignal.timeout(requestMs);
        await take(request("DELETE /conversations/:id/queue/:messageId", { params, signal }));
        return;
      } catch (error) {
        if (!isAway(error) || !(await pause(attempt))) return;
      }
    }
  }
}

/** Whether the server could not be reached, or could not say what became of it: that passes, and decides nothing. */
function isAway(error: unknown): boolean {
  return error instanceof ParleyRequestError && passing.includes(error.code);
}
