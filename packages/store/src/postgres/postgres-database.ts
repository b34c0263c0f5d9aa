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

/** PostgreSQL through a pool of connections. */
export class PostgresDatabase implements Database {
  readonly #pool: pg.Pool;
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
    this.#closing ??= this.#pool.end();
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
    const client = await this.#connect();
    let spoiled = false;
    // A connection may break between two statements as well: the statement that follows says so.
    const onError = () => {
      spoiled = true;
    };
    client.on("error", onError);
    try {
      return await work(client);
    } catch (error) {
      spoiled ||= error instanceof ParleyError && spoilsConnection(error);
      throw error;
    } finally {
      client.off("error", onError);
      client.release(spoiled);
    }
  }

  /** By callback: where it is asked for a promise, the pool makes two for each call. */
  #connect(): Promise<pg.PoolClient> {
    return new Promise((resolve, reject) => {
      this.#pool.connect((error, client) => {
        if (client === undefined) reject(failureOf(error));
        else resolve(client);
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
