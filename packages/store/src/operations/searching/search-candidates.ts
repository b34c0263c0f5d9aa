import type { ResultRow, Statement } from "../../database.js";
import { lineage } from "../reading/lineage.js";

/** A message, or with the seq 0 a title, that has all terms, wherever it is shown. */
export interface Candidate {
  readonly log: number;
  readonly firstSeq: number;
  readonly createdMs: number;
}

/** Result of reading some entries in their order. */
export interface Page {
  readonly hits: readonly Candidate[];
  /** The last entry that was read; undefined if it was the last of all. */
  readonly next: Candidate | undefined;
}

export const newest: Candidate = {
  log: Number.MAX_SAFE_INTEGER,
  firstSeq: 2_147_483_647,
  createdMs: Number.MAX_SAFE_INTEGER,
};

/** Reads entries of an owner from the newest on, and their match with the query: in order, whatever their number. */
export function newestStatement(owner: number, query: string, before: Candidate, limit: number): Statement {
  return {
    name: "search_newest",
    text: `${pageOf(`
  SELECT e.log, e.first_seq, e.created_ms, e.words @@ $2::tsquery AS found FROM parley.search_entry e
  WHERE e.owner = $1 AND (e.created_ms, e.first_seq, e.log) < ($3::float8::int8, $4::int4, $5::int8)
  ORDER BY e.created_ms DESC, e.first_seq DESC, e.log DESC LIMIT $6::int4`)}`,
    values: [owner, query, before.createdMs, before.firstSeq, before.log, limit],
  };
}

/** Reads entries of what one conversation shows, from the last seq on. */
export function newestWithinStatement(
  { conversationId, owner }: { readonly conversationId: string; readonly owner: string },
  query: string,
  before: Candidate,
  limit: number,
): Statement {
  return {
    name: "search_newest_within",
    text: `${pageOf(
      `
  SELECT r.log, r.first_seq, r.created_ms, r.words @@ $3::tsquery AS found FROM lineage l
  CROSS JOIN LATERAL (
    SELECT * FROM parley.search_entry e
    WHERE e.log = l.log AND e.first_seq > 0 AND e.first_seq <= l.through AND e.first_seq < $4::int4
    ORDER BY e.first_seq DESC LIMIT $5::int4
  ) AS r
  ORDER BY r.first_seq DESC LIMIT $5::int4`,
      lineage(),
    )}`,
    values: [conversationId, owner, query, before.firstSeq, limit],
  };
}

/** Selects the hits among the entries, and always the last entry: the next page continues from it. */
function pageOf(entries: string, before = ""): string {
  return `${before === "" ? "WITH" : `${before},`} page AS MATERIALIZED (${entries}
)
SELECT log::float8 AS log, first_seq, created_ms::float8 AS created_ms, found, place = size AS is_last, size
FROM (SELECT page.*, row_number() OVER ()::int4 AS place, count(*) OVER ()::int4 AS size FROM page) AS page
WHERE found OR place = size`;
}

export function readPage(rows: readonly ResultRow[], limit: number): Page {
  const last = rows.find((row) => row.is_last === true);
  return {
    hits: rows.filter((row) => row.found === true).map(candidateOf),
    next: last === undefined || Number(last.size) < limit ? undefined : candidateOf(last),
  };
}

/**
 * Finds the entries of an owner by the index of terms, in no order. Not prepared: a plan that is made without knowing
 * the terms cannot estimate how many there are. The settings before it leave only bitmap scans to the planner, which
 * underestimates the cost of testing every entry.
 */
export function byTermsStatements(query: string, limit: number): Statement[] {
  return [
    {
      text: `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
  set_config('enable_indexonlyscan', 'off', true), set_config('work_mem', '32MB', true)`,
    },
    {
      text: `SELECT log::float8 AS log, first_seq, created_ms::float8 AS created_ms FROM parley.search_entry
        WHERE words @@ $1::tsquery LIMIT $2::int4`,
      values: [query, limit],
    },
  ];
}

export function candidateOf(row: ResultRow): Candidate {
  return {
    log: Number(row.log),
    firstSeq: Number(row.first_seq),
    createdMs: Number(row.created_ms),
  };
}
