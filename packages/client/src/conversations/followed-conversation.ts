import type { ConversationMeta, QueuePayload, WsChatSnapshot } from "@parley/wire";
import { backoffMs } from "../connection/backoff.js";
import type { Link, Listener } from "../connection/link.js";
import type { ConnectionPace } from "../connection/pace.js";
import { Outbox } from "../outbox/outbox.js";
import type { OutboxStorage } from "../outbox/outbox-storage.js";
import { abortAfter, type Request } from "../requests/request.js";
import { toFailure } from "../requests/request-error.js";
import { applyDetail, applyFrame } from "../state/apply-frame.js";
import { applyHistory, applyLoadFailure, applyMeta, applyQueue, applyReady } from "../state/apply-history.js";
import { applyRestart } from "../state/apply-send.js";
import type { ConversationState, Failure } from "../state/conversation-state.js";
import { initialState } from "../state/fold.js";
import type { ConversationHandle } from "./conversation-handle.js";
import { historyPages, pageSize } from "./history-pages.js";
import { inputAnswers } from "./input-answers.js";
import { createStore, type Schedule, type Store } from "./store.js";
import { TurnFigures } from "./turn-figures.js";

/** Delay between a snapshot and the request for the figures of missed turns. */
const figuresAfterMs = 100;

/** Dependencies of a followed conversation. */
export interface FollowEnvironment {
  readonly link: Link;
  readonly request: Request;
  readonly storage: OutboxStorage | undefined;
  readonly schedule: Schedule;
  readonly pace: ConnectionPace;
  readonly now: () => number;
  readonly random: () => number;
}

/**
 * One conversation that is followed: loads it, folds the frames of the link, and sends the user's messages.
 *
 * It begins with the newest page of history. Then it follows from the seq before the newest turn in that page:
 * everything that was committed since, and all events published of a turn that is open, come with the subscription, so
 * nothing is missed in between. Frames count only after the snapshot that opens a subscription; earlier ones belong to
 * another subscription. After a break it resumes with the newest cursor, and nothing is loaded again.
 */
export class FollowedConversation implements Listener {
  readonly id: string;
  readonly handle: ConversationHandle;
  readonly #env: FollowEnvironment;
  readonly #store: Store<ConversationState>;
  readonly #outbox: Outbox;
  #isStarted = false;
  #loading: Promise<void> | undefined;
  #loadAbort: AbortController | undefined;
  /** Cursor to follow from before the first snapshot. */
  #start: string | undefined;
  /** True once this subscription has received its snapshot. */
  #isJoined = false;
  /** True once the queue was published since the link is up: that queue is newer than the one of a snapshot. */
  #isQueuePublished = false;
  readonly #figures: TurnFigures;
  /** Number of restarts, each of which discards everything that is loaded. */
  #restarts = 0;
  #attempt = 0;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  constructor(id: string, env: FollowEnvironment, release: () => void) {
    this.id = id;
    this.#env = env;
    this.#store = createStore(initialState(id), env.schedule);
    const params = { id };
    const { request } = env;
    const shared = {
      ...env,
      conversationId: id,
      state: this.#store.get,
      change: (by: (state: ConversationState) => ConversationState) => this.#change(by),
      loadMs: env.pace.loadMs,
    };
    this.#outbox = new Outbox({
      ...shared,
      backoffMs: (attempt) => this.#backoff(attempt),
      onOutcome: (followedFrom) => {
        if (followedFrom !== undefined && this.#start === undefined) this.#begin(followedFrom);
        // A conversation that a message creates did not exist before.
        this.#loadIfMissing();
      },
    });
    this.#figures = new TurnFigures({ ...shared, isWanted: () => this.#isStarted });
    this.handle = {
      id,
      getState: this.#store.get,
      subscribe: this.#store.subscribe,
      send: (text, options) => this.#outbox.send(text, options),
      cancel: (messageId) => this.#outbox.cancel(messageId),
      retry: (messageId) => this.#outbox.retry(messageId),
      editQueued: (messageId, change) =>
        request("PATCH /conversations/:id/queue/:messageId", { params: { id, messageId }, body: change }),
      removeQueued: (messageId) =>
        request("DELETE /conversations/:id/queue/:messageId", { params: { id, messageId } }),
      resumeQueue: () => request("POST /conversations/:id/queue/resume", { params }),
      stop: () => request("POST /conversations/:id/stop", { params }),
      ...inputAnswers(shared),
      ...historyPages({
        ...shared,
        restarts: () => this.#restarts,
        untilLoaded: () => this.#untilLoaded(),
        figures: this.#figures,
      }),
      reload: () => this.#reload(),
      release,
    };
  }

  get #state(): ConversationState {
    return this.#store.get();
  }

  #change(by: (state: ConversationState) => ConversationState): void {
    this.#store.set(by(this.#state));
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    queueMicrotask(() => this.#loadUnlessSending());
  }

  /** Stops following: no caller holds it any more. What was sent and has no outcome is reported as canceled. */
  stop(): void {
    this.#isStarted = false;
    this.#loadAbort?.abort();
    this.#loadAbort = undefined;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#env.link.unfollow(this.id);
    this.#outbox.end();
  }

  /** True while a message has no outcome. */
  get isBusy(): boolean {
    return this.#outbox.isBusy;
  }

  /** Sends pending retries at once. */
  retryNow(): void {
    this.#outbox.wake();
  }

  onUp(): void {
    this.#isJoined = false;
    this.#isQueuePublished = false;
    if (this.#start === undefined) this.#loadUnlessSending();
    else this.#follow();
    this.#outbox.wake();
  }

  onFrame(frame: Parameters<Listener["onFrame"]>[0]): void {
    if (frame.type === "chat.snapshot") this.#join(frame);
    // Its log was replaced. The newest page is enough here, while the frames that follow would bring all of it.
    else if (frame.type === "chat.reset" && frame.turnId === undefined && this.#isJoined) this.#reload();
    else if (this.#isJoined) this.#change((state) => applyFrame(state, frame));
  }

  #join(snapshot: WsChatSnapshot): void {
    const { meta } = this.#state;
    if (meta !== undefined && meta.createdAt !== snapshot.meta.createdAt) {
      // It was deleted and created again under its id: the state here belongs to another log.
      this.#reload();
      return;
    }
    this.#isJoined = true;
    this.#attempt = 0;
    const { activeTurn } = this.#state;
    if (activeTurn !== undefined && activeTurn.turnId !== snapshot.activeTurn?.turnId)
      this.#figures.turnEndMissed();
    // After everything that was missed has arrived.
    this.#later(figuresAfterMs, () => this.#figures.load());
    this.#change((state) => {
      const queue = this.#isQueuePublished ? state.queue : snapshot.queue;
      const joined = applyFrame(state, { ...snapshot, queue });
      return this.#start === undefined ? joined : applyReady(joined);
    });
  }

  onFailure(error: Failure): void {
    this.#isJoined = false;
    if (error.code === "conversation_not_found") this.onRemoved();
    // The cursor is not from this server: the state here may belong to another log.
    else if (error.code === "invalid_request") this.#reload();
    else if (error.retryable) this.#retryLater(() => this.#follow());
    else this.#change((state) => applyLoadFailure(state, error));
  }

  onQueue(queue: QueuePayload): void {
    this.#isQueuePublished = true;
    this.#change((state) => applyQueue(state, queue));
  }

  onMeta(meta: Parameters<Listener["onMeta"]>[0]): void {
    const before = this.#state.meta;
    this.#change((state) => applyMeta(state, meta));
    if (this.#start === undefined) {
      // A pending message may have created it, and its receipt shows whether there is anything to load.
      if (!this.#outbox.isBusy) this.#loadIfMissing();
    } else if (before !== undefined && modelOf(before) !== modelOf(meta)) void this.#loadWindow();
  }

  onRemoved(): void {
    const error = {
      code: "conversation_not_found",
      message: "There is no such conversation",
      retryable: false,
    };
    this.#start = undefined;
    this.#isJoined = false;
    this.#restarts += 1;
    this.#change((state) => applyLoadFailure(applyRestart(state), error));
  }

  /** Follows it from this cursor. Nothing before the cursor is missing. */
  #begin(cursor: string): void {
    this.#start = cursor;
    if (this.#isJoined) this.#change(applyReady);
    this.#outbox.adopt();
  }

  /** Loads it unless a message is pending: a conversation that begins with a message is loaded with its receipt. */
  #loadUnlessSending(): void {
    if (this.#isStarted && !this.#outbox.isBusy) void this.#load();
  }

  /** Loads it if it is neither loaded nor being loaded. */
  #loadIfMissing(): void {
    const isMissing = this.#start === undefined && this.#loadAbort === undefined;
    if (isMissing && this.#isStarted) void this.#load();
  }

  #follow(): void {
    this.#isJoined = false;
    const cursor = this.#state.cursor ?? this.#start;
    if (!this.#isStarted || cursor === undefined || !this.#env.link.isOpen()) return;
    this.#env.link.follow(this.id, cursor);
  }

  /** Loads the newest page. Cancels a load in progress. */
  #load(): Promise<void> {
    this.#loadAbort?.abort();
    const abort = new AbortController();
    this.#loadAbort = abort;
    const loading = this.#loadNewest(abort).finally(() => {
      if (this.#loadAbort === abort) this.#loadAbort = undefined;
    });
    this.#loading = loading;
    return loading;
  }

  async #loadNewest(abort: AbortController): Promise<void> {
    const { request, pace } = this.#env;
    const params = { id: this.id };
    const { signal } = abort;
    const deadline = abortAfter(pace.loadMs, abort);
    try {
      const [page, detail] = await Promise.all([
        request("GET /conversations/:id", { params, signal, query: { limit: pageSize, open: true } }),
        request("GET /conversations/:id/meta", { params, signal }),
      ]);
      if (this.#loadAbort !== abort) return;
      this.#attempt = 0;
      this.#start = page.cursor ?? "0";
      this.#change((state) => applyHistory(applyDetail(state, detail), page));
      this.#outbox.adopt();
      this.#follow();
      this.#figures.load();
    } catch (thrown) {
      if (this.#loadAbort !== abort) return;
      const error = toFailure(thrown);
      this.#change((state) => applyLoadFailure(state, error));
      if (error.code === "conversation_not_found") this.#outbox.adopt();
      // Unless it was loaded meanwhile: the page may be older than what the link has brought since.
      if (error.retryable) this.#retryLater(() => this.#loadIfMissing());
    } finally {
      clearTimeout(deadline);
      // The rest of the other load is of no use.
      abort.abort();
    }
  }

  #reload(): void {
    this.#start = undefined;
    this.#isJoined = false;
    this.#env.link.unfollow(this.id);
    this.#change(applyRestart);
    this.#restarts += 1;
    if (this.#isStarted) void this.#load();
  }

  async #loadWindow(): Promise<void> {
    try {
      const { contextWindow } = await this.#env.request("GET /conversations/:id/meta", {
        params: { id: this.id },
      });
      this.#change((state) =>
        state.meta === undefined ? state : applyMeta(state, state.meta, { contextWindow }),
      );
    } catch {
      // The gauge keeps the previous window.
    }
  }

  /** Waits for the newest page: for one that is not requested yet, and for one that replaces another. */
  async #untilLoaded(): Promise<void> {
    let loading: Promise<void> | undefined;
    do {
      loading = this.#loading;
      await loading;
    } while (loading !== this.#loading);
  }

  #backoff(attempt: number): number {
    const { pace, random } = this.#env;
    return backoffMs(attempt, { minMs: pace.retryMinMs, maxMs: pace.retryMaxMs, random });
  }

  #retryLater(work: () => void): void {
    this.#later(this.#backoff(this.#attempt), work);
    this.#attempt += 1;
  }

  #later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }
}

/** Returns the model whose window counts. */
function modelOf({ effective, model }: ConversationMeta): string | undefined {
  return effective?.model ?? model;
}
