import type { PendingRequest, WaitingInfo } from "@parley/wire";
import type { ParleyClient } from "../client.js";
import type { Connection } from "../connection/connection.js";
import { createStore, frameSchedule, type Schedule } from "../conversations/store.js";
import { toFailure } from "../requests/request-error.js";
import type { Failure } from "../state/conversation-state.js";

/** Requests for input over all conversations of the owner. */
export interface InboxState {
  /** Oldest first. */
  readonly requests: readonly PendingRequest[];
  readonly phase: "loading" | "ready" | "failed";
  /** True if there are more than are listed. */
  readonly hasMore: boolean;
  readonly error?: Failure;
}

/** The inbox, kept up to date while the connection is open. */
export interface Inbox {
  /** Returns the state. The first call begins to load the inbox. */
  getState(): InboxState;
  /** Calls back when the inbox has changed. Returns a function that stops. */
  subscribe(listener: () => void): () => void;
  /** Loads the inbox again. Needed only without a socket. */
  refresh(): Promise<void>;
}

/** Requests per load. */
const pageSize = 100;

/**
 * Makes the inbox of a connection. It loads all requests once and after each break of the connection; between these, a
 * change of what one conversation waits for loads the requests of that conversation.
 */
export function createInbox(options: {
  readonly client: Pick<ParleyClient, "request">;
  readonly connection: Pick<Connection, "getState" | "subscribe" | "onWaiting">;
  readonly schedule?: Schedule | undefined;
}): Inbox {
  const { client, connection, schedule = frameSchedule } = options;
  const store = createStore<InboxState>({ requests: [], phase: "loading", hasMore: false }, schedule);
  let isAsked = false;
  let isOpen = connection.getState().phase === "open";
  let loading: Promise<void> | undefined;
  /** The load after the one that is in progress. */
  let following: Promise<void> | undefined;
  /** Counts the changes of each conversation: a list that was requested before the newest one is out of date. */
  const changes = new Map<string, number>();

  const put = (change: Partial<InboxState>) => {
    const { error: _, ...state } = store.get();
    store.set({ ...state, ...change });
  };
  const without = (conversationId: string) =>
    store.get().requests.filter((request) => request.conversationId !== conversationId);
  const fail = (error: unknown) => {
    const { phase } = store.get();
    // The list that is shown stays, and is loaded again when the connection is back.
    store.set({ ...store.get(), phase: phase === "ready" ? "ready" : "failed", error: toFailure(error) });
  };

  const load = (conversationId?: string) =>
    client.request("GET /pending", { query: { conversationId, limit: pageSize } });
  const loadAll = async () => {
    const before = new Map(changes);
    const { pending, nextAfter } = await load();
    put({ requests: pending, phase: "ready", hasMore: nextAfter !== undefined });
    for (const [id, count] of changes) if (before.get(id) !== count) loadOne(id);
  };
  const loadOne = (conversationId: string) => {
    const count = changes.get(conversationId);
    load(conversationId).then(({ pending, nextAfter }) => {
      if (changes.get(conversationId) !== count) return;
      put({
        requests: oldestFirst([...without(conversationId), ...pending]),
        ...(nextAfter === undefined ? {} : { hasMore: true }),
      });
    }, fail);
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
    loading = loadAll()
      .catch(fail)
      .finally(() => {
        loading = undefined;
      });
    return loading;
  };
  const onWaiting = (conversationId: string, waiting: WaitingInfo | undefined) => {
    if (!isAsked) return;
    const left = without(conversationId);
    const isKnown = left.length < store.get().requests.length;
    if (waiting === undefined && !isKnown && loading === undefined) return;
    changes.set(conversationId, (changes.get(conversationId) ?? 0) + 1);
    if (waiting === undefined) put({ requests: left });
    // If the list is cut off, another entry takes the place of the one removed.
    if (store.get().hasMore) void refresh();
    else if (waiting !== undefined) loadOne(conversationId);
  };
  const ask = () => {
    if (isAsked) return;
    connection.onWaiting(onWaiting);
    connection.subscribe(() => {
      const wasOpen = isOpen;
      isOpen = connection.getState().phase === "open";
      if (isOpen && !wasOpen) void refresh();
    });
    void refresh();
  };
  return {
    getState() {
      ask();
      return store.get();
    },
    subscribe(listener) {
      ask();
      return store.subscribe(listener);
    },
    refresh,
  };
}

function oldestFirst(requests: readonly PendingRequest[]): readonly PendingRequest[] {
  return requests.toSorted((a, b) => a.createdAt - b.createdAt);
}
