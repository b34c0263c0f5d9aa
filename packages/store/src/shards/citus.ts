import { isParleyError, ParleyError } from "@parley/core/errors";
import { type Database, withBudget } from "../database.js";
import { unlimited } from "../migration/migrate.js";
import type { Shard } from "./shard.js";

/** A server of a Citus cluster, by the name and port under which the coordinator knows it. */
export interface CitusNode {
  readonly host: string;
  readonly port: number;
}

/** Returns true if the server is the coordinator of a Citus cluster. */
export async function hasCitus(server: Pick<Database, "query">): Promise<boolean> {
  const rows = await server.query({
    text: "SELECT 1 AS found FROM pg_catalog.pg_extension WHERE extname = 'citus'",
  });
  return rows.length > 0;
}

/**
 * Lets Citus place the schema of a shard on a server of its cluster. Does nothing on a server without Citus, and for a
 * schema that Citus has placed already. Citus blocks writes to the schema while it copies the rows.
 */
export async function distributeSchema({ schema, server }: Shard): Promise<void> {
  if (await hasCitus(server)) {
    await callCitus(server, "citus_schema_distribute($1::text::regnamespace)", [schema]);
  }
}

/**
 * Lets Citus move the schema of a shard to another server of its cluster, while it is used. The owners of the shard
 * stay in it.
 */
export async function moveSchema({ name, schema, server }: Shard, to: CitusNode): Promise<void> {
  if (!(await hasCitus(server))) {
    throw new ParleyError(
      "invalid_request",
      `The server of the shard ${name} has no Citus, which moves whole schemas. Move its owners to another shard instead`,
      { details: { field: "to", reason: "no_citus" } },
    );
  }
  await callCitus(server, "citus_schema_move($1::text::regnamespace, $2::text, $3::int4)", [
    schema,
    to.host,
    to.port,
  ]);
}

async function callCitus(
  server: Database,
  call: string,
  values: readonly (string | number)[],
): Promise<void> {
  try {
    await withBudget(server, "migration").transaction(async (connection) => {
      await connection.batch(unlimited);
      await connection.query({ text: `SELECT ${call}::text AS done`, values });
    });
  } catch (error) {
    throw refusalOf(error) ?? error;
  }
}

/** Returns the error with the words of Citus, which say what is wrong with a server or a table. */
function refusalOf(error: unknown): ParleyError | undefined {
  if (!isParleyError(error) || !["internal", "invalid_request"].includes(error.code)) return undefined;
  if (!(error.cause instanceof Error)) return undefined;
  const { details = {} } = error;
  return new ParleyError("store_unavailable", `Citus refused: ${error.cause.message}`, {
    retryable: false,
    details: { ...details, reason: "citus" },
    cause: error.cause,
  });
}
