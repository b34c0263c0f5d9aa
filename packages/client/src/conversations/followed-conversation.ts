import { pageCursor } from "@parley/fold";
import type { ConversationMeta, HistoryResponse, QueuePayload, WsChatSnapshot } from "@parley/wire";
import { backoffMs } from "../connection/backoff.js";
import type { Link, Listener } from "../connection/link.js";
import type { ConnectionPace } from "../connection/pace.js";
import { Outbox } from "../outbox/outbox.js";
import type { OutboxStorage } from "../outbox/outbox-storage.js";
import { abortAfter, type Request } from "../requests/request.js";
import { toFailure } from "../requests/request-error.js";
import { applyDetail, applyFrame } from "../state/apply-frame.js";
import {
  applyHistory,
  applyLoadFailure,
  applyLoadingEarlier,
  applyMeta,
  applyQueue,
} from "../state/apply-history.js";
import { applyRestart } from "../state/apply-send.js";
import type { ConversationState, Failure } from "../state/conversation-state.js";
import { initialState } from "../state/fold.js";
import type { ConversationHandle } from "./conversation-handle.js";
import { inputAnswers } from "./input-answers.js";
import { createStore, type Schedule, type Store } from "./store.js";
import { TurnFigures } from "./turn-figures.js";

/** How many chunks a page of history has. */
const pageSize = 200;
/** How long after a snapshot the figures of missed turns are asked for. */
const figuresAfterMs = 100;

/** What a followed conversation needs. */
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
 * One conversation that is followed: loads it, folds what the link brings, and sends what the user says.
 *
 * It begins with the newest page of history. Then it follows on from the seq before the newest turn in that page:
 * whatever was committed since, and all that was told of a turn that is open, comes with the subscription, so
 * nothing falls between. Frames count only behind the snapshot that opens a subscription; what comes before it
 * belongs to another one. After a break it follows on by the newest cursor, and nothing is loaded again.
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
  #earlier: Promise<void> | undefined;
  /** Where to follow on from before the first snapshot. */
  #start: string | undefined;
  /** Whether this subscription has had its snapshot. */
  #isJoined = false;
  /** True once the queue was told since the link is up: what was told is newer than what a snapshot has. */
  #isQueueTold = false;
  readonly #figures: TurnFigures;
  #attempt = 0;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();

  constructor(id: string, env: FollowEnvironment, release: () => void) {
    this.id = id;
    this.#env = env;
    this.#store = createStore(initialState(id), env.schedule);
    const params = { id };
    const { request } = env;
    this.#outbox = new Outbox({
      conversationId: id,
      link: env.link,
      request,
      storage: env.storage,
      attemptMs: env.pace.loadMs,
      backoffMs: (attempt) => this.#backoff(attempt),
      now: env.now,
      state: this.#store.get,
      change: (by) => this.#change(by),
      // A conversation that a message makes was not there before.
      onOutcome: () => this.#loadIfMissing(),
    });
    this.#figures = new TurnFigures({
      conversationId: id,
      request,
      state: this.#store.get,
      change: (by) => this.#change(by),
      isWanted: () => this.#isStarted,
      loadMs: env.pace.loadMs,
    });
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
      ...inputAnswers({
        conversationId: id,
        request,
        change: (by) => this.#change(by),
        timeoutMs: env.pace.loadMs,
      }),
      loadEarlier: (limit) => this.#loadEarlier(limit),
      loadThrough: (seq) => this.#loadThrough(seq),
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

  /** Nobody is interested any more. What was sent and has no outcome is reported as canceled. */
  stop(): void {
    this.#isStarted = false;
    this.#loadAbort?.abort();
    this.#loadAbort = undefined;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#env.link.unfollow(this.id);
    this.#outbox.end();
  }

  /** Whether a message has no outcome yet. */
  get isBusy(): boolean {
    return this.#outbox.isBusy;
  }

  /** Sends at once what waits to be sent again. */
  retryNow(): void {
    this.#outbox.wake();
  }

  onUp(): void {
    this.#isJoined = false;
    this.#isQueueTold = false;
    if (this.#start === undefined) this.#loadUnlessSending();
    else this.#follow();
    this.#outbox.wake();
  }

  onFrame(frame: Parameters<Listener["onFrame"]>[0]): void {
    if (frame.type === "chat.snapshot") this.#join(frame);
    // Its log was replaced. The newest page is enough here, whereas the frames that follow bring all of it.
    else if (frame.type === "chat.reset" && frame.turnId === undefined && this.#isJoined) this.#reload();
    else if (this.#isJoined) this.#change((state) => applyFrame(state, frame));
  }

  #join(snapshot: WsChatSnapshot): void {
    const { meta } = this.#state;
    if (meta !== undefined && meta.createdAt !== snapshot.meta.createdAt) {
      // It was deleted and made again under its id: what is here is another log's.
      this.#reload();
      return;
    }
    this.#isJoined = true;
    this.#attempt = 0;
    const { activeTurn } = this.#state;
    if (activeTurn !== undefined && activeTurn.turnId !== snapshot.activeTurn?.turnId)
      this.#figures.turnEndedUnheard();
    // Once all that was missed has come.
    this.#later(figuresAfterMs, () => this.#figures.load());
    this.#change((state) => {
      const queue = this.#isQueueTold ? state.queue : snapshot.queue;
      return applyFrame(state, { ...snapshot, queue });
    });
  }

  onFailure(error: Failure): void {
    this.#isJoined = false;
    if (error.code === "conversation_not_found") this.onRemoved();
    // The cursor is none of this server's: what is here may be another log's.
    else if (error.code === "invalid_request") this.#reload();
    else if (error.retryable) this.#retryLater(() => this.#follow());
    else this.#change((state) => applyLoadFailure(state, error));
  }

  onQueue(queue: QueuePayload): void {
    this.#isQueueTold = true;
    this.#change((state) => applyQueue(state, queue));
  }

  onMeta(meta: Parameters<Listener["onMeta"]>[0]): void {
    const before = this.#state.meta;
    this.#change((state) => applyMeta(state, meta));
    if (this.#start === undefined) this.#loadIfMissing();
    else if (before !== undefined && modelOf(before) !== modelOf(meta)) void this.#loadWindow();
  }

  onRemoved(): void {
    const error = {
      code: "conversation_not_found",
      message: "There is no such conversation",
      retryable: false,
    };
    this.#start = undefined;
    this.#isJoined = false;
    this.#change((state) => applyLoadFailure(applyRestart(state), error));
  }

  /** A conversation that begins with a message is not there before that message is: it is loaded with its receipt. */
  #loadUnlessSending(): void {
    if (this.#isStarted && !this.#outbox.isBusy) void this.#load();
  }

  /** Loads it if nothing of it is here or on its way. */
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

  /** Loads the newest page. One that is under way is given up for the new one. */
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
      this.#start = page.cursor ?? pageCursor(page.chunks) ?? "0";
      this.#change((state) => applyHistory(applyDetail(state, detail), page));
      this.#outbox.adopt();
      this.#follow();
      this.#figures.load();
    } catch (thrown) {
      if (this.#loadAbort !== abort) return;
      const error = toFailure(thrown);
      this.#change((state) => applyLoadFailure(state, error));
      if (error.code === "conversation_not_found") this.#outbox.adopt();
      // Unless it was loaded meanwhile: what comes now may be older than what the link has brought since.
      if (error.retryable) this.#retryLater(() => this.#loadIfMissing());
    } finally {
      clearTimeout(deadline);
      // What is left of the other one is of no use.
      abort.abort();
    }
  }

  #reload(): void {
    this.#start = undefined;
    this.#isJoined = false;
    this.#env.link.unfollow(this.id);
    this.#change(applyRestart);
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
      // The gauge keeps the window that it knew.
    }
  }

  #loadEarlier(limit = pageSize): Promise<void> {
    this.#earlier ??= this.#loadPage(limit).finally(() => {
      this.#earlier = undefined;
    });
    return this.#earlier;
  }

  async #loadPage(limit: number): Promise<void> {
    if (this.#state.phase === "loading") await this.#untilLoaded();
    const { oldestSeq, hasEarlier } = this.#state;
    if (!hasEarlier) return;
    this.#change((state) => applyLoadingEarlier(state, true));
    const oldestKnown = this.#figures.oldestKnownTurn();
    let page: HistoryResponse | undefined;
    try {
      const query = { limit, open: true, beforeSeq: oldestSeq };
      const signal = AbortSignal.timeout(this.#env.pace.loadMs);
      page = await this.#env.request("GET /conversations/:id", { params: { id: this.id }, query, signal });
    } finally {
      const loaded = page;
      this.#change((state) =>
        // It may have been loaded anew meanwhile, and hold another window.
        loaded === undefined || state.oldestSeq !== oldestSeq
          ? applyLoadingEarlier(state, false)
          : applyHistory(state, loaded),
      );
    }
    this.#figures.load(oldestKnown);
  }

  /** Waits for the newest page: for one that has yet to be asked for, and for one that takes another's place. */
  async #untilLoaded(): Promise<void> {
    let loading: Promise<void> | undefined;
    do {
      loading = this.#loading;
      await loading;
    } while (loading !== this.#loading);
  }

  async #loadThrough(seq: number): Promise<void> {
    await this.#untilLoaded();
    while (this.#state.hasEarlier && (this.#state.oldestSeq ?? 0) > seq) {
      const before = this.#state.oldestSeq;
      await this.#loadEarlier(Math.min(1000, Math.max(pageSize, (before ?? 0) - seq)));
      if (this.#state.oldestSeq === before) return;
    }
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

/** The model whose window counts. */
function modelOf({ effective, model }: ConversationMeta): string | undefined {
  return effective?.model ?? model;
}
