import type { TimeBudget } from "../database.js";

/**
 * Time limits of the store on PostgreSQL, in milliseconds.
 *
 * The server ends a statement that runs for too long. The client waits a little longer than that, and then considers
 * the connection dead: a proxy or load balancer that hangs passes no bytes and closes nothing, so the server's limit
 * alone never arrives. A connection that went silent is destroyed, never used again, and replaced by the pool.
 */
export interface PostgresTimeouts {
  /** Time that a call waits for a connection: for a free one, or for a new one to be opened. Default 5 s. */
  readonly connectTimeoutMs: number;
  /** Time limit of an ordinary statement. Default 10 s: the longest wait for a lock is half of it. */
  readonly statementTimeoutMs: number;
  /** Time limit of a statement that reads or writes much: search, import, removal, the doctor. Default 60 s. */
  readonly longStatementTimeoutMs: number;
  /** Time that a statement of a migration may take to answer. The server does not limit it. Default 1 h. */
  readonly migrationTimeoutMs: number;
  /** Time beyond the server's limit that the client waits for bytes of an answer. Default 2 s. */
  readonly answerGraceMs: number;
  /** Time that heartbeats, readiness checks and probes of idle connections wait for bytes. Default 4 s. */
  readonly briefTimeoutMs: number;
  /** A connection that has not answered for this long is probed before it is used. Default 1 s. */
  readonly trustMs: number;
  /** Time that `close` waits for running statements, and a connection for the end of its session. Default 3 s. */
  readonly closeTimeoutMs: number;
  /** Interval between probes of the connection for wake-ups. Default 10 s. */
  readonly wakeProbeMs: number;
}

const defaultPostgresTimeouts: PostgresTimeouts = {
  connectTimeoutMs: 5_000,
  statementTimeoutMs: 10_000,
  longStatementTimeoutMs: 60_000,
  migrationTimeoutMs: 3_600_000,
  answerGraceMs: 2_000,
  briefTimeoutMs: 4_000,
  trustMs: 1_000,
  closeTimeoutMs: 3_000,
  wakeProbeMs: 10_000,
};

/** Returns the limits of these options, with defaults for those that are left out. */
export function timeoutsOf(options: Partial<PostgresTimeouts>): PostgresTimeouts {
  const chosen = { ...defaultPostgresTimeouts };
  for (const name of Object.keys(chosen) as (keyof PostgresTimeouts)[]) {
    const value = options[name];
    if (value !== undefined) Object.assign(chosen, { [name]: value });
  }
  return chosen;
}

/** Returns how long a connection may be silent while it owes the answer to statements of each budget. */
export function silenceLimits(timeouts: PostgresTimeouts): Readonly<Record<TimeBudget, number>> {
  const { statementTimeoutMs, longStatementTimeoutMs, migrationTimeoutMs, answerGraceMs, briefTimeoutMs } =
    timeouts;
  return {
    brief: briefTimeoutMs,
    ordinary: statementTimeoutMs + answerGraceMs,
    long: longStatementTimeoutMs + answerGraceMs,
    migration: migrationTimeoutMs,
  };
}
