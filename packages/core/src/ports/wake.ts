import type { LogNumber } from "./conversation-record.js";

/**
 * `news`: something was written. `stop`: a stop of the running turn was requested. `open`: show it to its clients.
 * `input`: a request of the running turn was decided. `webhooks`: endpoints have changed, of any owner. `models`:
 * connections to providers have changed. The log of these two is 0, which no log has.
 */
export type WakeKind = "news" | "stop" | "open" | "input" | "webhooks" | "models";

/**
 * Proof to other nodes that this process runs: something that ends immediately with the process, such as a lock of a
 * database session, and that lasts as long as its connection if the process hangs.
 */
export interface Presence {
  /** Identifies it in the store (see `LogStoreRoot.heartbeat`). Undefined while there is none. */
  token(): string | undefined;
  /** Calls back when the token has changed. Returns a function that stops it. */
  onChange(changed: () => void): () => void;
}

/** Notifications between nodes and processes that a conversation has news. Losing one costs time, never data. */
export interface Wake {
  notify(logs: readonly LogNumber[], kind?: WakeKind): void;
  /** Returns a function that stops listening. */
  listen(onWake: (logs: readonly LogNumber[], kind: WakeKind) => void): () => void;
  close?(): Promise<void>;
  /** Absent if other nodes cannot see that this process runs: then its lease has to expire. */
  readonly presence?: Presence;
}
