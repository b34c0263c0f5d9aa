import { omitUndefined } from "@parley/fold";
import type {
  FileReference,
  QueuePayload,
  WsConversationCompacted,
  WsConversationOpen,
  WsConversationStatusChanged,
  WsConversationUpdated,
} from "@parley/wire";
import type { Clock } from "../../clock.js";
import { ParleyError } from "../../errors.js";
import { sliceLength, yieldToEventLoop } from "../../event-loop.js";
import type { ConversationMessage } from "../../messages/message.js";
import { isStoredFile } from "../../messages/part.js";
import { shownText, toChunks } from "../../messages/wire-chunks.js";
import type {
  ConversationNotice,
  ConversationRecord,
  LogStoreRoot,
  QueueState,
} from "../../ports/log-store.js";
import { type Defaults, toMeta } from "../conversation-meta.js";
import { waitingInfo } from "../input/waiting-info.js";

/** An event for watchers of an owner's conversations. */
export type WatchEvent =
  | WsConversationStatusChanged
  | WsConversationUpdated
  | WsConversationOpen
  | WsConversationCompacted
  | { readonly type: "conversation.removed"; readonly conversationId: string }
  | { readonly type: "queue.changed"; readonly conversationId: string; readonly queue: QueuePayload };

/** Number of changes that are read at once. */
const pageSize = 100;

/** Changes of one owner are collected for this long before its watchers are notified. */
const collectMs = 50;

/**
 * Notifying many watchers takes time: the pause after it is this many times as long, and more is collected meanwhile.
 */
const pauseFactor = 4;

/** Maximum number of conversations changed here that are read one by one: the feed takes four statements. */
const mostSingle = 3;

/** Number of changes published without the feed from which on the feed is read up to them. */
const mostAhead = 100;

interface Feed {
  readonly listeners: Set<(event: WatchEvent) => void>;
  /** The last published state of each conversation: only differences are published. */
  readonly published: Map<
    string,
    { readonly status: string; readonly queue: string; readonly waiting: string; readonly changedAt: number }
  >;
  /** The changes after `since` that were published without the feed. */
  readonly ahead: Set<number>;
  since: number | undefined;
  /** Conversations that were changed here and have not been read since. */
  changedHere: Set<string>;
  /** True if something else has changed: the feed has to be read. */
  isStale: boolean;
  reading: Promise<void> | undefined;
  cancelReading: (() => void) | undefined;
  pauseMs: number;
  /** True if changes made here have been waiting to be read at some time since the last poll began. */
  mayBeOwn: boolean;
  /** Number of the poll that finds out if there were others. */
  leftToPoll: number;
}

/**
 * Publishes the changes of an owner's conversations to its watchers, asynchronously to the changes: they are
 * collected for a moment, and many watchers are notified in slices.
 *
 * Changes on any node come from the store's feed of changes, read if a poll has found some. For a conversation that
 * was changed here the record itself is read, which is less work; polls leave out changes that were published this
 * way.
 */
export class Watchers {
  readonly #root: LogStoreRoot;
  readonly #clock: Clock;
  readonly #defaults: Defaults;
  readonly #feeds = new Map<string, Feed>();
  #polls = 0;
  readonly #onError: (error: unknown) => void;

  constructor(root: LogStoreRoot, clock: Clock, defaults: Defaults, onError: (error: unknown) => void) {
    this.#root = root;
    this.#clock = clock;
    this.#defaults = defaults;
    this.#onError = onError;
  }

  /** Begins a poll: returns the owners that are watched here, each with the changes that were published. */
  marks(): { owner: string; since: number; published: number[] }[] {
    this.#polls += 1;
    const marks: { owner: string; since: number; published: number[] }[] = [];
    for (const [owner, feed] of this.#feeds) {
      if (feed.since === undefined) continue;
      feed.mayBeOwn = isBeingRead(feed);
      marks.push({ owner, since: feed.since, published: [...feed.ahead] });
    }
    return marks;
  }

  /**
   * Handles changes of an owner that a poll has found. If changes made here were about to be read, they may be all
   * that it has found: then it is left to the next poll, but never twice in a row.
   */
  found(owner: string): void {
    const feed = this.#feeds.get(owner);
    if (feed === undefined) return;
    if (feed.mayBeOwn && feed.leftToPoll !== this.#polls) feed.leftToPoll = this.#polls + 1;
    else this.changed(owner);
  }

  close(): void {
    for (const feed of this.#feeds.values()) feed.cancelReading?.();
    this.#feeds.clear();
  }

  /** Resolves when every later change will be published; read the list after that. Returns a function that stops. */
  async watch(owner: string, listener: (event: WatchEvent) => void): Promise<() => void> {
    let feed = this.#feeds.get(owner);
    if (feed === undefined) {
      feed = {
        listeners: new Set(),
        published: new Map(),
        ahead: new Set(),
        since: undefined,
        changedHere: new Set(),
        isStale: false,
        reading: undefined,
        cancelReading: undefined,
        pauseMs: collectMs,
        mayBeOwn: false,
        leftToPoll: 0,
      };
      this.#feeds.set(owner, feed);
    }
    const { listeners } = feed;
    // A separate function, so that the same listener may be added twice.
    const own = (event: WatchEvent) => listener(event);
    const stop = () => {
      listeners.delete(own);
      if (listeners.size > 0 || this.#feeds.get(owner)?.listeners !== listeners) return;
      this.#feeds.get(owner)?.cancelReading?.();
      this.#feeds.delete(owner);
    };
    listeners.add(own);
    if (feed.since === undefined) {
      this.changed(owner);
      await feed.reading;
    }
    if (feed.since === undefined) {
      stop();
      throw new ParleyError("store_unavailable", "The changes of conversations cannot be read");
    }
    return stop;
  }

  /** Publishes an event that is not a state, such as "show this conversation". */
  publish(owner: string, event: WatchEvent): void {
    const feed = this.#feeds.get(owner);
    if (feed !== undefined) this.#publishAll(feed, event);
  }

  /** Publishes to the watchers of the log's owner: for wake-ups from other nodes. */
  async publishToOwner(log: number, event: (conversationId: string) => WatchEvent): Promise<void> {
    if (this.#feeds.size === 0) return;
    const found = await this.#root.locate(log);
    if (found !== null) this.publish(found.owner, event(found.conversationId));
  }

  /** Notifies the watchers of an owner of a change: of this conversation, made here, or of any change elsewhere. */
  changed(owner: string, conversationId?: string): void {
    const feed = this.#feeds.get(owner);
    if (feed === undefined) return;
    if (conversationId === undefined) feed.isStale = true;
    else feed.changedHere.add(conversationId);
    feed.mayBeOwn ||= conversationId !== undefined;
    this.#plan(owner, feed);
  }

  /** Reads once for all changes that are collected until then. */
  #plan(owner: string, feed: Feed): void {
    if (feed.reading !== undefined || feed.cancelReading !== undefined) return;
    if (feed.since === undefined) this.#readNow(owner, feed);
    else feed.cancelReading = this.#clock.after(feed.pauseMs, () => this.#readNow(owner, feed));
  }

  #readNow(owner: string, feed: Feed): void {
    feed.cancelReading = undefined;
    feed.mayBeOwn = true;
    feed.reading = this.#read(owner, feed).then(
      () => {
        feed.reading = undefined;
        if ((feed.isStale || feed.changedHere.size > 0) && this.#feeds.get(owner) === feed)
          this.#plan(owner, feed);
      },
      (error: unknown) => {
        feed.reading = undefined;
        // Read with the next change, or when a poll has found it.
        feed.isStale = true;
        this.#onError(error);
      },
    );
  }

  async #read(owner: string, feed: Feed): Promise<void> {
    const store = this.#root.forOwner(owner);
    const { changedHere, isStale } = feed;
    feed.changedHere = new Set();
    feed.isStale = false;
    if (feed.since === undefined) {
      const { last } = await store.changed({ limit: 1 });
      feed.since = last;
      return;
    }
    if (!isStale && changedHere.size <= mostSingle && feed.ahead.size < mostAhead) {
      for (const conversationId of changedHere) {
        const record = await store.get(conversationId);
        if (record === null) continue;
        if (record.changedAt > feed.since) feed.ahead.add(record.changedAt);
        await this.#deliver(feed, this.#eventsOf(feed, record));
      }
      return;
    }
    for (;;) {
      const { conversations, notices, last } = await store.changed({ since: feed.since, limit: pageSize });
      feed.since = last;
      for (const changedAt of feed.ahead) if (changedAt <= last) feed.ahead.delete(changedAt);
      const changes = [...conversations, ...notices].sort((left, right) => left.changedAt - right.changedAt);
      const events = changes.flatMap((change) =>
        "kind" in change ? noticeEvents(feed, change) : this.#eventsOf(feed, change),
      );
      await this.#deliver(feed, events);
      if (changes.length < pageSize) return;
    }
  }

  /** Returns the events of a conversation's state that watchers have not received. */
  #eventsOf(feed: Feed, record: ConversationRecord): WatchEvent[] {
    if (record.archiveOf !== undefined) return [];
    const { id: conversationId, status, changedAt } = record;
    const before = feed.published.get(conversationId);
    if (before !== undefined && before.changedAt >= changedAt) return [];
    const queue = toQueuePayload({ entries: record.queue, paused: record.queuePaused });
    const queueText = JSON.stringify(queue);
    const waiting = waitingInfo(record.active);
    const waitingText = JSON.stringify(waiting) ?? "";
    feed.published.set(conversationId, { status, queue: queueText, waiting: waitingText, changedAt });
    const events: WatchEvent[] = [];
    if (before?.status !== status || before.waiting !== waitingText) {
      events.push({
        type: "conversation.statusChanged",
        conversationId,
        status,
        ...omitUndefined({ waiting }),
      });
    }
    if (before?.queue !== queueText) events.push({ type: "queue.changed", conversationId, queue });
    events.push({ type: "conversation.updated", conversationId, meta: toMeta(this.#defaults, record) });
    return events;
  }

  /**
   * Publishes events to the current watchers, a slice of them at a time: each event of a slice is one object, so it
   * is encoded once, and other work of the process waits for one slice only.
   */
  async #deliver(feed: Feed, events: readonly WatchEvent[]): Promise<void> {
    if (events.length === 0) return;
    const startedAt = this.#clock.monotonic();
    const listeners = [...feed.listeners];
    for (let start = 0; start < listeners.length; start += sliceLength) {
      if (start > 0) await yieldToEventLoop();
      const slice = listeners.slice(start, start + sliceLength).filter((each) => feed.listeners.has(each));
      for (const event of events) this.#publishTo(slice, event);
    }
    feed.pauseMs = Math.max(collectMs, pauseFactor * (this.#clock.monotonic() - startedAt));
  }

  #publishAll(feed: Feed, event: WatchEvent): void {
    this.#publishTo(feed.listeners, event);
  }

  /** Calls all of these, even if one of them throws. */
  #publishTo(listeners: Iterable<(event: WatchEvent) => void>, event: WatchEvent): void {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch (thrown) {
        this.#onError(thrown);
      }
    }
  }
}

function isBeingRead({ changedHere, reading }: Feed): boolean {
  return changedHere.size > 0 || reading !== undefined;
}

function noticeEvents(feed: Feed, notice: ConversationNotice): WatchEvent[] {
  if (notice.kind === "compacted") {
    const { kind: _, changedAt: _at, ...compacted } = notice;
    return [{ type: "conversation.compacted", ...compacted }];
  }
  return notice.conversationIds.map((conversationId) => {
    feed.published.delete(conversationId);
    return { type: "conversation.removed", conversationId };
  });
}

/** Returns the files of a message that waits. */
function filesOf(message: ConversationMessage): { readonly files?: readonly FileReference[] } {
  if (!message.content.some(isStoredFile)) return {};
  const files = toChunks(message).flatMap((chunk) => (chunk.type === "text" ? (chunk.file ?? []) : []));
  return { files };
}

/** Converts the queue to the form that clients see. */
export function toQueuePayload(queue: QueueState): QueuePayload {
  return {
    messages: queue.entries.map(({ id, message, mode, queuedAt, choices }) => ({
      id,
      text: shownText(message),
      queuedAt,
      mode,
      ...filesOf(message),
      ...omitUndefined({ model: choices.model, reasoningEffort: choices.reasoningEffort }),
    })),
    ...(queue.paused ? { paused: true } : {}),
  };
}
