import { ParleyError } from "@parley/core/errors";
import type { Connection, Database, ResultRow, Statement } from "../database.js";
import { isRefusal } from "./guard-owners.js";

/** Fails if the store is divided into shards. */
export const undivided: Statement = {
  name: "undivided",
  text: "SELECT 1 / (count(*) = 0)::int4 AS undivided FROM parley.shard",
};

/**
 * Database of a store that is not divided into shards. Once a call that contains the statement `undivided` finds that
 * the store has been divided meanwhile, all calls are refused: owners may be in shards that this process does not know.
 */
export class UndividedDatabase implements Database {
  readonly #database: Database;
  #refusal: ParleyError | undefined;
  readonly timeLimit?: (ms: number) => Statement;

  constructor(database: Database) {
    this.#database = database;
    if (database.timeLimit !== undefined) this.timeLimit = database.timeLimit.bind(database);
  }

  query(statement: Statement): Promise<ResultRow[]> {
    return this.#refused() ?? this.#database.query(statement);
  }

  batch(statements: readonly Statement[]): Promise<ResultRow[][]> {
    return this.#refused() ?? this.#database.batch(statements);
  }

  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#refused() ?? this.#database.transaction(work);
  }

  trouble(): string | undefined {
    return this.#database.trouble?.();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  /** Waits for a call that contains `undivided`. */
  async watch<Result>(call: Promise<Result>): Promise<Result> {
    try {
      return await call;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#refusal = dividedStore(error);
      throw this.#refusal;
    }
  }

  #refused(): Promise<never> | undefined {
    return this.#refusal === undefined ? undefined : Promise.reject(this.#refusal);
  }
}

/** Creates the refusal of a store that is opened without its shards. */
export function dividedStore(cause?: unknown): ParleyError {
  return new ParleyError(
    "store_unavailable",
    "The store is divided into shards. Set store.shards or store.schemas, as on the other nodes",
    { retryable: false, details: { reason: "wrong_shards" }, cause },
  );
}
