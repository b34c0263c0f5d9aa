import type { ConversationHandle } from "./conversation-handle.js";
import type { ConversationListHandle } from "./conversation-list.js";
import { createConversationList } from "./conversation-list.js";
import type { Failure } from "./conversation-state.js";
import { EventLink } from "./event-link.js";
import { type FollowEnvironment, FollowedConversation } from "./followed-conversation.js";
import type { ConnectionPace } from "./pace.js";
import type { Caller, Request } from "./request.js";
import type { SocketConstructor } from "./socket.js";
import { SocketLink } from "./socket-link.js";
import { createStore, type Schedule } from "./store.js";

/** Where the connection stands. */
export interface ConnectionState {
  /** `waiting`: it broke, and is tried again at `retryAt`. `closed`: for good; `error` says why, if not by `close()`. */
  readonly phase: "connecting" | "open" | "waiting" | "closed";
  /** How many attempts have failed since it was last open. */
  readonly attempt: number;
  /** When it is tried again, in epoch milliseconds. */
  readonly retryAt?: number;
  /** Whether it was ever open: before that, a page says "connecting", after it, "connection lost". */
  readonly everOpen: boolean;
  /** Why it is closed. */
  readonly error?: Failure;
}

/** One connection to the server, shared by everything that is followed. */
export interface Connection {
  getState(): ConnectionState;
  /** Calls back when the state has changed. Returns a function that stops. */
  subscribe(listener: () => void): () => void;
  /** Follows a conversation; `release()` it when done. */
  conversation(id: string): ConversationHandle;
  /** The same handle without holding it: nothing is loaded or followed until someone does. */
  peek(id: string): ConversationHandle;
  readonly list: ConversationListHandle;
  /** Hears that someone asks every client to show a conversation. Returns a function that stops. */
  onOpenRequest(listener: (conversationId: string) => void): () => void;
  /** Tries again at once, instead of waiting. */
  retryNow(): void;
  close(): void;
}

/** What a connection is made of. */
export interface ConnectionOptions {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly call: Caller;
  readonly request: Request;
  readonly WebSocket: SocketConstructor | null;
  readonly schedule: Schedule;
  readonly pace: ConnectionPace;
  readonly now: () => number;
  readonly random: () => number;
}

interface Room {
  readonly conversation: FollowedConversation;
  holders: number;
  leaving: ReturnType<typeof setTimeout> | undefined;
}

/** Opens a connection. How it lives is told in `socket-link.ts`, where the socket is. */
export function createConnection(options: ConnectionOptions, onClosed: () => void): Connection {
  const { call, request, schedule, pace, now, random } = options;
  const isSocket = options.WebSocket !== null;
  const store = createStore<ConnectionState>(
    isSocket
      ? { phase: "connecting", attempt: 0, everOpen: false }
      : { phase: "open", attempt: 0, everOpen: true },
    schedule,
  );
  const rooms = new Map<string, Room>();
  const openRequests = new Set<(conversationId: string) => void>();
  const { handle: list, listener: listListener } = createConversationList(request, schedule);
  const conversation = (id: string) => rooms.get(id)?.conversation;
  const onUp = () => {
    listListener.onUp();
    for (const room of rooms.values()) room.conversation.onUp();
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
            conversations: () => [...rooms.values()].map((room) => room.conversation),
            list: listListener,
            onOpenRequest(conversationId) {
              for (const listener of [...openRequests]) listener(conversationId);
            },
          },
        });
  const env: FollowEnvironment = { link, request, schedule, pace, now, random };

  /** The room of a conversation; one that nobody holds is given up after a while. */
  const roomOf = (id: string): Room => {
    let room = rooms.get(id);
    if (room === undefined) {
      const made = new FollowedConversation(id, env, () => {});
      room = { conversation: made, holders: 0, leaving: undefined };
      rooms.set(id, room);
      leaveLater(id, room);
    }
    return room;
  };
  const leaveLater = (id: string, room: Room) => {
    clearTimeout(room.leaving);
    room.leaving = setTimeout(() => {
      // What was sent is brought to its end first.
      if (room.conversation.isBusy) leaveLater(id, room);
      else {
        rooms.delete(id);
        room.conversation.stop();
      }
    }, pace.lingerMs);
  };
  const stopWatching = watchPage(() => {
    if (store.get().phase === "waiting") connection.retryNow();
    else if (link instanceof SocketLink) link.ping();
  });

  const connection: Connection = {
    getState: store.get,
    subscribe: store.subscribe,
    conversation(id) {
      const room = roomOf(id);
      clearTimeout(room.leaving);
      room.holders += 1;
      if (store.get().phase !== "closed" || store.get().error !== undefined) room.conversation.start();
      let isHeld = true;
      return {
        ...room.conversation.handle,
        release() {
          if (!isHeld) return;
          isHeld = false;
          room.holders -= 1;
          if (room.holders === 0) leaveLater(id, room);
        },
      };
    },
    peek: (id) => roomOf(id).conversation.handle,
    list,
    onOpenRequest(listener) {
      openRequests.add(listener);
      return () => {
        openRequests.delete(listener);
      };
    },
    retryNow() {
      if (link instanceof SocketLink) link.retryNow();
      else if (link.isOpen()) onUp();
    },
    close() {
      stopWatching();
      link.close();
      for (const room of rooms.values()) {
        clearTimeout(room.leaving);
        room.conversation.stop();
      }
      rooms.clear();
      const { everOpen } = store.get();
      store.set({ phase: "closed", attempt: 0, everOpen });
      onClosed();
    },
  };
  if (link instanceof SocketLink) link.open();
  return connection;
}

/** Calls back when the network is back, or the page is looked at again. Returns a function that stops. */
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
