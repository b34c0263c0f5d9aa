import type { TimeBudget } from "../database.js";

/**
 * Time limits of the store on PostgreSQL, in milliseconds.
 *
 * The server ends a statement that runs for too long. The client waits a little longer than that, and then takes the
 * connection for dead: a proxy or load balancer that hangs passes no bytes and closes nothing, so the server's limit
 * alone never arrives. A connection that went silent is destroyed, never used again, and replaced by the pool.
 */
export interface PostgresTimeouts {
  /** How long a call waits for a connection: for a free one, or for a new one to be opened. Default 5 s. */
  readonly connectTimeoutMs: number;
  /** How long an ordinary statement may run. Default 10 s: the longest wait for a lock is half of it. */
  readonly statementTimeoutMs: number;
  /** How long a statement that reads or writes much may run: search, import, removal, the doctor. Default 60 s. */
  readonly longStatementTimeoutMs: number;
  /** How long a statement of a migration may take to answer. The server does not limit it. Default 1 h. */
  readonly migrationTimeoutMs: number;
  /** How much longer than the server's limit the client waits for bytes of an answer. Default 2 s. */
  readonly answerGraceMs: number;
  /** How long heartbeats, readiness checks and probes of idle connections wait for bytes. Default 4 s. */
  readonly briefTimeoutMs: number;
  /** A connection that has not answered for this long is probed before it is used. Default 1 s. */
  readonly trustMs: number;
  /** How long `close` waits for statements under way, and a connection for the end of its session. Default 3 s. */
  readonly closeTimeoutMs: number;
  /** How often the connection for wake-ups is probed. Default 10 s. */
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

/** The limits of these options, with defaults for those that are left out. */
export function timeoutsOf(options: Partial<PostgresTimeouts>): PostgresTimeouts {
  const chosen = { ...defaultPostgresTimeouts };
  for (const name of Object.keys(chosen) as (keyof PostgresTimeouts)[]) {
    const value = options[name];
    if (value !== undefined) Object.assign(chosen, { [name]: value });
  }
  return chosen;
}

/** How long a connection may be silent while it owes the answer to statements of this budget. */
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
