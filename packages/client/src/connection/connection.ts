import type { WaitingInfo } from "@parley/wire";
import type { ConversationHandle } from "../conversations/conversation-handle.js";
import type { ConversationListHandle, ListFilter, ListListener } from "../conversations/conversation-list.js";
import { createConversationList } from "../conversations/conversation-list.js";
import type { FollowEnvironment } from "../conversations/followed-conversation.js";
import { FollowedConversations } from "../conversations/followed-conversations.js";
import { createStore, type Schedule } from "../conversations/store.js";
import type { OutboxStorage } from "../outbox/outbox-storage.js";
import type { Caller, Request } from "../requests/request.js";
import type { Failure } from "../state/conversation-state.js";
import { EventLink } from "./event-link.js";
import type { ConnectionPace } from "./pace.js";
import type { SocketConstructor } from "./socket.js";
import { SocketLink } from "./socket-link.js";

/** State of a connection. */
export interface ConnectionState {
  /**
   * `waiting`: it broke, and is tried again at `retryAt`. `closed`: permanently; `error` has the reason unless
   * `close()` did it.
   */
  readonly phase: "connecting" | "open" | "waiting" | "closed";
  /** Number of failed attempts since it was last open. */
  readonly attempt: number;
  /** Time of the next attempt, in epoch milliseconds. */
  readonly retryAt?: number;
  /** True if it was ever open: before that, a page shows "connecting", after it, "connection lost". */
  readonly everOpen: boolean;
  /** Reason why it is closed. */
  readonly error?: Failure;
}

/** One connection to the server, shared by everything that is followed. */
export interface Connection {
  getState(): ConnectionState;
  /** Calls back when the state has changed. Returns a function that stops. */
  subscribe(listener: () => void): () => void;
  /** Follows a conversation; `release()` it when done. */
  conversation(id: string): ConversationHandle;
  /** Returns the same handle without holding it: nothing is loaded or followed until a caller holds it. */
  peek(id: string): ConversationHandle;
  readonly list: ConversationListHandle;
  /** Returns a list of some of the conversations, kept up to date while it has subscribers. */
  listOf(filter: ListFilter): ConversationListHandle;
  /** Calls back when a user asks every client to show a conversation. Returns a function that stops. */
  onOpenRequest(listener: (conversationId: string) => void): () => void;
  /**
   * Calls back when what the open turn of any conversation waits for has changed; with undefined when it waits for
   * nothing. Needs a socket. Returns a function that stops.
   */
  onWaiting(listener: (conversationId: string, waiting: WaitingInfo | undefined) => void): () => void;
  /** Tries again at once, instead of waiting. */
  retryNow(): void;
  close(): void;
}

/** Dependencies of a connection. */
export interface ConnectionOptions {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly call: Caller;
  readonly request: Request;
  readonly storage: OutboxStorage | undefined;
  readonly WebSocket: SocketConstructor | null;
  readonly schedule: Schedule;
  readonly pace: ConnectionPace;
  readonly now: () => number;
  readonly random: () => number;
}

/** Opens a connection. `socket-link.ts` describes its phases. */
export function createConnection(options: ConnectionOptions, onClosed: () => void): Connection {
  const { call, request, storage, schedule, pace, now, random } = options;
  const isSocket = options.WebSocket !== null;
  const store = createStore<ConnectionState>(
    isSocket
      ? { phase: "connecting", attempt: 0, everOpen: false }
      : { phase: "open", attempt: 0, everOpen: true },
    schedule,
  );
  const followed = new FollowedConversations(() => environment);
  const openRequests = createListeners<[conversationId: string]>();
  const waiting = createListeners<[conversationId: string, waiting: WaitingInfo | undefined]>();
  const { handle: list, listener } = createConversationList(request, schedule, pace.loadMs);
  const lists = new Set<ListListener>([listener]);
  const toLists = (call: (each: ListListener) => void) => {
    for (const each of [...lists]) call(each);
  };
  const conversation = (id: string) => followed.find(id);
  const onUp = () => {
    toLists((each) => each.onUp());
    for (const each of followed.all()) each.onUp();
  };
  // Calls may fail while the socket is open, as when a device is offline for a moment.
  const wake = () => {
    for (const each of followed.all()) each.retryNow();
  };

  const link =
    options.WebSocket === null
      ? new EventLink({
          call,
          pace,
          random,
          conversation,
          onOpen: () => store.set({ phase: "open", attempt: 0, everOpen: true }),
          onWait: (attempt, ms) =>
            store.set({ phase: "waiting", attempt, retryAt: now() + ms, everOpen: true }),
        })
      : new SocketLink({
          ...options,
          WebSocket: options.WebSocket,
          store,
          onUp,
          audience: {
            conversation,
            toLists,
            onOpenRequest: openRequests.call,
            onWaiting: waiting.call,
          },
        });
  const environment: FollowEnvironment = { link, request, storage, schedule, pace, now, random };

  const stopWatching = watchPage(() => {
    wake();
    if (store.get().phase === "waiting") connection.retryNow();
    else if (link instanceof SocketLink) link.ping();
  });

  const connection: Connection = {
    getState: store.get,
    subscribe: store.subscribe,
    conversation(id) {
      const { phase, error } = store.get();
      return followed.hold(id, phase !== "closed" || error !== undefined);
    },
    peek: (id) => followed.peek(id),
    list,
    listOf(filter) {
      const { handle, listener: own } = createConversationList(request, schedule, pace.loadMs, filter);
      let count = 0;
      return {
        ...handle,
        subscribe(onChange) {
          const stop = handle.subscribe(onChange);
          // Changes that were published while there was no subscriber were missed.
          if (count++ === 0 && handle.getState().phase !== "loading") own.onUp();
          lists.add(own);
          return () => {
            stop();
            if (--count === 0) lists.delete(own);
          };
        },
      };
    },
    onOpenRequest: openRequests.add,
    onWaiting: waiting.add,
    retryNow() {
      wake();
      if (link instanceof SocketLink) link.retryNow();
      else if (link.isOpen()) onUp();
    },
    close() {
      stopWatching();
      link.close();
      followed.clear();
      const { everOpen } = store.get();
      store.set({ phase: "closed", attempt: 0, everOpen });
      onClosed();
    },
  };
  if (link instanceof SocketLink) link.open();
  return connection;
}

/** Creates a set of callbacks, each of which is called until it is removed. */
function createListeners<Args extends readonly unknown[]>() {
  const listeners = new Set<(...args: Args) => void>();
  return {
    call(...args: Args): void {
      for (const listener of [...listeners]) listener(...args);
    },
    add(listener: (...args: Args) => void): () => void {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

/** Calls back when the network is back, or the page is visible again. Returns a function that stops. */
function watchPage(onBack: () => void): () => void {
  const page = globalThis.document as Document | undefined;
  const onVisible = () => {
    if (page?.visibilityState === "visible") onBack();
  };
  globalThis.addEventListener?.("online", onBack);
  page?.addEventListener?.("visibilitychange", onVisible);
  return () => {
    globalThis.removeEventListener?.("online", onBack);
    page?.removeEventListener?.("visibilitychange", onVisible);
  };
}
