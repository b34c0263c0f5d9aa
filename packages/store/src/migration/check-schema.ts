import { isParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { StoreCheck } from "@parley/core/ports";
import type { Database } from "../database.js";
import { isCurrent } from "./migrate.js";
import { type Migration, readMigrations } from "./migrations.js";

/** Compares the schema with the migrations that come with this package. Changes nothing. */
export async function checkSchema(
  database: Database,
  schema: string,
  migrations?: readonly Migration[],
): Promise<StoreCheck> {
  try {
    const isUpToDate = await isCurrent(database, schema, migrations ?? (await readMigrations()));
    const trouble = database.trouble?.();
    return { schema: isUpToDate ? "current" : "older", ...omitUndefined({ trouble }) };
  } catch (error) {
    if (isParleyError(error) && error.code === "schema_newer") return { schema: "newer" };
    throw error;
  }
}
