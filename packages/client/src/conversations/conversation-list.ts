import { omitUndefined } from "@parley/fold";
import type { ConversationMeta, ConversationStatus, WaitingInfo } from "@parley/wire";
import type { Request } from "../requests/request.js";
import { toFailure } from "../requests/request-error.js";
import type { Failure } from "../state/conversation-state.js";
import { createStore, type Schedule } from "./store.js";

/** Narrows a list. */
export interface ListFilter {
  /** Only conversations whose next turn uses this model where it names none. */
  readonly model?: string | undefined;
}

/** The owner's conversations: pinned ones first, and newest activity first; temporary ones left out. */
export interface ConversationListState {
  readonly conversations: readonly ConversationMeta[];
  readonly phase: "loading" | "ready" | "failed";
  /** True if there are more to load. */
  readonly hasMore: boolean;
  readonly error?: Failure;
}

/** The list of conversations, kept up to date while the connection is open. */
export interface ConversationListHandle {
  /** Returns the state. The first call begins to load the list. */
  getState(): ConversationListState;
  /** Calls back when the list has changed. Returns a function that stops. */
  subscribe(listener: () => void): () => void;
  /** Loads the next page. */
  loadMore(): Promise<void>;
  /** Loads the list again. */
  refresh(): Promise<void>;
}

/** Callbacks of the list for the connection. */
export interface ListListener {
  /** The connection is open: changes that were published meanwhile were missed. */
  onUp(): void;
  onUpdated(meta: ConversationMeta): void;
  onStatus(conversationId: string, status: ConversationStatus, waiting: WaitingInfo | undefined): void;
  onRemoved(conversationId: string): void;
}

const pageSize = 50;

/** Creates the list and the callbacks that update it. Nothing is loaded before the first `getState`. */
export function createConversationList(
  request: Request,
  schedule: Schedule,
  loadMs: number,
  { model }: ListFilter = {},
): { readonly handle: ConversationListHandle; readonly listener: ListListener } {
  const store = createStore<ConversationListState>(
    { conversations: [], phase: "loading", hasMore: false },
    schedule,
  );
  let isAsked = false;
  let before: string | undefined;
  let loading: Promise<void> | undefined;
  /** The load after the one that is in progress. */
  let following: Promise<void> | undefined;
  /** Changes received while a page was loading, which may be older. Null: deleted. */
  let news = new Map<string, ConversationMeta | null>();

  const put = (conversations: readonly ConversationMeta[], more: Partial<ConversationListState> = {}) => {
    const { error: _, ...state } = store.get();
    store.set({ ...state, ...more, conversations });
  };
  /** Loads pages until there are at least `count` conversations. */
  const load = async (from: readonly ConversationMeta[], count: number, start: string | undefined) => {
    news = new Map();
    let all = from;
    let next = start;
    do {
      const query = { pinned: "first", model, limit: pageSize, before: next } as const;
      const page = await request("GET /conversations", { query, signal: AbortSignal.timeout(loadMs) });
      all = merge(all, page.conversations);
      next = page.nextBefore;
    } while (next !== undefined && all.length < count);
    before = next;
    for (const [id, meta] of news) all = without(all, id).concat(meta ?? []);
    put(sorted(all), { phase: "ready", hasMore: next !== undefined });
  };
  /** Starts a load. Only while no other one is in progress. */
  const begin = (work: () => Promise<void>) => {
    loading = work()
      .catch((error: unknown) => {
        const { conversations, phase } = store.get();
        // A list that is shown stays, and is loaded again when the connection is back.
        const failed = phase === "ready" && conversations.length > 0 ? "ready" : "failed";
        store.set({ ...store.get(), phase: failed, error: toFailure(error) });
      })
      .finally(() => {
        loading = undefined;
      });
    return loading;
  };
  const refresh = (): Promise<void> => {
    isAsked = true;
    if (loading !== undefined) {
      // The load in progress may have been read before the change that this one has to show.
      following ??= loading.then(() => {
        following = undefined;
        return refresh();
      });
      return following;
    }
    if (store.get().phase === "failed") put([], { phase: "loading" });
    return begin(() => load([], Math.max(1, store.get().conversations.length), undefined));
  };
  const ask = () => {
    if (!isAsked) void refresh();
  };
  const remove = (conversationId: string) => {
    news.set(conversationId, null);
    const { conversations } = store.get();
    const left = without(conversations, conversationId);
    if (left.length < conversations.length) put(left);
  };

  return {
    handle: {
      getState() {
        ask();
        return store.get();
      },
      subscribe(listener) {
        ask();
        return store.subscribe(listener);
      },
      async loadMore() {
        if (!isAsked) return refresh();
        while (loading !== undefined) await loading;
        if (before === undefined) return;
        const { conversations } = store.get();
        await begin(() => load(conversations, conversations.length + 1, before));
      },
      refresh,
    },
    listener: {
      onUp() {
        if (isAsked) void refresh();
      },
      onUpdated(meta) {
        if (meta.temporary === true || (model !== undefined && meta.effective?.model !== model)) {
          remove(meta.id);
          return;
        }
        news.set(meta.id, meta);
        const { conversations, phase, hasMore } = store.get();
        if (phase === "loading") return;
        const left = without(conversations, meta.id);
        const isKnown = left.length < conversations.length;
        const last = conversations.at(-1);
        // Behind what is loaded: it comes with its page.
        if (!isKnown && hasMore && last !== undefined && inOrder(last, meta) < 0) return;
        put(sorted([...left, meta]));
      },
      onStatus(conversationId, status, waiting) {
        const { conversations } = store.get();
        const at = conversations.findIndex(({ id }) => id === conversationId);
        const known = conversations[at];
        if (known === undefined || (known.status === status && known.waiting === waiting)) return;
        const { waiting: _, ...rest } = known;
        put(conversations.with(at, { ...rest, status, ...omitUndefined({ waiting }) }));
      },
      onRemoved: remove,
    },
  };
}

function without(conversations: readonly ConversationMeta[], id: string): ConversationMeta[] {
  return conversations.filter((conversation) => conversation.id !== id);
}

/** Adds a page after what is loaded; if both have a conversation, the page is newer. */
function merge(
  loaded: readonly ConversationMeta[],
  page: readonly ConversationMeta[],
): readonly ConversationMeta[] {
  const ids = new Set(page.map(({ id }) => id));
  return [...loaded.filter(({ id }) => !ids.has(id)), ...page];
}

function sorted(conversations: readonly ConversationMeta[]): readonly ConversationMeta[] {
  return conversations.toSorted(inOrder);
}

function inOrder(a: ConversationMeta, b: ConversationMeta): number {
  return (
    Number(b.pinned === true) - Number(a.pinned === true) ||
    b.lastActivityAt - a.lastActivityAt ||
    (a.id < b.id ? 1 : -1)
  );
}
