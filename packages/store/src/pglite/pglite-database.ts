import type { PGlite } from "@electric-sql/pglite";
import { ParleyError } from "@parley/core/errors";
import type { Connection, Database, ResultRow, Statement } from "../database.js";
import { failureOf } from "../postgres/failure.js";
import { PreparedStatements } from "./prepared-statements.js";

/** Receives the outcomes of the statements. */
export interface StatementObserver {
  onStatement(): void;
  /** Called when the database can no longer be used, with the failure that shows it. */
  onBroken(failure: ParleyError): void;
}

/** SQLSTATEs after which PGlite cannot continue: the disk is full, or failed. */
const breaking: ReadonlySet<unknown> = new Set(["53100", "58030"]);

/**
 * PGlite as the store's database. It has one session, so transactions run one after the other and nothing ever
 * conflicts; what a transaction does must go through the connection that it is given.
 */
export class PgliteDatabase implements Database {
  readonly #pglite: PGlite;
  readonly #observer: StatementObserver | undefined;
  readonly #statements: PreparedStatements;
  #closed = false;

  constructor(pglite: PGlite, observer?: StatementObserver) {
    this.#pglite = pglite;
    this.#statements = new PreparedStatements(pglite);
    this.#observer = observer;
  }

  async query(statement: Statement): Promise<ResultRow[]> {
    const [rows = []] = await this.batch([statement]);
    return rows;
  }

  batch(statements: readonly Statement[]): Promise<ResultRow[][]> {
    return this.#exclusively(() => this.#run(statements));
  }

  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#exclusively(async () => {
      let isOpen = false;
      const send = async (statements: readonly Statement[]): Promise<ResultRow[][]> => {
        if (isOpen) return this.#run(statements);
        // BEGIN is sent with the first statement.
        isOpen = true;
        const [, ...results] = await this.#run([{ text: "BEGIN", name: "begin" }, ...statements]);
        return results;
      };
      const connection: Connection = {
        batch: send,
        query: async (statement) => (await send([statement]))[0] ?? [],
      };
      try {
        const result = await work(connection);
        if (isOpen) await this.#run([{ text: "COMMIT", name: "commit" }]);
        return result;
      } catch (error) {
        // If even this fails, the database is broken, which the first failure has shown.
        if (isOpen) await this.#run([{ text: "ROLLBACK", name: "rollback" }]).catch(() => undefined);
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pglite.close();
  }

  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    this.#check();
    return this.#pglite.runExclusive(work);
  }

  async #run(statements: readonly Statement[]): Promise<ResultRow[][]> {
    try {
      return await this.#statements.run(statements);
    } catch (error) {
      throw this.#failureOf(error);
    } finally {
      this.#observer?.onStatement();
    }
  }

  #failureOf(error: unknown): ParleyError {
    const failure = failureOf(error);
    // A trap of the WebAssembly code leaves its memory in an inconsistent state.
    const isTrap = error instanceof WebAssembly.RuntimeError;
    if (isTrap || breaking.has(failure.details?.sqlState)) this.#observer?.onBroken(failure);
    return failure;
  }

  #check(): void {
    if (this.#closed) throw new ParleyError("store_unavailable", "The store is closed", { retryable: false });
  }
}
