import { isParleyError, ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import { SilentConnectionError } from "./bounded-client.js";

/** Returns the SQLSTATE, if the error came from the server. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error) || !("severity" in error))
    return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Codes and classes (two characters) of SQLSTATE that mean: not available now, perhaps on another connection. */
const unavailable = new Set([
  "08", // connection exceptions
  "53", // out of connections, memory or disk
  "57", // shut down, crashed, starting up, canceled by the statement's time limit
  "58", // input and output errors of the server's system
  "25006", // read-only: the server is a standby, or has become one
  "25P03", // the time limit of idle transactions
  "40", // deadlock or serialization failure that continued after retries
  "55P03", // the time limit of locks
]);

/** Wrong address or credentials: waiting does not help. */
const misconfigured = new Set(["28", "3D"]);

/**
 * Errors of a prepared statement that is missing or exists twice: the session behind the connection is not always the
 * same one. Parley prepares each statement once per connection, so neither happens on a direct session.
 */
const sharedSession = new Set(["26000", "42P05"]);

/** Creates the refusal to work through a pooler that was not announced. */
export function poolerFailure(
  found: "transaction" | "session",
  options: { readonly cause?: unknown; readonly sqlState?: string } = {},
): ParleyError {
  const advice =
    found === "transaction"
      ? "A connection pooler in transaction mode (such as pgbouncer with pool_mode = transaction) hands this connection's " +
        "statements to changing server sessions. Set transactionPooler: true, and listenUrl to the address of the " +
        "database server itself if several nodes share it; or connect to the server directly"
      : "A connection pooler (such as pgbouncer) stands before the database and refuses the settings of a session. Set " +
        "transactionPooler: true; or let the pooler ignore them (ignore_startup_parameters = statement_timeout, " +
        "idle_in_transaction_session_timeout); or connect to the server directly";
  const { cause, sqlState: state } = options;
  return new ParleyError("store_unavailable", advice, {
    retryable: false,
    details: { setting: "transactionPooler", ...omitUndefined({ sqlState: state }) },
    ...omitUndefined({ cause }),
  });
}

/** Returns true if a connection was refused for its startup settings, as poolers do with settings of a session. */
export function isRefusedStartup(error: unknown): boolean {
  return isParleyError(error) && sqlState(error.cause) === "08P01";
}

/**
 * Converts a failure of the driver to the error that the store's callers know. Any error that the server did not send
 * is a broken or impossible connection.
 */
export function failureOf(error: unknown): ParleyError {
  if (isParleyError(error)) return error;
  if (error instanceof SilentConnectionError) {
    return new ParleyError("store_unavailable", "The database connection went silent and was closed", {
      cause: error,
    });
  }
  const state = sqlState(error);
  if (state === undefined) return new ParleyError("store_unavailable", undefined, { cause: error });
  const family = state.slice(0, 2);
  const details = { sqlState: state };
  if (unavailable.has(state) || unavailable.has(family)) {
    return new ParleyError("store_unavailable", undefined, { cause: error, details });
  }
  if (sharedSession.has(state)) return poolerFailure("transaction", { cause: error, sqlState: state });
  if (misconfigured.has(family)) {
    return new ParleyError("store_unavailable", "The database refuses the connection", {
      cause: error,
      details,
      retryable: false,
    });
  }
  if (family === "54")
    return new ParleyError("too_large", "The database cannot hold this", { cause: error, details });
  if (family === "22") {
    return new ParleyError("invalid_request", "The database cannot hold this value", {
      cause: error,
      details,
    });
  }
  if (family === "23" && isAbout(error, "blob_ref")) {
    return new ParleyError("invalid_request", "A file of the message is not there; upload it again", {
      cause: error,
      details: { ...details, reason: "file_missing" },
    });
  }
  return new ParleyError("internal", undefined, { cause: error, details });
}

/**
 * Returns true if a statement violated a constraint of this table. The coordinator of a Citus cluster passes on only the
 * message, in which the table has a number behind its name.
 */
function isAbout(error: unknown, name: string): boolean {
  if (typeof error !== "object" || error === null) return false;
  if ("table" in error && error.table === name) return true;
  return "message" in error && new RegExp(`["«]${name}_\\d+["»]`).test(String(error.message));
}

/** Returns true if the server rolled back the transaction because of others: the same work can be repeated. */
export function isConflict(error: ParleyError): boolean {
  const state = sqlState(error.cause);
  return state === "40001" || state === "40P01";
}

/** Returns true if a transaction waited too long for a lock, and was rolled back. */
export function isLocked(error: unknown): boolean {
  return isParleyError(error) && sqlState(error.cause) === "55P03";
}

/** Returns true if the server ended a statement because it took too long. */
export function isOutOfTime(error: unknown): boolean {
  return isParleyError(error) && sqlState(error.cause) === "57014";
}

/** Returns true if the connection is dead, or leads to a server that no longer accepts writes. */
export function spoilsConnection(error: ParleyError): boolean {
  if (error.code !== "store_unavailable") return false;
  const state = sqlState(error.cause);
  return state === undefined || state === "25006" || state === "25P03" || /^(08|57P)/.test(state);
}
