import { isParleyError, ParleyError } from "@parley/core/errors";
import type { Connection } from "../database.js";
import { sqlState } from "../postgres/failure.js";

/** Refuses to begin if the role may not create what a migration creates, and names the right that it lacks. */
export async function requireRights(connection: Connection, schema: string): Promise<void> {
  const [row] = await connection.query({
    text: `SELECT n.oid IS NOT NULL AS there, current_user::text AS role, current_database()::text AS database,
        CASE WHEN n.oid IS NULL THEN has_database_privilege(current_database(), 'CREATE')
          ELSE has_schema_privilege(n.oid, 'CREATE') AND has_schema_privilege(n.oid, 'USAGE') END AS allowed
      FROM (SELECT 1) AS one LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = $1`,
    values: [schema],
  });
  if (row?.allowed === true) return;
  const role = quoted(String(row?.role));
  const database = quoted(String(row?.database));
  if (row?.there === true) {
    throw refusal(
      `The role ${role} may not create tables in the schema ${schema}. An owner of the schema grants it: ` +
        `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${role}`,
    );
  }
  throw refusal(
    `The role ${role} may not create the schema ${schema} in the database ${database}. An owner of the database grants ` +
      `it: GRANT CREATE ON DATABASE ${database} TO ${role}; or creates it: CREATE SCHEMA ${schema} AUTHORIZATION ${role}`,
  );
}

/** Adds advice to the error of a right that was not foreseen, such as one on a table that belongs to another role. */
export function missingRight(error: unknown, schema: string): unknown {
  if (!isParleyError(error) || sqlState(error.cause) !== "42501") return error;
  const said = error.cause instanceof Error ? error.cause.message : "permission denied";
  return refusal(
    `The database refuses a right that the migration of the schema ${schema} needs: ${said}. Run it as the role that ` +
      `owns Parley's tables (ALTER TABLE ... OWNER TO, or parley migrate with that role)`,
    error,
  );
}

function refusal(message: string, cause?: unknown): ParleyError {
  return new ParleyError("store_unavailable", message, {
    retryable: false,
    details: { reason: "missing_right" },
    ...(cause === undefined ? {} : { cause }),
  });
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
