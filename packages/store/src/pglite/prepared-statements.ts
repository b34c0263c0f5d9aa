import { type PGlite, protocol } from "@electric-sql/pglite";
import type { ResultRow, Statement } from "../database.js";
import { columnsOf, literal, type ResultColumn, rowOf } from "../statement-text.js";

const { serialize } = protocol;

/** A message of the server, with the fields that are used here. */
interface Answer {
  readonly name: string;
  readonly fields?: unknown;
}

/**
 * Runs statements on PGlite's session by the server's own protocol. PGlite's `query` has each statement parsed,
 * described and planned every time; one with a name is prepared once here, and all statements of a batch are sent and
 * answered together.
 */
export class PreparedStatements {
  readonly #pglite: PGlite;
  /** Columns of the results of each prepared statement. */
  readonly #prepared = new Map<string, readonly ResultColumn[]>();

  constructor(pglite: PGlite) {
    this.#pglite = pglite;
  }

  /**
   * Runs statements together: outside of a transaction they are one. Rejects with the server's error. The caller keeps
   * others off the session.
   */
  async run(statements: readonly Statement[]): Promise<ResultRow[][]> {
    const known = statements.map(({ name }) => (name === undefined ? undefined : this.#prepared.get(name)));
    const message = Buffer.concat([
      ...statements.flatMap((statement, place) => messagesOf(statement, known[place] === undefined)),
      serialize.sync(),
    ]);
    const options = { syncToFs: false, throwOnError: false };
    const { messages } = await this.#pglite.execProtocol(message, options);
    return this.#read(statements, known, messages as readonly Answer[]);
  }

  #read(
    statements: readonly Statement[],
    known: readonly (readonly ResultColumn[] | undefined)[],
    answers: readonly Answer[],
  ): ResultRow[][] {
    const results: ResultRow[][] = [];
    let rows: ResultRow[] = [];
    let columns = known[0];
    for (const answer of answers) {
      if (answer.name === "error") throw answer;
      if (answer.name === "rowDescription") columns = columnsOf(answer.fields as never);
      else if (answer.name === "dataRow") rows.push(rowOf(columns ?? [], answer.fields as never));
      else if (answer.name === "commandComplete" || answer.name === "emptyQuery") {
        const name = statements[results.length]?.name;
        if (name !== undefined) this.#prepared.set(name, columns ?? []);
        results.push(rows);
        rows = [];
        columns = known[results.length];
      }
    }
    return results;
  }
}

function messagesOf({ text, values = [], name = "" }: Statement, isNew: boolean): Uint8Array[] {
  const bound = serialize.bind({ statement: name, values: values.map(literal) });
  const executed = serialize.execute({});
  if (!isNew) return [bound, executed];
  return [
    // It may exist from an attempt that failed later; closing one that does not exist is no error.
    ...(name === "" ? [] : [serialize.close({ type: "S", name })]),
    serialize.parse({ name, text, types: [] }),
    bound,
    serialize.describe({ type: "P", name: "" }),
    executed,
  ];
}
