/** Bounds of a server. Exceeding one is refused with a code, and the answer names the bound. */
export interface ServerLimits {
  /** Bytes of one request body. `too_large` */
  readonly bodyBytes: number;
  /** Bytes of one request body of a face, whose messages hold files as text. `too_large` */
  readonly faceBodyBytes: number;
  /** Bytes of the body of one import. `too_large` */
  readonly importBytes: number;
  /** Bytes of one socket frame from a client; the socket is closed with 1009. */
  readonly frameBytes: number;
  /** Requests and socket messages of one key that are accepted per second, over time. `rate_limited` */
  readonly requestsPerSecond: number;
  /** Requests and socket messages of one key that are accepted at once, after a rest. `rate_limited` */
  readonly requestBurst: number;
  /** Wrong keys and cookies of one address that are answered at once; each further one makes it wait. `rate_limited` */
  readonly failedLogins: number;
  /** Open sockets, streams, exports and waiting requests of one key. `limit_exceeded` */
  readonly connectionsPerKey: number;
  /** Conversations and surfaces that one socket follows. `limit_exceeded` */
  readonly subscriptionsPerSocket: number;
  /** Bytes that a reader may be behind; then its connection is closed, and it resumes by cursor. `/chat` waits for it. */
  readonly bufferedBytes: number;
  /** Chunks or conversations that one page may request. */
  readonly pageSize: number;
}

export const defaultServerLimits: ServerLimits = {
  bodyBytes: 4_000_000,
  faceBodyBytes: 32_000_000,
  importBytes: 64_000_000,
  frameBytes: 4_000_000,
  requestsPerSecond: 100,
  requestBurst: 1_000,
  failedLogins: 20,
  connectionsPerKey: 5_000,
  subscriptionsPerSocket: 500,
  bufferedBytes: 8_000_000,
  pageSize: 10_000,
};

/** Cookies that are looked up for an address that waits because of wrong keys: people behind one proxy share it. */
export const looksWhileWaiting = { perSecond: 5, burst: 20 };

/** Intervals and timeouts of a server. */
export interface ServerPace {
  /** Interval of the comments that keep an event stream alive. */
  readonly heartbeatMs: number;
  /**
   * Interval of the pings of a socket. A peer that has not answered one by the next is gone. Proxies close connections
   * that were silent for a minute.
   */
  readonly pingMs: number;
  /** Time that a key is cached without reading the store: a revoked one stops working after this long. */
  readonly keyMs: number;
  /** Lifetime of a page's login after its last use. */
  readonly loginMs: number;
  /** The first wait of an address with too many wrong keys; each further wrong key doubles it. */
  readonly failedWaitMs: number;
  /** The longest such wait. */
  readonly failedWaitMostMs: number;
  /** Time that wrong keys of an address are remembered after the last one. */
  readonly failedForgetMs: number;
  /**
   * Time that bytes of an answer may wait while its reader reads none: then, or after twice as long at the latest, the
   * connection is ended. Applies to the server that `serve` starts.
   */
  readonly unreadMs: number;
  /**
   * Interval in which a request body must make progress while it is read: with fewer than `bodyIntervalBytes` bytes
   * within this time, the request is refused with 408 and its connection closed.
   */
  readonly bodyIntervalMs: number;
  readonly bodyIntervalBytes: number;
  /** Time that a request may take to arrive as a whole, its body included. */
  readonly bodyTotalMs: number;
  /** Time that a message sent by MCP waits for its answer: clients give a call up after a minute. */
  readonly mcpWaitMs: number;
}

export const defaultServerPace: ServerPace = {
  heartbeatMs: 15_000,
  pingMs: 45_000,
  keyMs: 3_000,
  loginMs: 30 * 24 * 60 * 60_000,
  failedWaitMs: 1_000,
  failedWaitMostMs: 60_000,
  failedForgetMs: 15 * 60_000,
  unreadMs: 60_000,
  bodyIntervalMs: 20_000,
  bodyIntervalBytes: 10_000,
  bodyTotalMs: 30 * 60_000,
  mcpWaitMs: 45_000,
};
