import type { ResultRow, Statement } from "../../database.js";
import {
  firstSize,
  insertion,
  keyList,
  lastKey,
  nextSize,
  selectedColumns,
  type TableSpace,
  textOf,
} from "../../moving/table-rows.js";
import type { OwnerTable } from "./owner-tables.js";

/** A schema that rows of an owner are read from, or written to. */
export interface OwnerPlace extends TableSpace {
  readonly schema: string;
}

/** Rows of one owner that are copied from one place to another. */
export interface OwnerCopy {
  /** Owner as it is stored. */
  readonly owner: string;
  readonly source: OwnerPlace;
  readonly target: OwnerPlace;
  /** Tables of the source. */
  readonly tables: readonly OwnerTable[];
  readonly targetTables: readonly OwnerTable[];
  onCopied(table: string, rows: number): void;
}

/** Groups that are removed by one statement. */
const groupsAtOnce = 500;

interface Difference {
  readonly table: OwnerTable;
  /** The same table with the target's condition for its rows. */
  readonly there: OwnerTable;
  /** Groups to be copied: they are missing or different. The empty one means all rows. */
  readonly wanted: readonly string[];
  /** Groups that the target has, and that are different or not in the source any more. */
  readonly outdated: readonly string[];
}

/**
 * Makes the target's rows of an owner the same as the source's, and returns the number of copied rows: 0 if they were
 * equal. Rows are compared by groups, with hashes that each side computes, so a second call copies what has changed
 * since the first. Rows of tables that never change are compared by their keys, or with `whole` by their contents, too.
 */
export async function copyOwner(
  copy: OwnerCopy,
  options: { readonly whole?: boolean } = {},
): Promise<number> {
  const differences: Difference[] = [];
  for (const [place, table] of copy.tables.entries()) {
    const there = copy.targetTables[place] ?? table;
    const isWhole = !table.isImmutable || options.whole === true;
    const [before, after] = await Promise.all([
      groupHashes(copy.source, table, copy.owner, isWhole),
      groupHashes(copy.target, there, copy.owner, isWhole),
    ]);
    const wanted = [...before].filter(([group, hash]) => after.get(group) !== hash).map(([group]) => group);
    const outdated = [...after].filter(([group, hash]) => before.get(group) !== hash).map(([group]) => group);
    differences.push({
      table,
      there,
      wanted,
      // Other rows refer to a file: it is replaced in place, and removed only when the source has none.
      outdated: table.name === "blob" ? outdated.filter((group) => !before.has(group)) : outdated,
    });
  }
  for (const { there, outdated } of differences.toReversed()) {
    await removeGroups(copy.target, there, copy.owner, outdated);
  }
  let rows = 0;
  for (const difference of differences) rows += await copyGroups(copy, difference);
  return rows;
}

/** Removes all rows of an owner, in pieces, and returns their number. */
export async function removeOwner(
  place: OwnerPlace,
  tables: readonly OwnerTable[],
  owner: string,
): Promise<number> {
  let rows = 0;
  for (const table of tables.toReversed()) {
    rows += await removeGroups(place, table, owner, await groupsOf(place, table, owner));
  }
  const index = `"${place.schema}"."search_entry"`;
  const owners = `"${place.schema}"."search_owner"`;
  await place.query({
    text: `DELETE FROM ${index} WHERE owner IN (SELECT number FROM ${owners} WHERE owner = $1)`,
    values: [owner],
  });
  await place.query({ text: `DELETE FROM ${owners} WHERE owner = $1`, values: [owner] });
  return rows;
}

/** Counts the rows that a place has of an owner. */
export async function countOwner(
  place: OwnerPlace,
  tables: readonly OwnerTable[],
  owner: string,
): Promise<number> {
  let rows = 0;
  for (const table of tables) {
    const [row] = await place.query({
      text: `SELECT count(*)::text AS rows FROM ${nameOf(place, table)} AS t WHERE ${table.isOwned}`,
      values: [owner],
    });
    rows += Number(row?.rows);
  }
  return rows;
}

/** Finds the owners that have left a place of which it still has rows. */
export async function findLeftOwners(place: OwnerPlace, tables: readonly OwnerTable[]): Promise<string[]> {
  // The rows of its conversations and files are the last ones that are removed of an owner.
  const own = tables.filter(({ columns }) => columns.some(({ name }) => name === "owner"));
  const hasRows = own.map(
    (table) => `EXISTS (SELECT FROM ${nameOf(place, table)} AS t WHERE t.owner = s.owner)`,
  );
  const rows = await place.query({
    text: `SELECT s.owner FROM "${place.schema}".shard_owner AS s
      WHERE s.state = 'gone' AND (${hasRows.join(" OR ")}) ORDER BY s.owner`,
  });
  return rows.map(({ owner }) => String(owner));
}

function nameOf({ schema }: OwnerPlace, { name }: OwnerTable): string {
  return `"${schema}"."${name}"`;
}

function groupText({ group }: OwnerTable): string {
  return group === undefined ? "''" : `t."${group.name}"::text`;
}

async function groupHashes(
  place: OwnerPlace,
  table: OwnerTable,
  owner: string,
  isWhole: boolean,
): Promise<Map<string, string>> {
  const columns = (isWhole ? table.columns : table.key).map(textOf).join(", ");
  const rows = await place.query({
    text: `SELECT grouped, count(*)::text || ' '
        || sum(('x' || substr(hash, 1, 15))::bit(60)::bigint)::text || ' '
        || sum(('x' || substr(hash, 16, 15))::bit(60)::bigint)::text AS hash
      FROM (SELECT ${groupText(table)} AS grouped, md5(ROW(${columns})::text) AS hash
        FROM ${nameOf(place, table)} AS t WHERE ${table.isOwned}) AS hashed
      GROUP BY grouped`,
    values: [owner],
  });
  return new Map(rows.map(({ grouped, hash }) => [String(grouped), String(hash)]));
}

async function groupsOf(place: OwnerPlace, table: OwnerTable, owner: string): Promise<string[]> {
  const rows = await place.query({
    text: `SELECT DISTINCT ${groupText(table)} AS grouped FROM ${nameOf(place, table)} AS t WHERE ${table.isOwned}`,
    values: [owner],
  });
  return rows.map(({ grouped }) => String(grouped));
}

function isInGroups({ group }: OwnerTable, parameter: number): string {
  return group === undefined
    ? `'' = ANY ($${parameter}::text[])`
    : `t."${group.name}" = ANY ($${parameter}::${group.type}[])`;
}

async function removeGroups(
  place: OwnerPlace,
  table: OwnerTable,
  owner: string,
  groups: readonly string[],
): Promise<number> {
  let removed = 0;
  for (let start = 0; start < groups.length; start += groupsAtOnce) {
    const rows = await place.query({
      text: `WITH removed AS (
          DELETE FROM ${nameOf(place, table)} AS t WHERE ${table.isOwned} AND ${isInGroups(table, 2)} RETURNING 1
        ) SELECT count(*)::text AS rows FROM removed`,
      values: [owner, groups.slice(start, start + groupsAtOnce)],
    });
    removed += Number(rows[0]?.rows);
  }
  return removed;
}

async function copyGroups(copy: OwnerCopy, { table, there, wanted }: Difference): Promise<number> {
  const { source, target, owner, onCopied } = copy;
  let copied = 0;
  for (let start = 0; start < wanted.length; start += groupsAtOnce) {
    const groups = wanted.slice(start, start + groupsAtOnce);
    let last: (string | null)[] | undefined;
    for (let size = firstSize(table); ; ) {
      const read: ResultRow[] = await source.query(pageOf(source, table, { owner, groups, last, size }));
      if (read.length > 0) {
        await target.query(insertion(there, nameOf(target, there), read, { replacing: true }));
        last = lastKey(table, read);
        copied += read.length;
        onCopied(table.name, copied);
      }
      if (read.length < size) break;
      size = nextSize(size, read);
    }
  }
  return copied;
}

function pageOf(
  place: OwnerPlace,
  table: OwnerTable,
  page: {
    readonly owner: string;
    readonly groups: readonly string[];
    readonly last: readonly (string | null)[] | undefined;
    readonly size: number;
  },
): Statement {
  const behind = table.key.map(({ type }, index) => `$${index + 3}::text::${type}`).join(", ");
  return {
    text: `SELECT ${selectedColumns(table)} FROM ${nameOf(place, table)} AS t
      WHERE ${table.isOwned} AND ${isInGroups(table, 2)}
        ${page.last === undefined ? "" : `AND (${keyList(table)}) > (${behind})`}
      ORDER BY ${keyList(table)} LIMIT ${page.size}`,
    values: [page.owner, page.groups, ...(page.last ?? [])],
  };
}
