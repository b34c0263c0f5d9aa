/** Value of a statement's parameter: plain values, and lists of them for `unnest`. */
export type StatementValue = string | number | boolean | null | readonly (string | number | boolean | null)[];

/**
 * Time limit of a statement, as a class: `brief` for heartbeats, `long` for statements that read or write much,
 * `migration` for changes of the schema. A database that runs in the same process may ignore it.
 */
export type TimeBudget = "brief" | "ordinary" | "long" | "migration";

/**
 * One SQL statement. Results hold only types that every driver reads alike: text, int4, float8 and bool. Statements
 * cast everything else (`content::text`, `date_part(...)`), so that no driver's type parsers are relied on.
 */
export interface Statement {
  readonly text: string;
  readonly values?: readonly StatementValue[];
  /** Time budget of the statement. Default `ordinary`. */
  readonly budget?: TimeBudget;
  /** A statement with a name is prepared once per connection. The same name always has the same text. */
  readonly name?: string;
}

export type ResultRow = Record<string, unknown>;

/** Runs statements, one after the other. */
export interface Connection {
  query(statement: Statement): Promise<ResultRow[]>;

  /**
   * Runs several statements in one round trip and one transaction: all of them happen, or none. Each one sees what was
   * committed before it began, including commits of others while an earlier one of the batch waited for a lock. Returns
   * the rows of each.
   */
  batch(statements: readonly Statement[]): Promise<ResultRow[][]>;
}

/**
 * Database that the store's operations use: PostgreSQL through a pool, or PGlite. Isolation is READ COMMITTED. Failures
 * reject with a `ParleyError` if the database is the cause (`store_unavailable`, `too_large`, ...).
 */
export interface Database extends Connection {
  /**
   * Runs `work` in one transaction on one connection, and commits when it resolves. A deadlock, a serialization failure
   * or a long wait for a lock rolls back and runs `work` again, so `work` must change only the database.
   */
  transaction<T>(work: (connection: Connection) => Promise<T>): Promise<T>;

  /** Describes why the database should get no more work, if most recent calls failed; undefined otherwise. */
  trouble?(): string | undefined;

  /**
   * Returns a statement that limits the time of each one behind it in a batch; one that takes longer fails with
   * `store_unavailable`, see `isOutOfTime`. Absent if a running statement cannot be ended.
   */
  timeLimit?(ms: number): Statement;

  close(): Promise<void>;
}

/** Returns the same database, with this budget for every statement that names none. */
export function withBudget(database: Database, budget: TimeBudget): Database {
  const limited = (connection: Connection): Connection => ({
    query: (statement) => connection.query({ budget, ...statement }),
    batch: (statements) => connection.batch(statements.map((statement) => ({ budget, ...statement }))),
  });
  return {
    ...limited(database),
    transaction: (work) => database.transaction((connection) => work(limited(connection))),
    trouble: () => database.trouble?.(),
    ...(database.timeLimit === undefined ? {} : { timeLimit: database.timeLimit.bind(database) }),
    close: () => database.close(),
  };
}
