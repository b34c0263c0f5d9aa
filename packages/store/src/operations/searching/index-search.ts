import { withinSearchedBytes } from "@parley/core/messages";
import type { LogStoreRoot, SearchIndexing } from "@parley/core/ports";
import type { Connection, ResultRow, Statement } from "../../database.js";
import { lexemesOf, searchText, vectorText } from "../../search/search-lexemes.js";
import { ownerIsHere } from "../../shards/guard-owners.js";
import { forOwners, type StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { settledChange } from "../reading/settled-change.js";

/** Messages that the doctor adds in one transaction. */
const messagesAtOnce = 500;

/** Owners that one statement walks over. */
const ownersAtOnce = 500;

/** Progress of an owner's index. */
interface Claim {
  readonly number: number;
  readonly through: number;
  readonly open: readonly number[];
}

/** A conversation with something that may not be in the index yet. */
interface Candidate {
  readonly log: number;
  readonly changedAt: number;
  /** Title for the index; undefined for a log that shows none. */
  readonly title: string | undefined;
  readonly createdMs: number;
  readonly isOpen: boolean;
  /** The last seq that is in the index. */
  readonly indexed: number;
  /** Lexemes of its title in the index. */
  readonly titleLexemes: readonly string[];
  readonly titleMs: number | undefined;
}

interface Entry {
  readonly log: number;
  readonly firstSeq: number;
  readonly createdMs: number;
  readonly lexemes: readonly string[];
}

/**
 * Adds the next messages of an owner to the search index.
 *
 * No write of the log marks that there is something to index: every one except a step of an open turn takes a change
 * number for its conversation (see `settled-change.ts`), so conversations with a number above `through` are those with
 * something new, in order. A conversation that has an open turn when it is passed is kept in the list `open` until its
 * turn is sealed. Rows of a log are only ever added behind the last one: what the index lacks of it is behind its
 * newest entry. A crash leaves all of this as it was before the batch.
 *
 * Alternatives: a table of what is to be done, written with each message, costs every commit a row and its removal; a
 * mark on each conversation costs every seal another index.
 */
export async function indexSearch(
  root: StoreContext,
  request: { owner: string; limit: number },
): Promise<SearchIndexing> {
  const owner = storedText(request.owner);
  const store = forOwners(root, [owner]);
  const limit = Math.max(1, Math.min(Math.ceil(request.limit), 10_000));
  // Read before the claim: what another node has added by then is at most up to here.
  const settled = await settledChange(store.database, owner);
  return store.database.transaction(async (connection) => {
    const claim = await claimOwner(connection, owner);
    if (claim === undefined) return { indexed: 0, more: false };
    const candidates = await candidatesOf(connection, owner, claim, {
      settled,
      limit: store.search.batchLogs,
    });
    const { rows, unfinished } = await rowsOf(store, connection, candidates, limit);
    const done = unfinished === undefined ? candidates : candidates.slice(0, unfinished);
    const entries = [
      ...done.flatMap((candidate) => titleEntry(claim, candidate)),
      ...rows.map((row) => ({ ...row, lexemes: lexemesOf(claim.number, row.text) })).filter(isWorthARow),
    ];
    const through = Math.max(claim.through, ...done.map(({ changedAt }) => changedAt));
    const passed = new Set(done.map(({ log }) => log));
    const open = [
      ...claim.open.filter((log) => !passed.has(log)),
      ...done.filter(({ isOpen }) => isOpen).map(({ log }) => log),
    ].toSorted((left, right) => left - right);
    await connection.batch([
      ...(entries.length === 0 ? [] : [insertEntries(claim, entries)]),
      ...(through === claim.through && isSame(open, claim.open) ? [] : [progress(claim, through, open)]),
    ]);
    const changed = candidates.filter(({ changedAt }) => changedAt > claim.through);
    const more = unfinished !== undefined || changed.length >= store.search.batchLogs;
    return { indexed: entries.length, more };
  });
}

/** Locks the owner's row; returns undefined if another transaction holds it. */
async function claimOwner(connection: Connection, owner: string): Promise<Claim | undefined> {
  const [known = [], claimed = []] = await connection.batch([
    {
      name: "search_owner",
      text: "SELECT 1 AS known FROM parley.search_owner WHERE owner = $1",
      values: [owner],
    },
    { name: "claim_search_owner", text: claimText, values: [owner] },
  ]);
  const rows = known.length > 0 ? claimed : await addOwner(connection, owner);
  const [row] = rows;
  if (row === undefined) return undefined;
  return {
    number: Number(row.number),
    through: Number(row.through),
    open: JSON.parse(String(row.open)) as number[],
  };
}

/** Adds the row of an owner that had none; returns no row if another transaction adds it. */
async function addOwner(connection: Connection, owner: string): Promise<ResultRow[]> {
  const [taken] = await connection.query({
    name: "take_search_owner_number",
    text: "SELECT nextval('parley.search_owner_number')::float8 AS number",
  });
  await connection.query({
    text: "INSERT INTO parley.search_owner (number, owner) VALUES ($2, $1) ON CONFLICT (owner) DO NOTHING",
    values: [owner, Number(taken?.number)],
  });
  return connection.query({ name: "claim_search_owner", text: claimText, values: [owner] });
}

const claimText = `SELECT number, through::float8 AS through, array_to_json(open)::text AS open
FROM parley.search_owner WHERE owner = $1 FOR UPDATE SKIP LOCKED`;

async function candidatesOf(
  connection: Connection,
  owner: string,
  claim: Claim,
  { settled, limit }: { readonly settled: number; readonly limit: number },
): Promise<Candidate[]> {
  const rows = await connection.query({
    name: "search_candidates",
    text: candidatesText,
    values: [owner, claim.through, settled, limit, claim.open],
  });
  return rows.map((row) => ({
    log: Number(row.log),
    changedAt: Number(row.passes),
    title: row.titled === true ? originalText(String(row.title)) : undefined,
    createdMs: Math.round(Number(row.created_ms)),
    isOpen: row.is_open === true,
    indexed: Number(row.indexed ?? 0),
    titleLexemes: row.title_words === null ? [] : (JSON.parse(String(row.title_words)) as string[]),
    titleMs: row.title_ms === null ? undefined : Number(row.title_ms),
  }));
}

/** Selects those with an open turn first: they are passed already, and do not affect the progress of the others. */
const candidatesText = `
WITH changed AS (
  (SELECT c.log, $2::float8::int8 AS passes
  FROM parley.conversation_head h JOIN parley.conversation c ON c.log = h.log
  WHERE h.log = ANY($5::int8[]) AND h.owner = $1 AND c.changed_at <= $2::float8::int8)
  UNION ALL
  (SELECT log, changed_at FROM parley.conversation
  WHERE owner = $1 AND changed_at > $2::float8::int8 AND changed_at <= $3::float8::int8
  ORDER BY changed_at LIMIT $4::int4)
)
SELECT c.log::float8 AS log, p.passes::float8 AS passes, c.title, c.archive_of IS NULL AND c.status <> 'removed' AS titled,
  date_part('epoch', c.created_at) * 1000 AS created_ms, h.turn_id IS NOT NULL AS is_open,
  (SELECT max(e.first_seq) FROM parley.search_entry e WHERE e.log = c.log) AS indexed,
  array_to_json(tsvector_to_array(t.words))::text AS title_words, t.created_ms::float8 AS title_ms
FROM changed p JOIN parley.conversation c ON c.log = p.log
LEFT JOIN parley.conversation_head h ON h.log = c.log
LEFT JOIN parley.search_entry t ON t.log = c.log AND t.first_seq = 0
ORDER BY p.passes, c.log`;

interface UnindexedRow {
  readonly log: number;
  readonly firstSeq: number;
  readonly createdMs: number;
  readonly text: string;
  /** True if no further row of its log was read. */
  readonly isLast: boolean;
}

/** Reads the next rows of the candidates, in order, and the place of the first candidate that may have more. */
async function rowsOf(
  store: StoreContext,
  connection: Connection,
  candidates: readonly Candidate[],
  limit: number,
): Promise<{ rows: readonly UnindexedRow[]; unfinished?: number }> {
  if (candidates.length === 0) return { rows: [] };
  const found = await connection.query({
    name: "search_rows",
    text: rowsText,
    values: [
      candidates.map(({ log }) => log),
      candidates.map(({ indexed }) => indexed),
      limit,
      store.search.batchCharacters,
    ],
  });
  const rows = found.map((row, place) => ({
    log: Number(row.log),
    firstSeq: Number(row.first_seq),
    createdMs: Math.round(Number(row.created_ms)),
    text: withinSearchedBytes(originalText(String(row.text))),
    isLast: found[place + 1]?.log !== row.log,
  }));
  const last = found.at(-1);
  const isCut = last !== undefined && (Number(last.read) >= limit || Number(last.read) > found.length);
  return isCut ? { rows, unfinished: Number(last.place) - 1 } : { rows };
}

/** The text of a row is built after it is chosen; the first is taken however long it is. */
const rowsText = `
SELECT * FROM (
  SELECT r.*, count(*) OVER ()::int4 AS read,
    coalesce(sum(length(r.text)) OVER (ORDER BY r.place, r.first_seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
      AS before
  FROM (
    SELECT m.log::float8 AS log, w.place::int4 AS place, m.first_seq, date_part('epoch', m.created_at) * 1000 AS created_ms,
      ${searchText} AS text
    FROM (
      SELECT w.place, m.log, m.first_seq
      FROM unnest($1::int8[], $2::int4[]) WITH ORDINALITY AS w(log, indexed, place)
      CROSS JOIN LATERAL (
        SELECT log, first_seq FROM parley.conversation_message
        WHERE log = w.log AND first_seq > w.indexed ORDER BY first_seq LIMIT $3::int4
      ) AS m
      ORDER BY w.place, m.first_seq LIMIT $3::int4
    ) AS w
    JOIN parley.conversation_message m ON m.log = w.log AND m.first_seq = w.first_seq
  ) AS r
) AS r
WHERE before < $4::int4 ORDER BY place, first_seq`;

function isWorthARow({ lexemes, isLast }: Entry & { readonly isLast: boolean }): boolean {
  return lexemes.length > 0 || isLast;
}

/** Returns the entry of a title that is new, or differs from the one in the index. */
function titleEntry(claim: Claim, candidate: Candidate): Entry[] {
  const { log, title, createdMs, titleLexemes, titleMs } = candidate;
  if (title === undefined) return [];
  const lexemes = lexemesOf(claim.number, title);
  const known = new Set(titleLexemes);
  const isKnown = lexemes.length === known.size && lexemes.every((each) => known.has(each));
  if (isKnown && (titleMs === undefined || titleMs === createdMs)) return [];
  return [{ log, firstSeq: 0, createdMs, lexemes }];
}

function insertEntries(claim: Claim, entries: readonly Entry[]): Statement {
  return {
    name: "insert_search_entries",
    text: `
INSERT INTO parley.search_entry (created_ms, owner, log, first_seq, words)
SELECT g.created_ms::int8, $1::int4, g.log, g.first_seq, g.words::tsvector
FROM unnest($2::float8[], $3::int8[], $4::int4[], $5::text[]) AS g(created_ms, log, first_seq, words)
ON CONFLICT (log, first_seq) DO UPDATE SET words = excluded.words, created_ms = excluded.created_ms`,
    values: [
      claim.number,
      entries.map(({ createdMs }) => createdMs),
      entries.map(({ log }) => log),
      entries.map(({ firstSeq }) => firstSeq),
      entries.map(({ lexemes }) => vectorText(lexemes)),
    ],
  };
}

function progress(claim: Claim, through: number, open: readonly number[]): Statement {
  return {
    name: "search_progress",
    text: "UPDATE parley.search_owner SET through = $2::float8::int8, open = $3::int8[] WHERE number = $1",
    values: [claim.number, through, open],
  };
}

function isSame(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((each, place) => each === right[place]);
}

/** Walks over owners from one to the next by the index of changes: one lookup for each, however much they have. */
export async function unindexedOwners(
  store: StoreContext,
  query: { after?: string },
): ReturnType<LogStoreRoot["unindexedOwners"]> {
  const rows = await unindexed(store, query.after);
  const last = rows.at(-1);
  return {
    owners: rows.filter(isBehind).map(({ owner }) => originalText(String(owner))),
    ...(rows.length < ownersAtOnce || last === undefined ? {} : { next: originalText(String(last.owner)) }),
  };
}

/** Counts what is missing in the search index, for all owners. */
export async function unindexedConversations(
  store: StoreContext,
): Promise<{ conversations: number; owners: number }> {
  const lag = { conversations: 0, owners: 0 };
  for (let after: string | undefined, more = true; more; ) {
    const { owners, next } = await unindexedOwners(store, after === undefined ? {} : { after });
    const [row] = await store.database.query({
      text: `SELECT count(*)::int4 AS conversations FROM unnest($1::text[]) AS w(owner)
        JOIN parley.conversation c ON c.owner = w.owner
          AND c.changed_at > coalesce((SELECT through FROM parley.search_owner s WHERE s.owner = w.owner), 0)`,
      values: [owners.map(storedText)],
    });
    lag.owners += owners.length;
    lag.conversations += Number(row?.conversations);
    after = next;
    more = next !== undefined;
  }
  return lag;
}

/** Adds everything that is missing in the search index, and returns the number of messages and titles. */
export async function indexAll(store: StoreContext): Promise<number> {
  let total = 0;
  for (let after: string | undefined, more = true; more; ) {
    const { owners, next } = await unindexedOwners(store, after === undefined ? {} : { after });
    for (const owner of owners) {
      for (let rest = true; rest; ) {
        const batch = await indexSearch(store, { owner, limit: messagesAtOnce });
        total += batch.indexed;
        rest = batch.more;
      }
    }
    after = next;
    more = next !== undefined;
  }
  return total;
}

function isBehind(row: ResultRow): boolean {
  return row.is_here !== false && Number(row.changed_at) > Number(row.through);
}

function unindexed(store: StoreContext, after: string | undefined): Promise<ResultRow[]> {
  return store.database.query({
    name: after === undefined ? "unindexed_owners" : "unindexed_owners_after",
    text: `
WITH RECURSIVE walk AS (
  SELECT (SELECT owner FROM parley.conversation ${after === undefined ? "" : "WHERE owner > $2"} ORDER BY owner LIMIT 1) AS owner, 1 AS place
  UNION ALL
  SELECT (SELECT c.owner FROM parley.conversation c WHERE c.owner > walk.owner ORDER BY c.owner LIMIT 1), walk.place + 1
  FROM walk WHERE walk.owner IS NOT NULL AND walk.place < $1::int4
)
SELECT walk.owner, coalesce(s.through, 0)::float8 AS through,
  (SELECT max(c.changed_at) FROM parley.conversation c WHERE c.owner = walk.owner)::float8 AS changed_at,
  ${store.isShard ? ownerIsHere("walk.owner") : "true"} AS is_here
FROM walk LEFT JOIN parley.search_owner s ON s.owner = walk.owner
WHERE walk.owner IS NOT NULL ORDER BY walk.owner`,
    values: after === undefined ? [ownersAtOnce] : [ownersAtOnce, storedText(after)],
  });
}
