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

/** Locks of processes have numbers up to this one: as many as the generator of random numbers has. */
const presenceKeys = 2 ** 48 - 1;

/**
 * The server must not give up the session of a process that it has lost sight of before the lease of its node ends,
 * however short it is configured to wait. By its own limits, that takes two minutes.
 */
const patientSession = `SELECT set_config('idle_session_timeout', '0', false), set_config('tcp_user_timeout', '0', false),
  set_config('tcp_keepalives_idle', '60', false), set_config('tcp_keepalives_interval', '10', false),
  set_config('tcp_keepalives_count', '6', false)`;

/** What nodes tell each other about themselves: whoever begins to listen asks, and everyone who listens answers. */
const presence = { asked: JSON.stringify(["hello"]), answered: JSON.stringify(["here"]) };

export interface PostgresWakeOptions extends Partial<PostgresTimeouts> {
  readonly url: string;
  /** The schema whose nodes wake each other. Default `parley`. */
  readonly schema?: string;
  readonly driver?: Readonly<pg.ClientConfig>;
  /** The longest pause between two attempts to connect. Default 5 s. */
  readonly maxPauseMs?: number;
  /** After so long a silence it is asked whether anybody else still listens. Default 30 s. */
  readonly silenceMs?: number;
  /** How long an answer to that may take. Default 5 s. */
  readonly answerMs?: number;
}

/**
 * Nodes wake each other by LISTEN and NOTIFY, on a connection that does nothing else: a NOTIFY within the writing
 * transactions would make their commits wait for each other.
 *
 * Listeners of the same process hear at once. What is told within one tick travels together. While the connection is
 * down, others hear nothing, and it is tried again and again: a lost wake-up costs time, because everyone also looks
 * by themselves. A connection that only listens cannot notice that it leads nowhere any more, so it is probed.
 *
 * A node that is alone tells nobody: with one turn at a time, a wake-up behind each flush would cost as much as the
 * flush. It knows by having asked, when it began to listen or after a long silence, and having heard nothing since.
 * Who comes later asks too, and is heard.
 *
 * The session also holds an advisory lock, with a number of its own, that ends with the process: its presence. It has none
 * where something stands between that hands out sessions, for such a session outlives the process, or ends before it.
 */
export class PostgresWake implements Wake {
  readonly #options: PostgresWakeOptions;
  readonly #timeouts: PostgresTimeouts;
  readonly #Client: new (
    config: pg.ClientConfig,
  ) => BoundedClient;
  readonly #listeners = new Set<Listener>();
  readonly #presenceListeners = new Set<() => void>();
  /** The presence of the session that is connected now. */
  #presence: string | undefined;
  readonly #pending = new Map<WakeKind, Set<number>>();
  /** Where the nodes of this schema listen. */
  readonly #channel: string;
  readonly #tried = signal();
  readonly #closing = signal();
  readonly #connecting: Promise<void>;
  #client: BoundedClient | undefined;
  #sending = false;
  /** The next statement is due even if it notifies nobody. */
  #isProbeDue = false;
  #closed = false;
  /** What is to be told of this node itself. */
  readonly #about = new Set<string>();
  /** When another node was last heard, and when it was last asked whether there is one. */
  #heardAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: PostgresWakeOptions) {
    this.#options = options;
    this.#channel = `${checkSchemaName(options.schema ?? defaultSchema)}_wake`;
    this.#timeouts = timeoutsOf(options);
    this.#Client = boundClient(pg.Client, this.#timeouts.closeTimeoutMs);
    this.#connecting = this.#keepConnected();
  }

  /** Resolves when the first attempt to connect is through, whatever came of it. */
  ready(): Promise<void> {
    return this.#tried.given;
  }

  /** False while others can neither hear this node nor be heard. */
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
    // Its own function, so that the same one may listen twice.
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

  /** Until it is known that nobody else listens, somebody may. */
  #hasCompany(): boolean {
    const { silenceMs = 30_000, answerMs = 5_000 } = this.#options;
    const now = performance.now();
    if (now - this.#heardAt < silenceMs) return true;
    if (this.#askedAt > this.#heardAt) return now - this.#askedAt < answerMs;
    this.#ask();
    return true;
  }

  #ask(): void {
    this.#about.add(presence.asked);
    this.#sendSoon();
  }

  #sendSoon(): void {
    if (this.#sending) return;
    this.#sending = true;
    setImmediate(() => this.#send());
  }

  /** What waited while a notification was under way goes with the next one. */
  async #send(): Promise<void> {
    while (this.#pending.size > 0 || this.#about.size > 0 || this.#isProbeDue) {
      this.#isProbeDue = false;
      const told = [...this.#pending];
      const payloads = [...this.#about];
      this.#pending.clear();
      this.#about.clear();
      const client = this.#client;
      if (client === undefined) break;
      for (const [kind, logs] of told) {
        const all = [...logs];
        for (let start = 0; start < all.length; start += logsPerNotification) {
          payloads.push(JSON.stringify([kind, ...all.slice(start, start + logsPerNotification)]));
        }
      }
      if (payloads.includes(presence.asked)) this.#askedAt = performance.now();
      try {
        await this.#query(client, {
          name: "parley_wake",
          text: "SELECT count(pg_notify($1, payload)) FROM unnest($2::text[]) AS payload",
          values: [this.#channel, payloads],
        });
      } catch {
        // The connection's own listener notices, and connects again. A question that got nowhere has not been asked.
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

  /** Takes the lock by which others see that this process runs. Returns its token, or undefined where there is none. */
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

  /** Asks for a sign of life from time to time; a connection that gives none is destroyed, and so connected anew. */
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
      // Listeners of this process have heard already.
      if (processId !== ownId && payload !== undefined) this.#hear(payload);
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

  #hear(payload: string): void {
    this.#heardAt = performance.now();
    if (payload === presence.asked) {
      this.#about.add(presence.answered);
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

/** Something that happens once, and may have happened already. */
function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

/** Does not keep a process alive that has nothing else to do. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
