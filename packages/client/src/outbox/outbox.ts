import { omitUndefined } from "@parley/fold";
import type { ErrorCode, MessageReceipt } from "@parley/wire";
import type { Link } from "../connection/link.js";
import type { SendOptions } from "../conversations/conversation-handle.js";
import { abortAfter, type Request, transportError } from "../requests/request.js";
import { ParleyRequestError, toFailure } from "../requests/request-error.js";
import { applyCancel, applyPending, applyReceipt, applySendFailure } from "../state/apply-send.js";
import type { ConversationState, Failure, PendingMessage } from "../state/conversation-state.js";
import { newMessageId } from "./ids.js";
import type { OutboxStorage, StoredMessage } from "./outbox-storage.js";

/** Failures that decide nothing: the server could not be reached, or could not process it now. */
const passing: readonly ErrorCode[] = ["network", "timeout", "draining", "store_unavailable"];

/** The failure of a message to a conversation that was released. */
const letGo: Failure = {
  code: "canceled",
  message: "The conversation is no longer followed",
  retryable: true,
};

/** The failure of a message that another page has left behind. */
const leftBehind: Failure = {
  code: "canceled",
  message: "The page was closed before the message was sent",
  retryable: true,
};

interface Entry {
  readonly message: StoredMessage;
  readonly receipt: Promise<MessageReceipt>;
  readonly resolve: (receipt: MessageReceipt) => void;
  readonly reject: (error: ParleyRequestError) => void;
  isCanceled: boolean;
  /** True once the server may have it, though no receipt came. */
  mayBeThere: boolean;
}

/** Dependencies of an outbox. */
export interface OutboxOptions {
  readonly conversationId: string;
  readonly link: Link;
  readonly request: Request;
  readonly storage: OutboxStorage | undefined;
  /** Time that an attempt may take. Then another one is made, so that later messages do not wait for one that hangs. */
  readonly loadMs: number;
  readonly backoffMs: (attempt: number) => number;
  readonly now: () => number;
  readonly state: () => ConversationState;
  readonly change: (by: (state: ConversationState) => ConversationState) => void;
  /** Called when a message has an outcome, good or bad; with the cursor that it is followed from, if it was sent with one. */
  readonly onOutcome: (followedFrom?: string) => void;
}

/**
 * The messages of one conversation on their way to the server, in the order in which they were written. One is sent at
 * a time. It is sent again under its id, any number of times, while the failure is temporary; the server accepts it
 * once. A refusal makes it `failed`, and the next one is sent.
 *
 * A canceled message that may have arrived is removed from the server's queue before the next one is sent.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #entries: Entry[] = [];
  /** Failed ones, to be sent again as they were. */
  readonly #failed = new Map<string, StoredMessage>();
  #isRunning = false;
  #isOver = false;
  #attempt: AbortController | undefined;
  /** Ends the pause between two attempts. */
  #endPause: (() => void) | undefined;
  #isWoken = false;
  #adopting: AbortController | undefined;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** True while a message has no outcome. */
  get isBusy(): boolean {
    return this.#entries.length > 0;
  }

  send(text: string, options: SendOptions = {}): Promise<MessageReceipt> {
    const { messageId = newMessageId(), ifBusy = "reject", files, isNew, ...choices } = options;
    const { conversationId, now } = this.#options;
    const known = this.#find(messageId);
    if (known !== undefined) return known.receipt;
    const parts = files?.map(({ id }) => ({ type: "file" as const, uploadId: id }));
    const cursor = isNew === true ? "0" : undefined;
    const chosen = omitUndefined({ ...choices, files, parts, cursor });
    return this.#add({ ...chosen, conversationId, messageId, message: text, ifBusy, createdAt: now() });
  }

  retry(messageId: string): Promise<MessageReceipt> {
    const message = this.#failed.get(messageId);
    if (message !== undefined) return this.#add(message);
    const error = new ParleyRequestError("invalid_request", `No message ${messageId} has failed here`);
    return Promise.reject(error);
  }

  cancel(messageId: string): void {
    const entry = this.#find(messageId);
    this.#failed.delete(messageId);
    this.#options.storage?.remove(messageId);
    this.#options.change((state) => applyCancel(state, messageId));
    if (entry === undefined) return;
    entry.isCanceled = true;
    entry.reject(new ParleyRequestError("canceled", "The message was canceled"));
    if (!entry.mayBeThere) this.#remove(entry);
    this.wake();
  }

  /** Ends the pause between two attempts: the link is open again, or a caller requests it. */
  wake(): void {
    this.#isWoken = true;
    this.#endPause?.();
  }

  /** Takes over messages that other pages left behind. To be called once the server's state is known. */
  adopt(): void {
    const { conversationId, storage } = this.#options;
    this.#adopting?.abort();
    this.#adopting = new AbortController();
    storage?.adopt(conversationId, this.#adopting.signal, (messages) => {
      for (const message of messages) this.#adoptOne(message, storage);
    });
  }

  /** Gives up permanently. What has no outcome has failed; the storage keeps it. */
  end(): void {
    this.#isOver = true;
    this.#adopting?.abort();
    for (const entry of [...this.#entries]) this.#fail(entry, letGo);
    this.#attempt?.abort();
    this.wake();
  }

  #find(messageId: string): Entry | undefined {
    return this.#entries.find(({ message, isCanceled }) => message.messageId === messageId && !isCanceled);
  }

  #adoptOne(message: StoredMessage, storage: OutboxStorage): void {
    const { messageId: id } = message;
    if (this.#find(id) !== undefined || this.#failed.has(id)) return;
    const { messages, queue } = this.#options.state();
    if ([...messages, ...queue.messages].some((known) => known.id === id)) {
      storage.remove(id);
      return;
    }
    this.#failed.set(id, message);
    this.#show(message, { status: "failed", error: leftBehind });
  }

  #show(message: StoredMessage, outcome: Pick<PendingMessage, "status" | "error">): void {
    const { messageId: id, message: text, ifBusy = "reject", createdAt, files } = message;
    const pending = { id, text, ifBusy, createdAt, files, ...outcome };
    this.#options.change((state) => applyPending(state, pending));
  }

  #add(message: StoredMessage): Promise<MessageReceipt> {
    this.#failed.delete(message.messageId);
    let resolve: Entry["resolve"] = () => {};
    let reject: Entry["reject"] = () => {};
    const receipt = new Promise<MessageReceipt>((yes, no) => {
      resolve = yes;
      reject = no;
    });
    // A caller that does not await it sees a failure in the state.
    receipt.catch(() => {});
    const entry = { message, receipt, resolve, reject, isCanceled: false, mayBeThere: false };
    this.#options.storage?.save(message);
    this.#show(message, { status: "sending" });
    this.#entries.push(entry);
    if (this.#isOver) this.#fail(entry, letGo);
    else void this.#run();
    return receipt;
  }

  #remove(entry: Entry): void {
    const at = this.#entries.indexOf(entry);
    if (at !== -1) this.#entries.splice(at, 1);
  }

  #succeed(entry: Entry, receipt: MessageReceipt): void {
    this.#remove(entry);
    this.#options.storage?.remove(entry.message.messageId);
    this.#options.change((state) => applyReceipt(state, receipt));
    entry.resolve(receipt);
    this.#options.onOutcome(entry.message.cursor);
  }

  #fail(entry: Entry, error: Failure): void {
    this.#remove(entry);
    if (entry.isCanceled) return;
    const { messageId } = entry.message;
    this.#failed.set(messageId, entry.message);
    this.#options.change((state) => applySendFailure(state, messageId, error));
    const { code, message, retryable } = error;
    entry.reject(new ParleyRequestError(code as ErrorCode, message, { retryable }));
    if (!this.#isOver) this.#options.onOutcome();
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let entry = this.#entries[0]; entry !== undefined; entry = this.#entries[0])
      await this.#deliver(entry);
    this.#isRunning = false;
  }

  /** Attempts it until it has an outcome; a canceled one until it is not in the server's queue. */
  async #deliver(entry: Entry): Promise<void> {
    const isHere = () => this.#entries.includes(entry);
    for (let attempt = 0; isHere(); attempt += 1) {
      this.#isWoken = false;
      try {
        if (entry.isCanceled) await this.#withdraw(entry);
        else if (this.#options.link.isOpen()) await this.#transmit(entry);
        else await this.#pause(undefined);
      } catch (thrown) {
        const error = toFailure(thrown);
        if (!isHere()) return;
        if (!passing.includes(error.code as ErrorCode)) this.#fail(entry, error);
        else await this.#pause(this.#options.backoffMs(attempt));
      }
    }
  }

  async #transmit(entry: Entry): Promise<void> {
    const { createdAt: _, files: __, ...message } = entry.message;
    entry.mayBeThere = true;
    const receipt = await this.#within((signal) => this.#options.link.send(message, signal));
    if (!entry.isCanceled) this.#succeed(entry, receipt);
    else if (receipt.outcome === "started") this.#remove(entry);
  }

  /** Removes a canceled message from the server's queue. One that was delivered stays delivered. */
  async #withdraw(entry: Entry): Promise<void> {
    const { messageId, conversationId: id, ifBusy = "reject" } = entry.message;
    const params = { id, messageId };
    if (ifBusy !== "reject") {
      await this.#within((signal) =>
        this.#options.request("DELETE /conversations/:id/queue/:messageId", { params, signal }),
      );
    }
    this.#remove(entry);
  }

  /** Makes one call, for as long as an attempt may take. */
  async #within<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    const { signal } = abort;
    this.#attempt = abort;
    const timer = abortAfter(this.#options.loadMs, abort);
    try {
      // A custom `fetch` may ignore the signal.
      const givenUp = new Promise<never>((_, reject) => {
        signal.addEventListener("abort", () => reject(transportError(signal.reason, signal, "")));
      });
      return await Promise.race([call(signal), givenUp]);
    } finally {
      clearTimeout(timer);
      this.#attempt = undefined;
    }
  }

  /** Waits for `ms`, or until the link is open if it is not, unless it was woken during the attempt. */
  async #pause(ms: number | undefined): Promise<void> {
    if (this.#isWoken || this.#isOver) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#endPause = resolve;
      if (ms !== undefined) timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.#endPause = undefined;
  }
}
