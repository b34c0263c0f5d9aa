import { randomInt } from "node:crypto";
import type { Presence, Wake, WakeKind } from "@parley/core/ports";
import pg from "pg";
import { checkSchemaName, defaultSchema } from "../in-schema.js";
import { presenceToken, sessionPlace } from "../operations/turns/presence.js";
import { type BoundedClient, boundClient } from "./bounded-client.js";
import { type PostgresTimeouts, timeoutsOf } from "./timeouts.js";

type Listener = Parameters<Wake["listen"]>[0];

/** A notification holds less than 8,000 bytes; the number of a log has at most 16 digits. */
const logsPerNotification = 400;

const kinds: readonly WakeKind[] = ["news", "stop", "open", "input", "webhooks", "models"];

/** Largest number of a process's lock: the limit of the random number generator. */
const presenceKeys = 2 ** 48 - 1;

/**
 * Keeps the server from ending the session of a process that it has lost contact with before the lease of its node
 * ends, however short its configured limits are. By its own limits, that takes two minutes.
 */
const patientSession = `SELECT set_config('idle_session_timeout', '0', false), set_config('tcp_user_timeout', '0', false),
  set_config('tcp_keepalives_idle', '60', false), set_config('tcp_keepalives_interval', '10', false),
  set_config('tcp_keepalives_count', '6', false)`;

/** Messages about the nodes themselves: a node that starts to listen asks, and every node that listens answers. */
const presence = { question: JSON.stringify(["hello"]), answer: JSON.stringify(["here"]) };

export interface PostgresWakeOptions extends Partial<PostgresTimeouts> {
  readonly url: string;
  /** The schema whose nodes wake each other. Default `parley`. */
  readonly schema?: string;
  readonly driver?: Readonly<pg.ClientConfig>;
  /** Longest pause between two attempts to connect. Default 5 s. */
  readonly maxPauseMs?: number;
  /** Silence after which the node asks whether another one still listens. Default 30 s. */
  readonly silenceMs?: number;
  /** Time that an answer to that may take. Default 5 s. */
  readonly answerMs?: number;
}

/**
 * Wakes nodes by LISTEN and NOTIFY, on a connection that does nothing else: a NOTIFY within the writing transactions
 * would make their commits wait for each other.
 *
 * Listeners of the same process are notified at once. Notifications of one tick are sent together. While the connection
 * is down, other nodes receive nothing, and it is retried: a lost wake-up only costs time, because every node also
 * polls. A connection that only listens cannot notice that it is dead, so it is probed.
 *
 * A node that is alone sends nothing: with one turn at a time, a wake-up after each flush would cost as much as the
 * flush. It knows that it is alone if it has asked, when it started to listen or after a long silence, and has received
 * nothing since. A node that comes later asks too, and is received.
 *
 * The session also holds an advisory lock, with its own number, that ends with the process: its presence. It has none
 * behind a pooler that hands out sessions, because such a session outlives the process, or ends before it.
 */
export class PostgresWake implements Wake {
  readonly #options: PostgresWakeOptions;
  readonly #timeouts: PostgresTimeouts;
  readonly #Client: new (
    config: pg.ClientConfig,
  ) => BoundedClient;
  readonly #listeners = new Set<Listener>();
  readonly #presenceListeners = new Set<() => void>();
  /** Presence of the session that is connected now. */
  #presence: string | undefined;
  readonly #pending = new Map<WakeKind, Set<number>>();
  /** Channel on which the nodes of this schema listen. */
  readonly #channel: string;
  readonly #tried = signal();
  readonly #closing = signal();
  readonly #connecting: Promise<void>;
  #client: BoundedClient | undefined;
  #sending = false;
  /** Set when the next statement is due even if it notifies no node. */
  #isProbeDue = false;
  #closed = false;
  /** Messages to send about this node itself. */
  readonly #about = new Set<string>();
  /** Times at which another node was last received, and at which this one last asked whether there is one. */
  #receivedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PostgresWakeOptions) {
    this.#options = options;
    this.#channel = `${checkSchemaName(options.schema ?? defaultSchema)}_wake`;
    this.#timeouts = timeoutsOf(options);
    this.#Client = boundClient(pg.Client, this.#timeouts.closeTimeoutMs);
    this.#connecting = this.#keepConnected();
  }

  /** Resolves when the first attempt to connect has ended, successfully or not. */
  ready(): Promise<void> {
    return this.#tried.given;
  }

  /** False while this node can neither send to others nor receive from them. */
  get isConnected(): boolean {
    return this.#client !== undefined;
  }

  notify(logs: readonly number[], kind: WakeKind = "news"): void {
    if (this.#closed || logs.length === 0) return;
    const given = [...logs];
    for (const listener of this.#listeners) {
      queueMicrotask(() => {
        if (this.#listeners.has(listener)) listener(given, kind);
      });
    }
    if (!this.#hasCompany()) return;
    let pending = this.#pending.get(kind);
    if (pending === undefined) {
      pending = new Set();
      this.#pending.set(kind, pending);
    }
    for (const log of given) pending.add(log);
    this.#sendSoon();
  }

  listen(onWake: Listener): () => void {
    // A new function, so that the same one may listen twice.
    const listener: Listener = (logs, kind) => onWake(logs, kind);
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  readonly presence: Presence = {
    token: () => this.#presence,
    onChange: (changed) => {
      const listener = () => changed();
      this.#presenceListeners.add(listener);
      return () => {
        this.#presenceListeners.delete(listener);
      };
    },
  };

  async close(): Promise<void> {
    this.#closed = true;
    this.#listeners.clear();
    this.#presenceListeners.clear();
    this.#closing.give();
    await this.#connecting;
  }

  /** Returns true unless it is known that no other node listens. */
  #hasCompany(): boolean {
    const { silenceMs = 30_000, answerMs = 5_000 } = this.#options;
    const now = performance.now();
    if (now - this.#receivedAt < silenceMs) return true;
    if (this.#askedAt > this.#receivedAt) return now - this.#askedAt < answerMs;
    this.#ask();
    return true;
  }

  #ask(): void {
    this.#about.add(presence.question);
    this.#sendSoon();
  }

  #sendSoon(): void {
    if (this.#sending) return;
    this.#sending = true;
    setImmediate(() => this.#send());
  }

  /** Sends what is pending. Notifications that wait while one is being sent go with the next one. */
  async #send(): Promise<void> {
    while (this.#pending.size > 0 || this.#about.size > 0 || this.#isProbeDue) {
      this.#isProbeDue = false;
      const pending = [...this.#pending];
      const payloads = [...this.#about];
      this.#pending.clear();
      this.#about.clear();
      const client = this.#client;
      if (client === undefined) break;
      for (const [kind, logs] of pending) {
        const all = [...logs];
        for (let start = 0; start < all.length; start += logsPerNotification) {
          payloads.push(JSON.stringify([kind, ...all.slice(start, start + logsPerNotification)]));
        }
      }
      if (payloads.includes(presence.question)) this.#askedAt = performance.now();
      try {
        await this.#query(client, {
          name: "parley_wake",
          text: "SELECT count(pg_notify($1, payload)) FROM unnest($2::text[]) AS payload",
          values: [this.#channel, payloads],
        });
      } catch {
        // The connection's own listener notices, and connects again. A question that was not sent does not count as
        // asked.
        this.#askedAt = Number.NEGATIVE_INFINITY;
        break;
      }
    }
    this.#sending = false;
  }

  async #keepConnected(): Promise<void> {
    const longest = this.#options.maxPauseMs ?? 5_000;
    let pauseMs = 100;
    while (!this.#closed) {
      const connected = await this.#connect();
      this.#tried.give();
      if (connected !== undefined) {
        pauseMs = 100;
        this.#client = connected.client;
        this.#ask();
        this.#setPresence(connected.presence);
        const stopProbing = this.#keepProbing();
        await Promise.race([connected.ended, this.#closing.given]);
        stopProbing();
        this.#client = undefined;
        this.#setPresence(undefined);
        await connected.client.end().catch(() => undefined);
      }
      if (this.#closed) return;
      await Promise.race([pause(pauseMs), this.#closing.given]);
      pauseMs = Math.min(pauseMs * 2, longest);
    }
  }

  #setPresence(presence: string | undefined): void {
    if (presence === this.#presence) return;
    this.#presence = presence;
    for (const changed of [...this.#presenceListeners]) changed();
  }

  /** Takes the lock that shows others that this process runs. Returns its token, or undefined if there is none. */
  async #holdPresence(client: BoundedClient, session: number | undefined): Promise<string | undefined> {
    if (session === undefined || session !== client.processID) return undefined;
    const key = randomInt(presenceKeys);
    await this.#query(client, { text: patientSession });
    const [row] = await this.#query<{ held: boolean; place: string }>(client, {
      text: `SELECT pg_try_advisory_lock($1::int8) AS held, ${sessionPlace} AS place`,
      values: [key],
    });
    return row?.held === true ? presenceToken(row.place, key) : undefined;
  }

  /** Probes the connection regularly; one that does not answer is destroyed, and so connected again. */
  #keepProbing(): () => void {
    const timer = setInterval(() => {
      this.#isProbeDue = true;
      this.#sendSoon();
    }, this.#timeouts.wakeProbeMs);
    timer.unref();
    return () => clearInterval(timer);
  }

  async #query<Row extends pg.QueryResultRow>(
    client: BoundedClient,
    query: pg.QueryConfig,
  ): Promise<readonly Row[]> {
    client.limitSilence(this.#timeouts.briefTimeoutMs);
    try {
      return (await client.query<Row>(query)).rows;
    } finally {
      client.limitSilence(0);
    }
  }

  async #connect(): Promise<
    { client: BoundedClient; ended: Promise<void>; presence: string | undefined } | undefined
  > {
    const client = new this.#Client({
      application_name: "parley wake",
      keepAlive: true,
      ...this.#options.driver,
      connectionString: this.#options.url,
      connectionTimeoutMillis: this.#timeouts.connectTimeoutMs,
    });
    const ended = new Promise<void>((resolve) => {
      client.on("error", () => resolve());
      client.on("end", () => resolve());
    });
    let ownId: number | undefined;
    client.on("notification", ({ processId, payload }) => {
      // Listeners of this process have been notified already.
      if (processId !== ownId && payload !== undefined) this.#receive(payload);
    });
    try {
      await client.connect();
      const [row] = await this.#query<{ id: number }>(client, { text: "SELECT pg_backend_pid() AS id" });
      ownId = row?.id;
      await this.#query(client, { text: `LISTEN ${this.#channel}` });
      const presence = await this.#holdPresence(client, ownId).catch(() => undefined);
      return { client, ended, presence };
    } catch {
      await client.end().catch(() => undefined);
      return undefined;
    }
  }

  #receive(payload: string): void {
    this.#receivedAt = performance.now();
    if (payload === presence.question) {
      this.#about.add(presence.answer);
      this.#sendSoon();
      return;
    }
    const message: unknown = JSON.parse(payload);
    if (!Array.isArray(message)) return;
    const [kind, ...logs] = message as [unknown, ...number[]];
    const known = kinds.find((each) => each === kind);
    if (known === undefined) return;
    for (const listener of this.#listeners) listener(logs, known);
  }
}

/** Creates a signal that is given once, and may have been given already. */
function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

/** Waits without keeping a process alive that has nothing else to do. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
