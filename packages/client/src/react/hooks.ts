import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import type { ParleyClient } from "../client.js";
import type { Connection, ConnectionState } from "../connection/connection.js";
import type { ConversationHandle } from "../conversations/conversation-handle.js";
import type {
  ConversationListHandle,
  ConversationListState,
  ListFilter,
} from "../conversations/conversation-list.js";
import { createUploads, type Upload, type Uploads, type UploadsOptions } from "../files/uploads.js";
import { createInbox, type Inbox, type InboxState } from "../inbox/inbox.js";
import type { ConversationState } from "../state/conversation-state.js";

interface Parley {
  readonly client: ParleyClient | undefined;
  readonly connection: Connection;
}

const Context = createContext<Parley | undefined>(undefined);

/** Properties of the provider: a client, whose connection it opens, or an existing connection. */
export interface ParleyProviderProps {
  readonly client?: ParleyClient | undefined;
  readonly connection?: Connection | undefined;
  readonly children?: ReactNode;
}

/** Gives the hooks below it their client and connection. */
export function ParleyProvider({ client, connection, children }: ParleyProviderProps): ReactElement {
  const used = connection ?? client?.connect();
  if (used === undefined) throw new Error("ParleyProvider: give it a client or a connection");
  const value = useMemo(() => ({ client, connection: used }), [client, used]);
  return createElement(Context.Provider, { value }, children);
}

function useParley(): Parley {
  const parley = useContext(Context);
  if (parley === undefined) throw new Error("There is no ParleyProvider above this component");
  return parley;
}

/** Returns the client. */
export function useClient(): ParleyClient {
  const { client } = useParley();
  if (client === undefined)
    throw new Error("useClient: the ParleyProvider was given a connection, not a client");
  return client;
}

/** Returns the connection. */
export function useConnection(): Connection {
  return useParley().connection;
}

/** Returns the state of the connection. */
export function useConnectionState(): ConnectionState {
  const { subscribe, getState } = useConnection();
  return useSyncExternalStore(subscribe, getState, getState);
}

/** Returns the handle while rendering, held from the first effect to the last. */
function useHandle(id: string): ConversationHandle {
  const connection = useConnection();
  const handle = connection.peek(id);
  const [, renderAgain] = useState(0);
  useEffect(() => {
    const held = connection.conversation(id);
    // Between a render and its effects the handle may have been released, and this is a new one.
    if (connection.peek(id) !== handle) renderAgain((count) => count + 1);
    return () => held.release();
  }, [connection, id, handle]);
  return handle;
}

/** Follows a conversation while the component is mounted. */
export function useConversation(id: string): {
  readonly state: ConversationState;
  readonly handle: ConversationHandle;
} {
  const handle = useHandle(id);
  const state = useSyncExternalStore(handle.subscribe, handle.getState, handle.getState);
  return { state, handle };
}

/** Follows a conversation and renders only when the result of `selector` has changed. */
export function useConversationSelector<T>(
  id: string,
  selector: (state: ConversationState) => T,
  isEqual: (a: T, b: T) => boolean = Object.is,
): T {
  const handle = useHandle(id);
  const last = useRef<{ readonly value: T } | undefined>(undefined);
  const select = useCallback(() => {
    const value = selector(handle.getState());
    if (last.current === undefined || !isEqual(last.current.value, value)) last.current = { value };
    return last.current.value;
  }, [handle, selector, isEqual]);
  return useSyncExternalStore(handle.subscribe, select, select);
}

/** One inbox for all components. */
const inboxes = new WeakMap<Connection, Inbox>();

/** Returns the requests for input of all conversations, kept up to date. */
export function useInbox(): { readonly state: InboxState; readonly inbox: Inbox } {
  const client = useClient();
  const connection = useConnection();
  const inbox = inboxes.get(connection) ?? createInbox({ client, connection });
  inboxes.set(connection, inbox);
  const state = useSyncExternalStore(inbox.subscribe, inbox.getState, inbox.getState);
  return { state, inbox };
}

/** Returns the files of a message that is being written: one list for each component. */
export function useUploads(options: Omit<UploadsOptions, "client"> = {}): {
  readonly state: readonly Upload[];
  readonly uploads: Uploads;
} {
  const client = useClient();
  const [uploads] = useState(() => createUploads({ client, ...options }));
  const state = useSyncExternalStore(uploads.subscribe, uploads.getState, uploads.getState);
  return { state, uploads };
}

/** Returns the list of conversations, or of those that the filter names, and its handle. */
export function useConversationList({ model }: ListFilter = {}): {
  readonly state: ConversationListState;
  readonly list: ConversationListHandle;
} {
  const connection = useConnection();
  const list = useMemo(
    () => (model === undefined ? connection.list : connection.listOf({ model })),
    [connection, model],
  );
  const state = useSyncExternalStore(list.subscribe, list.getState, list.getState);
  return { state, list };
}
