import { ParleyError } from "@parley/core/errors";
import { type Column, readTables, type Table, type TableSpace } from "../../moving/table-rows.js";

/**
 * Tables of which no row moves with an owner: those of the home shard for all owners, those of each shard for itself,
 * and the search index, which the new place builds again.
 */
export const stayingTables: readonly string[] = [
  "api_key",
  "login",
  "node",
  "owner_shard",
  "removed_blob",
  "search_entry",
  "search_owner",
  "secret",
  "secret_hold",
  "shard",
  "shard_owner",
  "store_identity",
];

/** Tables whose rows are written once: rows with the same key are the same. */
const immutable: readonly string[] = ["blob_piece", "conversation_message", "derived_file"];

/** Tables by which others find their rows. They are copied first, and removed last. */
const parents: readonly string[] = ["conversation", "blob"];

/** A table of which an owner has rows. */
export interface OwnerTable extends Table {
  /** Condition on `t` for the rows of the owner `$1`. */
  readonly isOwned: string;
  /** Column by which rows are compared and copied together: the log or the file. Absent: all rows of the owner. */
  readonly group?: Column;
  readonly isImmutable: boolean;
}

/**
 * Reads the tables that an owner has rows in, as the database has them, in the order in which they can be written.
 * Throws for a table whose rows cannot be traced to an owner: what is not copied would be lost.
 */
export async function readOwnerTables(space: TableSpace, schema: string): Promise<OwnerTable[]> {
  const tables = (await readTables(space, schema)).filter(({ name }) => !stayingTables.includes(name));
  const first = parents.flatMap((name) => tables.filter((table) => table.name === name));
  return [...first, ...tables.filter(({ name }) => !parents.includes(name))].map((table) => {
    const group = table.key.find(({ name }) => ["log", "blob"].includes(name)) ?? ownNumber(table);
    return {
      ...table,
      isOwned: ownedRows(table, schema),
      isImmutable: immutable.includes(table.name),
      ...(group === undefined ? {} : { group }),
    };
  });
}

function ownNumber({ name, key }: Table): Column | undefined {
  return name === "blob" ? key[0] : undefined;
}

function ownedRows({ name, columns }: Table, schema: string): string {
  const has = (column: string) => columns.some((each) => each.name === column);
  if (has("owner")) return `t."owner" = $1`;
  if (has("log")) return `t."log" IN (SELECT o."log" FROM "${schema}"."conversation" o WHERE o."owner" = $1)`;
  if (has("blob")) return `t."blob" IN (SELECT o."number" FROM "${schema}"."blob" o WHERE o."owner" = $1)`;
  throw new ParleyError(
    "internal",
    `Nothing leads from an owner to the rows of the table ${name}. Name it in stayingTables, or give it a column for its owner`,
    { retryable: false },
  );
}
