import { invalidField } from "@parley/core/errors";
import type { ConversationRecord, LogStore } from "@parley/core/ports";
import type { ConversationStatus } from "@parley/wire";
import type { Statement, StatementValue } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { recordColumns, recordOf, recordTables } from "./record.js";

type ListQuery = Parameters<LogStore["list"]>[0];

/**
 * Lists conversations, newest activity first, by the index that has this order. Its conditions vary from call to call,
 * so the statement is built for each call.
 */
export async function list(
  store: StoreContext,
  owner: string,
  query: ListQuery,
): Promise<{ conversations: ConversationRecord[]; next?: string }> {
  const limit = Math.max(0, Math.min(query.limit, 1_000_000));
  const rows = await store.database.query(listStatement(owner, query, limit + 1));
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    conversations: page.map(recordOf),
    ...(last === undefined || rows.length <= limit ? {} : { next: placeOf(query, last) }),
  };
}

/** Returns a row's place in the list. Pinned ones come before all others, if the query says so. */
function placeOf({ pinnedFirst }: ListQuery, row: Readonly<Record<string, unknown>>): string {
  const place = `${Math.round(Number(row.place_ms))}~${row.id}`;
  return pinnedFirst && row.pinned === true ? `${pinnedMark}${place}` : place;
}

const pinnedMark = "pinned~";

/** Values of a statement that is built piece by piece. */
class Values {
  readonly list: StatementValue[] = [];

  /** Adds a value; returns its parameter. */
  add(value: StatementValue): string {
    this.list.push(value);
    return `$${this.list.length}`;
  }
}

function listStatement(owner: string, query: ListQuery, limit: number): Statement {
  const values = new Values();
  const of = values.add(owner);
  const conditions = [`c.owner = ${of}`, "c.archive_of IS NULL", "c.status <> 'removed'"];
  if (query.status !== undefined) conditions.push(statusIn(query.status));
  if (query.parent !== undefined) conditions.push(isForkOf(of, values.add(storedText(query.parent))));
  else conditions.push("c.temporary IS NULL");
  if (query.q !== undefined) conditions.push(matches(values.add(storedText(query.q))));
  if (query.withoutOrigin !== undefined) {
    conditions.push(
      `(c.metadata #>> '{parley,origin}') IS DISTINCT FROM ${values.add(query.withoutOrigin)}::text`,
    );
  }
  if (query.model !== undefined) {
    const [wanted, usual] = [query.model, query.defaultModel ?? null].map((name) =>
      values.add(name === null ? null : storedText(name)),
    );
    conditions.push(`coalesce(c.model, c.last_model, ${usual}::text) = ${wanted}::text`);
  }
  const most = `LIMIT ${values.add(limit)}::int4`;
  const isAmongPinned = query.pinnedFirst === true && query.before?.startsWith(pinnedMark) !== false;
  const place = isAmongPinned ? query.before?.slice(pinnedMark.length) : query.before;
  const after = place === undefined ? [] : [behind(place, values)];
  const page = (columns: string, more: readonly string[]) => `SELECT ${columns} FROM ${recordTables}
    WHERE ${[...conditions, ...more].join(" AND ")} ORDER BY c.last_activity_at DESC, c.id DESC ${most}`;
  if (!isAmongPinned) {
    const others = query.pinnedFirst ? ["c.pinned IS NOT TRUE"] : [];
    return { text: page(recordColumns, [...others, ...after]), values: values.list };
  }
  // Each of the two by its own index. An order over both would read all conversations, or needs an index that every turn
  // would write to.
  const text = `SELECT ${recordColumns} FROM ${recordTables} WHERE c.log = ANY (ARRAY(
    SELECT log FROM (
      (${page("c.log, 0 AS part, c.last_activity_at AS at, c.id", ["c.pinned", ...after])})
      UNION ALL
      (${page("c.log, 1 AS part, c.last_activity_at AS at, c.id", ["c.pinned IS NOT TRUE"])})
    ) AS parts ORDER BY part, at DESC, id DESC ${most}
  )) ORDER BY c.pinned NULLS LAST, c.last_activity_at DESC, c.id DESC`;
  return { text, values: values.list };
}

const statusConditions: Readonly<Record<ConversationStatus, string>> = {
  closed: "c.status = 'closed'",
  active: "(c.status = 'open' AND h.turn_id IS NOT NULL)",
  idle: "(c.status = 'open' AND h.turn_id IS NULL)",
};

function statusIn(statuses: readonly ConversationStatus[]): string {
  return statuses.length === 0
    ? "true"
    : `(${statuses.map((status) => statusConditions[status]).join(" OR ")})`;
}

/**
 * Selects the last conversation that had the id, if none has it now: the forks of a removed conversation still name it.
 * Imported forks name their parent only by its id.
 */
function isForkOf(owner: string, id: string): string {
  const named = `parley.conversation p WHERE p.owner = ${owner} AND p.id = ${id}`;
  return `(c.imported_parent = ${id} OR c.parent = coalesce((SELECT p.log FROM ${named} AND p.status <> 'removed'),
    (SELECT max(p.log) FROM ${named} AND p.status = 'removed')))`;
}

function matches(words: string): string {
  const word = `lower(${words}::text)`;
  return `(starts_with(lower(c.id), ${word}) OR strpos(lower(c.title), ${word}) > 0)`;
}

function behind(place: string, values: Values): string {
  const match = /^(\d+)~(.+)$/.exec(place);
  if (match?.[1] === undefined || match[2] === undefined)
    throw invalidField("before", "not a `nextBefore` of this list");
  const at = `to_timestamp(${values.add(Number(match[1]))}::float8 / 1000)`;
  return `(c.last_activity_at, c.id) < (${at}, ${values.add(match[2])}::text)`;
}
