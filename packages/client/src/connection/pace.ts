/** How soon things are done. All in milliseconds. */
export interface ConnectionPace {
  /** The first wait before a reconnect is up to this long; it doubles with every failure. */
  readonly retryMinMs: number;
  /** The longest wait before a reconnect. */
  readonly retryMaxMs: number;
  /** How long a socket may take to open. */
  readonly openMs: number;
  /** How long a page of a conversation, the list or figures may take to load, and one attempt to send a message. */
  readonly loadMs: number;
  /** How often an open socket is asked whether it still carries anything. */
  readonly pingMs: number;
  /** How long the answer may take before the socket counts as dead. */
  readonly pongMs: number;
  /** How long a conversation is still followed after the last one who held it let go. */
  readonly lingerMs: number;
}

/** What a client does unless it is told otherwise. */
export const defaultPace: ConnectionPace = {
  retryMinMs: 250,
  retryMaxMs: 15_000,
  openMs: 15_000,
  loadMs: 30_000,
  pingMs: 20_000,
  pongMs: 10_000,
  lingerMs: 5_000,
};
