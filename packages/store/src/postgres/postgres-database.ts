import { ParleyError } from "@parley/core/errors";
import pg from "pg";
import type { Connection, Database, ResultRow, Statement, TimeBudget } from "../database.js";
import { type BoundedClient, boundClient } from "./bounded-client.js";
import { failureOf, isConflict, isLocked, spoilsConnection } from "./failure.js";
import { PipelinedStatements } from "./pipelined-statements.js";
import { RecentCalls } from "./recent-calls.js";
import { type PostgresTimeouts, silenceLimits, timeoutsOf } from "./timeouts.js";

/** Options of the connection to the server, and its time limits. */
export interface PostgresDatabaseOptions extends Partial<PostgresTimeouts> {
  readonly url: string;
  /** Maximum number of connections. Default 10. */
  readonly maxConnections?: number;
  /**
   * For a pooler that hands out connections per transaction: no prepared statements, and no settings that belong to a
   * session. Time limits are then set within each longer transaction.
   */
  readonly transactionPooler?: boolean;
  /** Other options of the driver, such as `ssl`. */
  readonly driver?: Readonly<pg.PoolConfig>;
}

/** Default of `maxConnections`. */
export const defaultConnections = 10;

/** Attempts for work that the server rolled back because of other transactions. */
const attempts = 6;

/** A frozen process must not hold a conversation's lock for longer than its lease lasts. */
const idleTransactionMs = 5_000;

/**
 * Time that a transaction waits for a lock. Otherwise the transactions of a frozen process that wait for each other
 * would get the lock one after the other, and each of them would hold it for that time. It is less than half of that
 * time because a statement may wait twice: for its place in the queue of a row, and for the row.
 */
const lockWaitMs = 2_000;

/** Waits of a transaction for the same lock: longer in all than a frozen process may hold it. */
const lockWaits = 4;

/** Idle time after which the system starts to probe a connection. It finds hosts that are gone, not those that hang. */
const keepAliveMs = 10_000;

/** Budgets from the smallest to the largest. */
const budgets: readonly TimeBudget[] = ["brief", "ordinary", "long", "migration"];

const begin: Statement = { text: "BEGIN", name: "begin" };

const commit: Statement = { text: "COMMIT", name: "commit" };

const probe: Statement = { text: "SELECT 1 AS alive", name: "probe", budget: "brief" };

/** Time after which an unused connection goes back to the pool, which closes what it does not need. */
const keptMs = 10_000;

type PooledClient = BoundedClient & pg.PoolClient;

/** A connection out of the pool, with a flag for one that broke while it was out. */
interface Held {
  readonly client: PooledClient;
  isSpoiled: boolean;
  readonly onError: () => void;
}

/**
 * Connects to PostgreSQL through a pool.
 *
 * The connection that was used last is kept for the next call: going through the pool costs a turn of the event loop, a
 * timer and a round of listeners, which is noticeable for a small statement. It is kept only while no call waits for
 * one.
 *
 * No call waits indefinitely for a silent connection: one that owes an answer is destroyed at the limit of its
 * statements, and the outcome is unknown. One that was idle for a while is probed before a statement is sent on it; if
 * it does not answer, nothing has happened yet, and the call continues with another one. Connections go silent
 * together, when a proxy that they pass through hangs: with the silent one, the idle ones that have not answered since
 * are destroyed, too.
 */
export class PostgresDatabase implements Database {
  readonly #pool: pg.Pool;
  readonly #timeouts: PostgresTimeouts;
  readonly #silenceLimits: Readonly<Record<TimeBudget, number>>;
  /** All connected clients, and those of them that are in use. */
  readonly #clients = new Set<PooledClient>();
  readonly #inUse = new Set<PooledClient>();
  readonly #recent = new RecentCalls();
  #kept: Held | undefined;
  #keptTimer: NodeJS.Timeout | undefined;
  readonly #prepare: boolean;
  #opening: readonly Statement[];
  #batchesNeedBlock = false;
  readonly #longer: Statement;
  #closing: Promise<void> | undefined;

  constructor(options: PostgresDatabaseOptions) {
    const { transactionPooler = false } = options;
    const timeouts = timeoutsOf(options);
    const { statementTimeoutMs, longStatementTimeoutMs } = timeouts;
    this.#timeouts = timeouts;
    this.#silenceLimits = silenceLimits(timeouts);
    this.#prepare = !transactionPooler;
    const Base = (options.driver?.Client ?? pg.Client) as typeof pg.Client;
    this.#pool = new pg.Pool({
      application_name: "parley",
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
      ...options.driver,
      Client: boundClient(Base, timeouts.closeTimeoutMs),
      connectionString: options.url,
      max: options.maxConnections ?? defaultConnections,
      connectionTimeoutMillis: timeouts.connectTimeoutMs,
      ...(transactionPooler
        ? {}
        : {
            statement_timeout: statementTimeoutMs,
            idle_in_transaction_session_timeout: idleTransactionMs,
          }),
    });
    // The pool replaces a connection that breaks while it is idle; without a listener the error would end the process.
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => {
      this.#clients.add(client as PooledClient);
      client.once("end", () => this.#clients.delete(client as PooledClient));
    });
    const lockLimit = `set_config('lock_timeout', '${lockWaitMs}', true)`;
    const limits = `set_config('statement_timeout', '${statementTimeoutMs}', true), set_config('idle_in_transaction_session_timeout', '${idleTransactionMs}', true)`;
    this.#opening = transactionPooler
      ? [{ text: "BEGIN" }, { text: `SELECT ${limits}, ${lockLimit}` }]
      : [begin, { text: `SELECT ${lockLimit}`, name: "lock_limit" }];
    this.#longer = {
      text: `SELECT set_config('statement_timeout', '${longStatementTimeoutMs}', true)`,
      name: "longer",
    };
  }

  async query(statement: Statement): Promise<ResultRow[]> {
    const [rows = []] = await this.batch([statement]);
    return rows;
  }

  batch(statements: readonly Statement[]): Promise<ResultRow[][]> {
    return this.#repeatedly((client) =>
      this.#batchesNeedBlock && statements.length > 1
        ? this.#sendBlock(client, statements)
        : this.#send(client, statements),
    );
  }

  /**
   * Marks that the server hands statements on to others, as the coordinator of a Citus cluster does. There, statements
   * that are sent together are one transaction only between BEGIN and COMMIT, and only SET LOCAL reaches the others.
   */
  assumeForwarding(): void {
    if (this.#batchesNeedBlock) return;
    this.#batchesNeedBlock = true;
    this.#opening = [
      ...this.#opening,
      { text: "SET LOCAL citus.propagate_set_commands = 'local'", name: "propagate_set" },
      { text: `SET LOCAL lock_timeout = ${lockWaitMs}`, name: "local_lock_limit" },
    ];
  }

  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#repeatedly(async (client) => {
      let open = false;
      const send = async (statements: readonly Statement[]): Promise<ResultRow[][]> => {
        if (open) return this.#send(client, statements);
        // BEGIN is sent with the first statement instead of in a separate round trip.
        open = true;
        return this.#send(client, statements, this.#opening);
      };
      const connection: Connection = {
        batch: send,
        query: async (statement) => (await send([statement]))[0] ?? [],
      };
      try {
        const result = await work(connection);
        if (open) await this.#send(client, [commit]);
        return result;
      } catch (error) {
        if (open) await this.#rollBack(client, error);
        throw error;
      }
    });
  }

  /** Sends a batch between BEGIN and COMMIT, in the same round trip. */
  async #sendBlock(client: PooledClient, statements: readonly Statement[]): Promise<ResultRow[][]> {
    try {
      const end = { ...commit, budget: budgetOf(statements) };
      const results = await this.#send(client, [...statements, end], [begin]);
      return results.slice(0, statements.length);
    } catch (error) {
      await this.#rollBack(client, error);
      throw error;
    }
  }

  /** Ends a transaction that failed. If even this fails, the connection is dead, and the server has rolled it back. */
  async #rollBack(client: PooledClient, error: unknown): Promise<void> {
    if (error instanceof ParleyError && spoilsConnection(error)) return;
    await this.#send(client, [{ text: "ROLLBACK", name: "rollback" }]).catch(() => undefined);
  }

  timeLimit(ms: number): Statement {
    return {
      name: "time_limit",
      text: "SELECT set_config('statement_timeout', $1, true)",
      values: [`${Math.max(1, Math.ceil(ms))}`],
    };
  }

  /** Returns true if there is no pooler in between: the session is the one that the startup of the connection named. */
  isDirect(): Promise<boolean> {
    return this.#repeatedly(async (client) => {
      const [[row] = []] = await this.#send(client, [{ text: "SELECT pg_backend_pid() AS id" }]);
      return row?.id === client.processID;
    });
  }

  trouble(): string | undefined {
    return this.#recent.trouble();
  }

  /** Waits a short time for running statements, then cuts the remaining connections. */
  async close(): Promise<void> {
    this.#closing ??= this.#end();
    await this.#closing;
  }

  async #end(): Promise<void> {
    const cut = setTimeout(() => {
      for (const client of this.#clients) client.destroy();
    }, this.#timeouts.closeTimeoutMs);
    try {
      this.#letKeptGo();
      await this.#pool.end();
    } finally {
      clearTimeout(cut);
    }
  }

  async #repeatedly<T>(work: (client: PooledClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#connected(work);
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        const mayRepeat = isConflict(error) ? attempt < attempts : isLocked(error) && attempt < lockWaits;
        if (!mayRepeat) throw error;
        // Transactions that conflicted must not conflict again at once.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5 * 2 ** attempt));
      }
    }
  }

  async #connected<T>(work: (client: PooledClient) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) {
      throw new ParleyError("store_unavailable", "The store is closed", { retryable: false });
    }
    const held = this.#takeTrusted() ?? (await this.#checkOut());
    const { client } = held;
    this.#inUse.add(client);
    try {
      const result = await work(client);
      this.#recent.succeeded();
      return result;
    } catch (error) {
      const isUnavailable = error instanceof ParleyError && error.code === "store_unavailable";
      held.isSpoiled ||= isUnavailable && spoilsConnection(error);
      if (isUnavailable && !isConflict(error) && !isLocked(error))
        this.#recent.failed({ unconnected: false });
      else this.#recent.succeeded();
      throw error;
    } finally {
      this.#inUse.delete(client);
      if (!held.isSpoiled) client.answeredAt = performance.now();
      else if (client.silentSince !== undefined) this.#distrust(client.silentSince);
      this.#giveBack(held);
    }
  }

  #takeKept(): Held | undefined {
    const kept = this.#kept;
    this.#kept = undefined;
    return kept;
  }

  /** Returns the kept connection, unless it has been idle for so long that it has to be probed first. */
  #takeTrusted(): Held | undefined {
    return this.#kept !== undefined && this.#isTrusted(this.#kept) ? this.#takeKept() : undefined;
  }

  #isTrusted({ client }: Held): boolean {
    return performance.now() - client.answeredAt < this.#timeouts.trustMs;
  }

  /** Returns a connection that has answered a moment ago. */
  async #checkOut(): Promise<Held> {
    for (;;) {
      const held = this.#takeKept() ?? (await this.#connect());
      if (this.#isTrusted(held)) return held;
      this.#inUse.add(held.client);
      try {
        await this.#send(held.client, [probe]);
        held.client.answeredAt = performance.now();
        return held;
      } catch {
        // No statement has been sent on it yet. The next connection is newer, or has answered since.
        held.isSpoiled = true;
        this.#inUse.delete(held.client);
        this.#distrust(held.client.silentSince ?? Number.NEGATIVE_INFINITY);
        letGo(held);
      }
    }
  }

  /** Destroys the idle connections that have not answered since then. */
  #distrust(silentSince: number): void {
    for (const client of this.#clients) {
      if (!this.#inUse.has(client) && client.answeredAt <= silentSince)
        client.destroy(new Error("not trusted"));
    }
  }

  #giveBack(held: Held): void {
    const isWanted = this.#kept === undefined && this.#pool.waitingCount === 0;
    if (isWanted && !held.isSpoiled && this.#closing === undefined) {
      this.#kept = held;
      this.#keptTimer ??= setTimeout(() => this.#look(), keptMs);
    } else letGo(held);
  }

  /** Releases the kept connection when it has been idle. One timer while there is work, instead of one per statement. */
  #look(): void {
    this.#keptTimer = undefined;
    if (this.#kept === undefined) return;
    const idleMs = performance.now() - this.#kept.client.answeredAt;
    if (idleMs < keptMs) this.#keptTimer = setTimeout(() => this.#look(), keptMs - idleMs);
    else this.#letKeptGo();
  }

  #letKeptGo(): void {
    clearTimeout(this.#keptTimer);
    this.#keptTimer = undefined;
    const kept = this.#takeKept();
    if (kept !== undefined) letGo(kept);
  }

  /** Connects by callback: for a promise, the pool creates two for each call. */
  #connect(): Promise<Held> {
    return new Promise((resolve, reject) => {
      this.#pool.connect((error, client) => {
        if (client === undefined) {
          this.#recent.failed({ unconnected: true });
          reject(failureOf(error));
          return;
        }
        const held: Held = {
          client: client as PooledClient,
          isSpoiled: false,
          // It may break between two statements as well: the next statement reports it, if there is one.
          onError: () => {
            held.isSpoiled = true;
            if (this.#kept === held) this.#letKeptGo();
          },
        };
        client.on("error", held.onError);
        resolve(held);
      });
    });
  }

  /** Sends statements in one round trip, behind those of `before`, whose results are not needed. */
  async #send(
    client: PooledClient,
    statements: readonly Statement[],
    before: readonly Statement[] = [],
  ): Promise<ResultRow[][]> {
    const budget = budgetOf(statements);
    const first = budget === "long" ? [...before, this.#longer] : before;
    const all = first.length === 0 ? statements : [...first, ...statements];
    const sent = this.#prepare ? all : all.map(({ name: _, ...statement }) => statement);
    const results = await this.#submit(client, sent, this.#silenceLimits[budget]);
    return first.length === 0 ? results : results.slice(first.length);
  }

  #submit(client: PooledClient, statements: readonly Statement[], limitMs: number): Promise<ResultRow[][]> {
    return new Promise((resolve, reject) => {
      client.limitSilence(limitMs);
      client.query(
        new PipelinedStatements(statements, (error, results) => {
          client.limitSilence(0);
          if (results !== undefined) resolve(results);
          else reject(failureOf(error));
        }),
      );
    });
  }
}

/** Returns the largest budget of these statements. */
function budgetOf(statements: readonly Statement[]): TimeBudget {
  let largest = -1;
  for (const { budget = "ordinary" } of statements) largest = Math.max(largest, budgets.indexOf(budget));
  return budgets[largest] ?? "ordinary";
}

function letGo({ client, isSpoiled, onError }: Held): void {
  client.off("error", onError);
  client.release(isSpoiled);
}
