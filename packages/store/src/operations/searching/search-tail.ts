import { findTerms, type WantedTerm, withinSearchedBytes } from "@parley/core/messages";
import type { ResultRow, Statement } from "../../database.js";
import { searchText } from "../../search/search-lexemes.js";
import type { StoreContext } from "../../store-context.js";
import { originalText } from "../../stored-text.js";
import type { Candidate } from "./search-candidates.js";

/** Hits among what an owner has that is not in the index. */
export interface TailHits {
  readonly hits: Candidate[];
  /** Logs whose titles were read here: the index may have old ones. */
  readonly titled: ReadonlySet<number>;
  /** True if there was more than is searched. */
  readonly isCut: boolean;
}

/**
 * Searches what was written since the index was last added to, and open turns: usually nothing, or the turns of the
 * last second. The statements come before those that read the index. What is added to it in between is then found twice
 * instead of never.
 */
export function tailStatements(store: StoreContext, owner: string): Statement[] {
  const { tailLogs, tailRows, tailCharacters } = store.search;
  return [
    { name: "search_tail_logs", text: logsText, values: [owner, tailLogs + 1] },
    { name: "search_tail_rows", text: rowsText, values: [owner, tailLogs, tailRows + 1, tailCharacters] },
  ];
}

/** Selects the logs that may have something that the index lacks: the last changed first. */
function tailLogs(limit: string): string {
  return `
tail_owner AS MATERIALIZED (SELECT through, open FROM parley.search_owner WHERE owner = $1), tail AS MATERIALIZED (
  SELECT c.log, c.title, c.created_at, c.changed_at, c.archive_of IS NULL AND c.status <> 'removed' AS titled
  FROM parley.conversation c
  WHERE c.owner = $1 AND c.changed_at > coalesce((SELECT through FROM tail_owner), 0)
  ORDER BY c.changed_at DESC LIMIT ${limit}::int4
), tail_logs AS (
  SELECT * FROM tail
  UNION
  SELECT c.log, c.title, c.created_at, c.changed_at, c.archive_of IS NULL AND c.status <> 'removed'
  FROM unnest((SELECT open FROM tail_owner)) AS o(log)
  JOIN parley.conversation_head h ON h.log = o.log AND h.owner = $1 JOIN parley.conversation c ON c.log = h.log
)`;
}

const logsText = `WITH ${tailLogs("$2")}
SELECT log::float8 AS log, title, titled, date_part('epoch', created_at) * 1000 AS created_ms,
  changed_at > coalesce((SELECT through FROM tail_owner), 0) AS changed FROM tail_logs`;

const rowsText = `
WITH ${tailLogs("$2")}
SELECT log::float8 AS log, first_seq, created_ms, read, text FROM (
  SELECT r.*, count(*) OVER ()::int4 AS read, sum(length(r.text)) OVER (ORDER BY r.changed_at DESC, r.log, r.first_seq DESC
    ROWS UNBOUNDED PRECEDING) AS characters
  FROM (
    SELECT t.changed_at, m.log, m.first_seq, date_part('epoch', m.created_at) * 1000 AS created_ms, ${searchText} AS text
    FROM (
      SELECT l.changed_at, m.log, m.first_seq
      FROM tail_logs l
      CROSS JOIN LATERAL (
        SELECT m.log, m.first_seq FROM parley.conversation_message m
        WHERE m.log = l.log AND m.first_seq > coalesce((SELECT max(e.first_seq) FROM parley.search_entry e WHERE e.log = l.log), 0)
        ORDER BY m.first_seq DESC LIMIT $3::int4
      ) AS m
      ORDER BY l.changed_at DESC, m.log, m.first_seq DESC LIMIT $3::int4
    ) AS t
    JOIN parley.conversation_message m ON m.log = t.log AND m.first_seq = t.first_seq
  ) AS r
) AS r
WHERE characters <= $4::int4`;

export function tailHits(
  store: StoreContext,
  [logs = [], rows = []]: readonly ResultRow[][],
  wanted: readonly WantedTerm[],
): TailHits {
  const { tailLogs, tailRows } = store.search;
  const hits: Candidate[] = [];
  const titled = new Set<number>();
  for (const { log, title, titled: isTitled, created_ms } of logs) {
    titled.add(Number(log));
    if (isTitled !== true || findTerms(originalText(String(title)), wanted) === undefined) continue;
    hits.push({ log: Number(log), firstSeq: 0, createdMs: Math.round(Number(created_ms)) });
  }
  for (const { log, first_seq, created_ms, text } of rows) {
    if (findTerms(withinSearchedBytes(originalText(String(text))), wanted) === undefined) continue;
    hits.push({
      log: Number(log),
      firstSeq: Number(first_seq),
      createdMs: Math.round(Number(created_ms)),
    });
  }
  const changed = logs.filter((log) => log.changed === true).length;
  const read = Number(rows[0]?.read ?? 0);
  return { hits, titled, isCut: changed > tailLogs || read > tailRows || read > rows.length };
}
