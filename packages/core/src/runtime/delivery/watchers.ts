import { omitUndefined } from "@parley/fold";
import type {
  QueuePayload,
  WsConversationCompacted,
  WsConversationOpen,
  WsConversationStatusChanged,
  WsConversationUpdated,
} from "@parley/wire";
import { ParleyError } from "../../errors.js";
import { textOf } from "../../messages/message.js";
import type {
  ConversationNotice,
  ConversationRecord,
  LogStoreRoot,
  QueueState,
} from "../../ports/log-store.js";
import { type Defaults, toMeta } from "../conversation-meta.js";
import { waitingInfo } from "../input/waiting-info.js";

/** An event for those who watch an owner's conversations. */
export type WatchEvent =
  | WsConversationStatusChanged
  | WsConversationUpdated
  | WsConversationOpen
  | WsConversationCompacted
  | { readonly type: "conversation.removed"; readonly conversationId: string }
  | { readonly type: "queue.changed"; readonly conversationId: string; readonly queue: QueuePayload };

/** How many changes are read at once. */
const pageSize = 100;

interface Feed {
  readonly listeners: Set<(event: WatchEvent) => void>;
  /** The last published state of each conversation: only differences are published. */
  readonly published: Map<string, { status: string; queue: string; waiting: string }>;
  since: number | undefined;
  reading: Promise<void> | undefined;
  again: boolean;
}

/**
 * Publishes the changes of an owner's conversations to its watchers. There is one source, the store's feed of changes,
 * read after every change made here and where a poll has found changes made elsewhere; so a watcher gets the same,
 * in the same order, whichever node did it.
 */
export class Watchers {
  readonly #root: LogStoreRoot;
  readonly #defaults: Defaults;
  readonly #feeds = new Map<string, Feed>();
  readonly #onError: (error: unknown) => void;

  constructor(root: LogStoreRoot, defaults: Defaults, onError: (error: unknown) => void) {
    this.#root = root;
    this.#defaults = defaults;
    this.#onError = onError;
  }

  /** Returns the owners that are watched here, each with the last change that was published. */
  marks(): { owner: string; since: number }[] {
    const marks: { owner: string; since: number }[] = [];
    for (const [owner, { since }] of this.#feeds) if (since !== undefined) marks.push({ owner, since });
    return marks;
  }

  close(): void {
    this.#feeds.clear();
  }

  /** Resolves when every later change will be published; read the list after that. Returns a function that stops. */
  async watch(owner: string, listener: (event: WatchEvent) => void): Promise<() => void> {
    let feed = this.#feeds.get(owner);
    if (feed === undefined) {
      feed = {
        listeners: new Set(),
        published: new Map(),
        since: undefined,
        reading: undefined,
        again: false,
      };
      this.#feeds.set(owner, feed);
    }
    const { listeners } = feed;
    // A function of its own, so that the same one may listen twice.
    const own = (event: WatchEvent) => listener(event);
    const stop = () => {
      listeners.delete(own);
      if (listeners.size === 0 && this.#feeds.get(owner)?.listeners === listeners) this.#feeds.delete(owner);
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

  /** Publishes to the watchers of the owner whose log it is: for wake-ups from other nodes. */
  async publishToOwner(log: number, event: (conversationId: string) => WatchEvent): Promise<void> {
    if (this.#feeds.size === 0) return;
    const found = await this.#root.locate(log);
    if (found !== null) this.publish(found.owner, event(found.conversationId));
  }

  /** Reads the feed of an owner whose conversation has changed, once for however many calls. */
  changed(owner: string): void {
    const feed = this.#feeds.get(owner);
    if (feed === undefined) return;
    if (feed.reading !== undefined) {
      feed.again = true;
      return;
    }
    feed.reading = this.#read(owner, feed)
      .catch(this.#onError)
      .finally(() => {
        feed.reading = undefined;
        if (feed.again) {
          feed.again = false;
          this.changed(owner);
        }
      });
  }

  async #read(owner: string, feed: Feed): Promise<void> {
    const store = this.#root.forOwner(owner);
    if (feed.since === undefined) {
      const { last } = await store.changed({ limit: 1 });
      feed.since = last;
      return;
    }
    for (;;) {
      const { conversations, notices, last } = await store.changed({ since: feed.since, limit: pageSize });
      feed.since = last;
      const changes = [...conversations, ...notices].sort((left, right) => left.changedAt - right.changedAt);
      for (const change of changes) {
        if ("kind" in change) this.#publishNotice(feed, change);
        else this.#publishChange(feed, change);
      }
      if (changes.length < pageSize) return;
    }
  }

  #publishNotice(feed: Feed, notice: ConversationNotice): void {
    if (notice.kind === "compacted") {
      const { kind: _, changedAt: _at, ...compacted } = notice;
      this.#publishAll(feed, { type: "conversation.compacted", ...compacted });
      return;
    }
    for (const conversationId of notice.conversationIds) {
      feed.published.delete(conversationId);
      this.#publishAll(feed, { type: "conversation.removed", conversationId });
    }
  }

  #publishChange(feed: Feed, record: ConversationRecord): void {
    if (record.archiveOf !== undefined) return;
    const conversationId = record.id;
    const before = feed.published.get(conversationId);
    const queue = toQueuePayload({ entries: record.queue, paused: record.queuePaused });
    const queueText = JSON.stringify(queue);
    const waiting = waitingInfo(record.active);
    const waitingText = JSON.stringify(waiting) ?? "";
    feed.published.set(conversationId, { status: record.status, queue: queueText, waiting: waitingText });
    const publish = (event: WatchEvent) => this.#publishAll(feed, event);
    if (before?.status !== record.status || before.waiting !== waitingText) {
      const { status } = record;
      publish({ type: "conversation.statusChanged", conversationId, status, ...omitUndefined({ waiting }) });
    }
    if (before?.queue !== queueText) publish({ type: "queue.changed", conversationId, queue });
    publish({ type: "conversation.updated", conversationId, meta: toMeta(this.#defaults, record) });
  }

  /** Calls all listeners, also where one of them throws. */
  #publishAll(feed: Feed, event: WatchEvent): void {
    for (const listener of feed.listeners) {
      try {
        listener(event);
      } catch (thrown) {
        this.#onError(thrown);
      }
    }
  }
}

/** The queue as clients see it. */
export function toQueuePayload(queue: QueueState): QueuePayload {
  return {
    messages: queue.entries.map(({ id, message, mode, queuedAt, choices }) => ({
      id,
      text: textOf(message),
      queuedAt,
      mode,
      ...omitUndefined({ model: choices.model, reasoningEffort: choices.reasoningEffort }),
    })),
    ...(queue.paused ? { paused: true } : {}),
  };
}
