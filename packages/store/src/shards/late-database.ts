import { ParleyError } from "@parley/core/errors";
import type { Connection, Database, ResultRow, Statement } from "../database.js";
import { within } from "./within.js";

/**
 * Database of a server that may be away while a store is opened. What could not be done then is done before the next
 * call, by whichever comes first; the others wait for it. Calls fail as long as that fails, and if it takes long:
 * migrations may.
 */
export class LateDatabase implements Database {
  readonly #database: Database;
  readonly #waitMs: number;
  #prepare: (() => Promise<void>) | undefined;
  #preparing: Promise<void> | undefined;
  readonly timeLimit?: (ms: number) => Statement;

  /** `waitMs`: the longest time that a call waits for what has to be done before it. */
  constructor(database: Database, waitMs: number) {
    this.#database = database;
    this.#waitMs = waitMs;
    if (database.timeLimit !== undefined) this.timeLimit = database.timeLimit.bind(database);
  }

  /** Sets what has to be done before the next call. It must not call this database. */
  prepareWith(prepare: () => Promise<void>): void {
    this.#prepare = prepare;
  }

  query(statement: Statement): Promise<ResultRow[]> {
    return this.#ready((database) => database.query(statement));
  }

  batch(statements: readonly Statement[]): Promise<ResultRow[][]> {
    return this.#ready((database) => database.batch(statements));
  }

  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#ready((database) => database.transaction(work));
  }

  trouble(): string | undefined {
    return this.#database.trouble?.();
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #ready<Result>(call: (database: Database) => Promise<Result>): Promise<Result> {
    if (this.#prepare === undefined) return call(this.#database);
    this.#preparing ??= this.#prepare()
      .then(() => {
        this.#prepare = undefined;
      })
      .finally(() => {
        this.#preparing = undefined;
      });
    return this.#whenPrepared(this.#preparing, call);
  }

  async #whenPrepared<Result>(
    preparing: Promise<void>,
    call: (database: Database) => Promise<Result>,
  ): Promise<Result> {
    const isPrepared = await within(
      this.#waitMs,
      preparing.then(() => true),
    );
    if (isPrepared === undefined) throw stillPreparing();
    return call(this.#database);
  }
}

function stillPreparing(): ParleyError {
  return new ParleyError(
    "store_unavailable",
    "The schemas of this database server are being migrated and checked; try again in a moment",
  );
}
