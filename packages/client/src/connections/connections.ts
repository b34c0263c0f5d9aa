import type {
  AddConnectionRequest,
  ChangeConnectionRequest,
  ConnectionInfo,
  ConnectionSettings,
  ConnectionsResponse,
  TestConnectionResponse,
} from "@parley/wire";
import type { Request } from "../requests/request.js";

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The server's connections to providers of models. All calls need a key with the scope `admin`. */
export interface ConnectionRequests {
  /** Lists them, without their keys, and what can be added. */
  list(options?: CallOptions): Promise<ConnectionsResponse>;
  /** Connects to a provider. Its models can be used at once. */
  add(connection: AddConnectionRequest, options?: CallOptions): Promise<ConnectionInfo>;
  /** Renames one, or changes its key, address or models. */
  change(name: string, change: ChangeConnectionRequest, options?: CallOptions): Promise<ConnectionInfo>;
  /** Removes one with its key. Returns false if there was none. */
  remove(name: string, options?: CallOptions): Promise<boolean>;
  /** Asks a provider for its models: with these settings, or with those of the connection of this name. */
  test(connection: ConnectionSettings | string, options?: CallOptions): Promise<TestConnectionResponse>;
}

/** Makes the calls of a client: `connectionRequests(client.request)`. */
export function connectionRequests(ask: Request): ConnectionRequests {
  return {
    list: ({ signal } = {}) => ask("GET /connections", { signal }),
    add: async (body, { signal } = {}) => (await ask("POST /connections", { body, signal })).connection,
    change: async (name, body, { signal } = {}) =>
      (await ask("PATCH /connections/:name", { params: { name }, body, signal })).connection,
    remove: async (name, { signal } = {}) =>
      (await ask("DELETE /connections/:name", { params: { name }, signal })).removed,
    test: (connection, { signal } = {}) =>
      typeof connection === "string"
        ? ask("POST /connections/:name/test", { params: { name: connection }, signal })
        : ask("POST /connections/test", { body: connection, signal }),
  };
}
