import { snippetAround, textOf } from "@parley/core/messages";
import type { LogStore, SearchHit } from "@parley/core/ports";
import type { ResultRow } from "../../database.js";
import { messageColumns, messagesOf, readMessage } from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { lineage } from "./lineage.js";

const found = "message_words(m.content) @@ plainto_tsquery('pg_catalog.simple', plain_words($3))";

/** Words that more messages hold, of all owners together, are not looked for by their index. */
const mostHits = 50_000;

/**
 * How far words that common are looked for: in how many conversations, at how many messages of each and in all, and how
 * many hits are enough to choose the newest from.
 */
const looks = { conversations: 1_000, each: 500, all: 10_000, hits: 2_000 };

/**
 * Messages that hold all words of the query, newest first. Words that up to 50,000 messages hold are found by their
 * index, wherever they stand. More common ones are looked for among the newest messages alone: in the log that was
 * named, or in the owner's conversations from the last active one on.
 *
 * What a living conversation shows is found there: the messages of a removed one in the nearest fork that shows them,
 * those of an archive in its origin.
 */
export async function search(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["search"]>[0],
): Promise<SearchHit[]> {
  const { conversationId, q } = query;
  const limit = Math.min(Math.ceil(query.limit), 10_000);
  if (!(limit > 0)) return [];
  const within = conversationId === undefined ? undefined : storedText(conversationId);
  const rows = await searchRows(store, owner, { q: storedText(q), limit, within });
  const words = Array.from(q.matchAll(/[\p{L}\p{N}]+/gu), ([word]) => word.toLowerCase());
  return rows.map((row) => {
    const id = conversationId ?? String(row.home);
    const text = messagesOf(readMessage(row), id).map(textOf).join(" ");
    return {
      conversationId: id,
      title: originalText(String(row.title)),
      seq: Number(row.first_seq),
      role: row.role as SearchHit["role"],
      snippet: snippetOf(text, words),
      createdAt: Math.round(Number(row.created_ms)),
    };
  });
}

/** Not prepared: a plan that is made without knowing the words cannot know how many messages hold them. */
async function searchRows(
  store: StoreContext,
  owner: string,
  { q, limit, within }: { q: string; limit: number; within: string | undefined },
): Promise<ResultRow[]> {
  const values = within === undefined ? [limit, owner, q] : [within, owner, q, limit];
  const [, rows = []] = await store.database.batch([
    { text: byIndexAlone },
    { text: within === undefined ? byIndexText : byIndexWithinText, values },
  ]);
  if (Number(rows[0]?.hits) <= mostHits) return rows.filter(({ id }) => id !== null);
  const all = Math.max(looks.all, limit * 2);
  return store.database.query(
    within === undefined
      ? {
          text: newestText,
          values: [...values, Math.max(looks.each, limit), all, Math.max(looks.hits, limit * 2)],
        }
      : { text: newestWithinText, values: [...values, all] },
  );
}

/**
 * For the statement behind it: the planner thinks little of what the words of a message cost, and would rather compute
 * those of every message than look into the index. What is left to it are bitmaps, large enough to be exact.
 */
const byIndexAlone = `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
  set_config('enable_indexonlyscan', 'off', true), set_config('jit', 'off', true), set_config('work_mem', '32MB', true)`;

const hits = `hits AS MATERIALIZED (
  SELECT m.log, m.first_seq, m.created_at, m.thread_id FROM conversation_message m WHERE ${found} LIMIT ${mostHits + 1}
)`;

/**
 * Where rows are shown: those of `log` above `above` and up to `through` in the conversation `id`. A living log shows
 * its own. One without a name is shown by its heirs, which continue it, each as far as it goes and no nearer one does.
 */
function homes(living: string): string {
  return `homes AS (
  SELECT log, id, title, last_activity_at, 0 AS above, 2147483647 AS through FROM ${living}
  UNION ALL
  SELECT log, id, title, last_activity_at, above, through
  FROM (
    SELECT *, coalesce(max(through) OVER (
      PARTITION BY log ORDER BY distance, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS above
    FROM heirs WHERE living
  ) AS stairs
  WHERE above < through
)`;
}

/** Of the logs that have hits. */
const homesOfHits = `logs AS MATERIALIZED (
  SELECT c.* FROM (SELECT DISTINCT thread_id FROM hits) AS h JOIN conversation c ON c.id = h.thread_id
  WHERE c.owner = $2 AND c.archive_of IS NULL
), heirs AS (
  SELECT r.log, f.id, f.title, f.last_activity_at, f.status <> 'removed' AS living, f.parent_seq AS through, 1 AS distance
  FROM logs r JOIN conversation f ON f.parent_id = r.id
  WHERE r.status = 'removed'
  UNION ALL
  SELECT h.log, f.id, f.title, f.last_activity_at, f.status <> 'removed', least(h.through, f.parent_seq), h.distance + 1
  FROM heirs h JOIN conversation f ON f.parent_id = h.id
  WHERE NOT h.living
), ${homes("logs WHERE status <> 'removed'")}`;

/** Of the conversations that were active last, and of what they continue: one look at a key for each. */
const newestHomes = `recent AS MATERIALIZED (
  SELECT * FROM conversation WHERE owner = $2 AND archive_of IS NULL AND status <> 'removed'
  ORDER BY last_activity_at DESC LIMIT ${looks.conversations}
), heirs AS (
  SELECT r.log, r.parent_id, r.parent_seq, f.id, f.title, f.last_activity_at, true AS living, f.parent_seq AS through,
    1 AS distance
  FROM recent f CROSS JOIN LATERAL (SELECT * FROM conversation p WHERE p.id = f.parent_id OFFSET 0) AS r
  WHERE r.status = 'removed'
  UNION ALL
  SELECT r.log, r.parent_id, r.parent_seq, h.id, h.title, h.last_activity_at, true, least(h.through, h.parent_seq),
    h.distance + 1
  FROM heirs h CROSS JOIN LATERAL (SELECT * FROM conversation p WHERE p.id = h.parent_id OFFSET 0) AS r
  WHERE r.status = 'removed'
), ${homes("recent")}`;

/** One row at least, which says how many messages hold the words. */
function countedHits(places: string): string {
  return `
SELECT counted.hits, shown.*
FROM (SELECT count(*)::int4 AS hits FROM hits) AS counted
LEFT JOIN LATERAL (
  SELECT p.home, p.title, ${messageColumns}
  FROM (${places}) AS p
  JOIN conversation_message m ON m.log = p.log AND m.first_seq = p.first_seq
  WHERE counted.hits <= ${mostHits}
  ORDER BY p.place
) AS shown ON true`;
}

const byIndexText = `WITH RECURSIVE ${hits}, ${homesOfHits}
${countedHits(`
  SELECT h.log, h.first_seq, o.id AS home, o.title,
    row_number() OVER (ORDER BY h.created_at DESC, h.first_seq DESC) AS place
  FROM hits h JOIN homes o ON o.log = h.log AND h.first_seq > o.above AND h.first_seq <= o.through
  ORDER BY h.created_at DESC, h.first_seq DESC LIMIT $1::int4`)}`;

const byIndexWithinText = `${lineage()}, ${hits}
${countedHits(`
  SELECT h.log, h.first_seq, c.id AS home, c.title, row_number() OVER (ORDER BY h.first_seq DESC) AS place
  FROM hits h JOIN lineage l ON l.log = h.log AND h.first_seq <= l.through JOIN conversation c ON c.id = $1
  ORDER BY h.first_seq DESC LIMIT $4::int4`)}`;

const newestText = `WITH RECURSIVE ${newestHomes}
SELECT m.home, m.title, ${messageColumns}
FROM (
  SELECT * FROM (
    SELECT o.id AS home, o.title, r.*
    FROM (SELECT * FROM homes ORDER BY last_activity_at DESC, id DESC OFFSET 0) AS o
    CROSS JOIN LATERAL (
      SELECT * FROM conversation_message r
      WHERE r.log = o.log AND r.first_seq > o.above AND r.first_seq <= o.through
      ORDER BY r.first_seq DESC LIMIT $4::int4
    ) AS r
    LIMIT $5::int4
  ) AS m
  WHERE ${found} LIMIT $6::int4
) AS m
ORDER BY m.created_at DESC, m.first_seq DESC LIMIT $1::int4`;

const newestWithinText = `${lineage()}
SELECT c.id AS home, c.title, ${messageColumns}
FROM (
  SELECT r.* FROM lineage l
  CROSS JOIN LATERAL (
    SELECT * FROM conversation_message r WHERE r.log = l.log AND r.first_seq <= l.through
    ORDER BY r.first_seq DESC LIMIT $5::int4
  ) AS r
  LIMIT $5::int4
) AS m
JOIN conversation c ON c.id = $1
WHERE ${found}
LIMIT $4::int4`;

/** The text around the first word that is found in it. */
function snippetOf(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  let first = Number.POSITIVE_INFINITY;
  for (const word of words) {
    const place = wordAt(lower, word);
    if (place >= 0) first = Math.min(first, place);
  }
  return snippetAround(text, Number.isFinite(first) ? first : 0);
}

function wordAt(text: string, word: string): number {
  let place = text.indexOf(word);
  while (place > 0 && /[\p{L}\p{N}]/u.test(text.charAt(place - 1))) place = text.indexOf(word, place + 1);
  return place;
}
