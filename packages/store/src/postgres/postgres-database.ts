import { ParleyError } from "@parley/core/errors";
import pg from "pg";
import type { Connection, Database, ResultRow, Statement } from "../database.js";
import { failureOf, isConflict, spoilsConnection } from "./failure.js";
import { PipelinedStatements } from "./pipelined-statements.js";

/** How to reach the server, and how long to wait for it. */
export interface PostgresDatabaseOptions {
  readonly url: string;
  /** Connections at most. Default 10. */
  readonly maxConnections?: number;
  /** How long a call waits for a connection. Default 5 s. */
  readonly connectTimeoutMs?: number;
  /** How long a statement may run. Default 30 s. */
  readonly statementTimeoutMs?: number;
  /**
   * For a pooler that hands out connections per transaction: no prepared statements, and no settings that belong to a
   * session. Time limits are then set within each longer transaction.
   */
  readonly transactionPooler?: boolean;
  /** Anything else that the driver takes, such as `ssl`. */
  readonly driver?: Readonly<pg.PoolConfig>;
}

/** How often work that the server undid because of others is done again. */
const attempts = 6;

/** A frozen process must not hold a conversation's lock for longer than its lease lasts. */
const idleTransactionMs = 5_000;

/** A connection that nobody used for so long goes back to the pool, which closes what it does not need. */
const keptMs = 10_000;

/** A connection out of the pool, and whether it broke while it was out. */
interface Held {
  readonly client: pg.PoolClient;
  isSpoiled: boolean;
  readonly onError: () => void;
}

/**
 * PostgreSQL through a pool of connections.
 *
 * The one that was used last is kept at hand for whoever comes next: going through the pool costs a turn of the event
 * loop, a timer and a round of listeners, which a small statement notices. It is kept only while nobody waits for one.
 */
export class PostgresDatabase implements Database {
  readonly #pool: pg.Pool;
  #kept: Held | undefined;
  #keptUsedAt = 0;
  #keptTimer: NodeJS.Timeout | undefined;
  readonly #prepare: boolean;
  readonly #opening: readonly Statement[];
  #closing: Promise<void> | undefined;

  constructor(options: PostgresDatabaseOptions) {
    const { statementTimeoutMs = 30_000, transactionPooler = false } = options;
    this.#prepare = !transactionPooler;
    this.#pool = new pg.Pool({
      application_name: "parley",
      ...options.driver,
      connectionString: options.url,
      max: options.maxConnections ?? 10,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
      ...(transactionPooler
        ? {}
        : {
            statement_timeout: statementTimeoutMs,
            idle_in_transaction_session_timeout: idleTransactionMs,
          }),
    });
    // A connection that breaks while nobody uses it is replaced by the pool; without a listener it would end the process.
    this.#pool.on("error", () => undefined);
    const limits = `set_config('statement_timeout', '${statementTimeoutMs}', true), set_config('idle_in_transaction_session_timeout', '${idleTransactionMs}', true)`;
    this.#opening = [
      { text: "BEGIN", ...(transactionPooler ? {} : { name: "begin" }) },
      ...(transactionPooler ? [{ text: `SELECT ${limits}` }] : []),
    ];
  }

  async query(statement: Statement): Promise<ResultRow[]> {
    const [rows = []] = await this.batch([statement]);
    return rows;
  }

  batch(statements: readonly Statement[]): Promise<ResultRow[][]> {
    return this.#repeatedly((client) => this.#send(client, statements));
  }

  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#repeatedly(async (client) => {
      let open = false;
      const send = async (statements: readonly Statement[]): Promise<ResultRow[][]> => {
        if (open) return this.#send(client, statements);
        // Begins with the first statement instead of a round trip of its own.
        open = true;
        const results = await this.#send(client, [...this.#opening, ...statements]);
        return results.slice(this.#opening.length);
      };
      const connection: Connection = {
        batch: send,
        query: async (statement) => (await send([statement]))[0] ?? [],
      };
      try {
        const result = await work(connection);
        if (open) await this.#send(client, [{ text: "COMMIT", name: "commit" }]);
        return result;
      } catch (error) {
        if (open && !(error instanceof ParleyError && spoilsConnection(error))) {
          // If even this fails, the connection is dead, and the server has undone everything by itself.
          await this.#send(client, [{ text: "ROLLBACK", name: "rollback" }]).catch(() => undefined);
        }
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#letKeptGo();
      this.#closing = this.#pool.end();
    }
    await this.#closing;
  }

  async #repeatedly<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#connected(work);
      } catch (error) {
        if (!(error instanceof ParleyError) || !isConflict(error) || attempt === attempts) throw error;
        // Those who met must not meet again at once.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5 * 2 ** attempt));
      }
    }
  }

  async #connected<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) {
      throw new ParleyError("store_unavailable", "The store is closed", { retryable: false });
    }
    const held = this.#takeKept() ?? (await this.#connect());
    try {
      return await work(held.client);
    } catch (error) {
      held.isSpoiled ||= error instanceof ParleyError && spoilsConnection(error);
      throw error;
    } finally {
      this.#giveBack(held);
    }
  }

  #takeKept(): Held | undefined {
    const kept = this.#kept;
    this.#kept = undefined;
    return kept;
  }

  #giveBack(held: Held): void {
    const isWanted = this.#kept === undefined && this.#pool.waitingCount === 0;
    if (isWanted && !held.isSpoiled && this.#closing === undefined) {
      this.#kept = held;
      this.#keptUsedAt = performance.now();
      this.#keptTimer ??= setTimeout(() => this.#look(), keptMs);
    } else letGo(held);
  }

  /** One timer for as long as there is work, instead of one for each statement. */
  #look(): void {
    this.#keptTimer = undefined;
    const idleMs = performance.now() - this.#keptUsedAt;
    if (this.#kept === undefined) return;
    if (idleMs < keptMs) this.#keptTimer = setTimeout(() => this.#look(), keptMs - idleMs);
    else this.#letKeptGo();
  }

  #letKeptGo(): void {
    clearTimeout(this.#keptTimer);
    this.#keptTimer = undefined;
    const kept = this.#takeKept();
    if (kept !== undefined) letGo(kept);
  }

  /** By callback: where it is asked for a promise, the pool makes two for each call. */
  #connect(): Promise<Held> {
    return new Promise((resolve, reject) => {
      this.#pool.connect((error, client) => {
        if (client === undefined) {
          reject(failureOf(error));
          return;
        }
        const held: Held = {
          client,
          isSpoiled: false,
          // It may break between two statements as well: the statement that follows says so, if there is one.
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

  #send(client: pg.PoolClient, statements: readonly Statement[]): Promise<ResultRow[][]> {
    const sent = this.#prepare ? statements : statements.map(({ name: _, ...statement }) => statement);
    return new Promise((resolve, reject) => {
      client.query(
        new PipelinedStatements(sent, (error, results) => {
          if (results !== undefined) resolve(results);
          else reject(failureOf(error));
        }),
      );
    });
  }
}

function letGo({ client, isSpoiled, onError }: Held): void {
  client.off("error", onError);
  client.release(isSpoiled);
}
