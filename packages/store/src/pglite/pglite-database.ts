import type { PGlite, Transaction } from "@electric-sql/pglite";
import { ParleyError } from "@parley/core/errors";
import type { Connection, Database, ResultRow, Statement } from "../database.js";
import { failureOf } from "../postgres/failure.js";

type Runner = Pick<PGlite | Transaction, "query">;

/** Receives what becomes of the statements. */
export interface StatementObserver {
  onStatement(): void;
  /** Called when the database can no longer be used, with the failure that shows it. */
  onBroken(failure: ParleyError): void;
}

/** SQLSTATEs after which PGlite cannot go on: the disk is full, or failed. */
const breaking: ReadonlySet<unknown> = new Set(["53100", "58030"]);

/**
 * PGlite as the store's database. It has one session, so transactions run one after the other and nothing ever
 * conflicts; what a transaction does must go through the connection that it is given.
 */
export class PgliteDatabase implements Database {
  readonly #pglite: PGlite;
  readonly #observer: StatementObserver | undefined;
  #closed = false;

  constructor(pglite: PGlite, observer?: StatementObserver) {
    this.#pglite = pglite;
    this.#observer = observer;
  }

  async query(statement: Statement): Promise<ResultRow[]> {
    this.#check();
    return this.#run(this.#pglite, statement);
  }

  batch(statements: readonly Statement[]): Promise<ResultRow[][]> {
    return this.transaction((connection) => connection.batch(statements));
  }

  async transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    this.#check();
    try {
      return await this.#pglite.transaction(async (transaction) => work(this.#connectionOn(transaction)));
    } catch (error) {
      throw this.#failureOf(error);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pglite.close();
  }

  #connectionOn(runner: Runner): Connection {
    return {
      query: (statement) => this.#run(runner, statement),
      batch: async (statements) => {
        const results: ResultRow[][] = [];
        for (const statement of statements) results.push(await this.#run(runner, statement));
        return results;
      },
    };
  }

  async #run(runner: Runner, { text, values = [] }: Statement): Promise<ResultRow[]> {
    try {
      const { rows } = await runner.query<ResultRow>(text, [...values]);
      return rows;
    } catch (error) {
      throw this.#failureOf(error);
    } finally {
      this.#observer?.onStatement();
    }
  }

  #failureOf(error: unknown): ParleyError {
    const failure = failureOf(error);
    // A trap of the WebAssembly code leaves its memory as it was in the middle of something.
    const isTrap = error instanceof WebAssembly.RuntimeError;
    if (isTrap || breaking.has(failure.details?.sqlState)) this.#observer?.onBroken(failure);
    return failure;
  }

  #check(): void {
    if (this.#closed) throw new ParleyError("store_unavailable", "The store is closed", { retryable: false });
  }
}
