/** Delays and timeouts of a connection, in milliseconds. */
export interface ConnectionPace {
  /** The first wait before a reconnect is up to this long; it doubles with every failure. */
  readonly retryMinMs: number;
  /** The longest wait before a reconnect. */
  readonly retryMaxMs: number;
  /** Time that a socket may take to open. */
  readonly openMs: number;
  /** Time that a page of a conversation, the list or figures may take to load, and one attempt to send a message. */
  readonly loadMs: number;
  /** Interval of the pings over an open socket. */
  readonly pingMs: number;
  /** Time that the answer to a ping may take before the socket counts as dead. */
  readonly pongMs: number;
  /** Time that a conversation is still followed after its last holder released it. */
  readonly lingerMs: number;
}

/** Defaults of a client. */
export const defaultPace: ConnectionPace = {
  retryMinMs: 250,
  retryMaxMs: 15_000,
  openMs: 15_000,
  loadMs: 30_000,
  pingMs: 20_000,
  pongMs: 10_000,
  lingerMs: 5_000,
};
