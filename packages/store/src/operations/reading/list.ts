import { invalidField } from "@parley/core/errors";
import type { ConversationRecord, LogStore } from "@parley/core/ports";
import type { ConversationStatus } from "@parley/wire";
import { and, eq, isNotNull, isNull, ne, or, type SQL, sql } from "drizzle-orm";
import { alias, PgDialect } from "drizzle-orm/pg-core";
import type { Statement, StatementValue } from "../../database.js";
import { conversation, conversationHead } from "../../schema.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { recordColumns, recordOf, recordTables } from "./record.js";

type ListQuery = Parameters<LogStore["list"]>[0];

const dialect = new PgDialect();
const c = alias(conversation, "c");
const h = alias(conversationHead, "h");

/**
 * Newest activity first, by the index that has this order. Its conditions vary from call to call, so it is put
 * together by Drizzle; the text and the values are all that is taken from it.
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
    ...(last === undefined || rows.length <= limit
      ? {}
      : { next: `${Math.round(Number(last.place_ms))}~${last.id}` }),
  };
}

function listStatement(owner: string, query: ListQuery, limit: number): Statement {
  const conditions = and(
    eq(c.owner, owner),
    isNull(c.archiveOf),
    ne(c.status, "removed"),
    query.status === undefined ? undefined : or(...query.status.map(statusIs)),
    query.parent === undefined ? undefined : isForkOf(owner, storedText(query.parent)),
    query.q === undefined ? undefined : matches(query.q),
    query.before === undefined ? undefined : behind(query.before),
  );
  const built = dialect.sqlToQuery(
    sql`SELECT ${sql.raw(recordColumns)} FROM ${sql.raw(recordTables)} WHERE ${conditions}
      ORDER BY ${c.lastActivityAt} DESC, ${c.id} DESC LIMIT ${limit}::int4`,
  );
  return { text: built.sql, values: built.params as StatementValue[] };
}

function statusIs(status: ConversationStatus): SQL | undefined {
  if (status === "closed") return eq(c.status, "closed");
  return and(eq(c.status, "open"), status === "active" ? isNotNull(h.turnId) : isNull(h.turnId));
}

/** The last one that had the id, where none has it now: the forks of a removed conversation still name it. */
function isForkOf(owner: string, id: string): SQL {
  const named = sql`parley.conversation p WHERE p.owner = ${owner} AND p.id = ${id}`;
  return sql`${c.parent} = coalesce((SELECT p.log FROM ${named} AND p.status <> 'removed'),
    (SELECT max(p.log) FROM ${named} AND p.status = 'removed'))`;
}

function matches(words: string): SQL {
  const word = sql`lower(${storedText(words)}::text)`;
  return sql`(starts_with(lower(${c.id}), ${word}) OR strpos(lower(${c.title}), ${word}) > 0)`;
}

function behind(place: string): SQL {
  const match = /^(\d+)~(.+)$/.exec(place);
  if (match?.[1] === undefined || match[2] === undefined)
    throw invalidField("before", "not a `nextBefore` of this list");
  return sql`(${c.lastActivityAt}, ${c.id}) < (to_timestamp(${Number(match[1])}::float8 / 1000), ${match[2]}::text)`;
}
