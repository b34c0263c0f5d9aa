import type { Connection, Submittable } from "pg";
import type { ResultRow, Statement } from "../database.js";
import { columnsOf, literal, type ResultColumn, rowOf } from "../statement-text.js";

/** Prepared statements of each connection, with the columns of their results. */
const prepared = new WeakMap<Connection, Map<string, readonly ResultColumn[]>>();

/**
 * Statements that are sent together and end with one `Sync`: one round trip, and by the protocol one transaction, so
 * that neither BEGIN nor COMMIT is needed and an error rolls back all of it. Each statement still takes its own
 * snapshot when it begins. The driver's own queries send a `Sync` each, which makes each a separate transaction.
 *
 * A coordinator that hands the statements on to other servers needs BEGIN and COMMIT all the same.
 *
 * A statement that was prepared before is neither parsed nor described again.
 */
export class PipelinedStatements implements Submittable {
  readonly #statements: readonly Statement[];
  readonly #settle: (error: unknown, results?: ResultRow[][]) => void;
  readonly #results: ResultRow[][] = [];
  readonly #columns: (readonly ResultColumn[] | undefined)[];
  #current = 0;
  #known: Map<string, readonly ResultColumn[]> | undefined;
  #settled = false;
  /** The driver expects a callback on everything that is submitted. */
  readonly callback = () => undefined;

  constructor(statements: readonly Statement[], settle: (error: unknown, results?: ResultRow[][]) => void) {
    this.#statements = statements;
    this.#settle = settle;
    this.#columns = statements.map(() => undefined);
  }

  submit(connection: Connection): void {
    let known = prepared.get(connection);
    if (known === undefined) {
      known = new Map();
      prepared.set(connection, known);
    }
    this.#known = known;
    connection.stream.cork();
    try {
      let place = -1;
      for (const { text, values = [], name = "" } of this.#statements) {
        place += 1;
        const columns = name === "" ? undefined : known.get(name);
        this.#columns[place] = columns;
        if (columns === undefined) {
          // It may exist from an attempt that failed later; closing one that does not exist is no error.
          if (name !== "") connection.close({ type: "S", name }, true);
          connection.parse({ name, text, types: [] }, true);
        }
        connection.bind({ statement: name, values: values.map(literal) }, true);
        if (columns === undefined) connection.describe({ type: "P", name: "" }, true);
        connection.execute(null, true);
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleRowDescription(message: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#columns[this.#current] = columnsOf(message.fields);
  }

  handleDataRow(message: { fields: (string | null)[] }): void {
    this.#rows().push(rowOf(this.#columns[this.#current] ?? [], message.fields));
  }

  handleCommandComplete(): void {
    this.#rows();
    const name = this.#statements[this.#current]?.name;
    const columns = this.#columns[this.#current] ?? [];
    if (name !== undefined && this.#known?.has(name) === false) this.#known.set(name, columns);
    this.#current += 1;
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete();
  }

  handlePortalSuspended(): void {}

  handleError(error: unknown): void {
    this.#finish(error);
  }

  handleReadyForQuery(): void {
    this.#finish(undefined);
  }

  #rows(): ResultRow[] {
    let rows = this.#results[this.#current];
    if (rows === undefined) {
      rows = [];
      this.#results[this.#current] = rows;
    }
    return rows;
  }

  #finish(error: unknown): void {
    if (this.#settled) return;
    this.#settled = true;
    if (error === undefined) this.#settle(undefined, this.#results);
    else this.#settle(error);
  }
}
