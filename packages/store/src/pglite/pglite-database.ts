import type { PGlite, Transaction } from "@electric-sql/pglite";
import { ParleyError } from "@parley/core/errors";
import type { Connection, Database, ResultRow, Statement } from "../database.js";
import { failureOf } from "../postgres/failure.js";

type Runner = Pick<PGlite | Transaction, "query">;

/**
 * PGlite as the store's database. It has one session, so transactions run one after the other and nothing ever
 * conflicts; what a transaction does must go through the connection that it is given.
 */
export class PgliteDatabase implements Database {
  readonly #pglite: PGlite;
  #closed = false;

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  async query(statement: Statement): Promise<ResultRow[]> {
    this.#check();
    return run(this.#pglite, statement);
  }

  batch(statements: readonly Statement[]): Promise<ResultRow[][]> {
    return this.transaction((connection) => connection.batch(statements));
  }

  async transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    this.#check();
    try {
      return await this.#pglite.transaction(async (transaction) => work(connectionOn(transaction)));
    } catch (error) {
      throw failureOf(error);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pglite.close();
  }

  #check(): void {
    if (this.#closed) throw new ParleyError("store_unavailable", "The store is closed", { retryable: false });
  }
}

function connectionOn(runner: Runner): Connection {
  return {
    query: (statement) => run(runner, statement),
    async batch(statements) {
      const results: ResultRow[][] = [];
      for (const statement of statements) results.push(await run(runner, statement));
      return results;
    },
  };
}

async function run(runner: Runner, { text, values = [] }: Statement): Promise<ResultRow[]> {
  try {
    const { rows } = await runner.query<ResultRow>(text, [...values]);
    return rows;
  } catch (error) {
    throw failureOf(error);
  }
}
