import type { Finding } from "@parley/wire";
import type { Database, ResultRow } from "../database.js";
import { messageColumns, messagesOf, readMessage } from "../message-row.js";
import type { StoreContext } from "../store-context.js";

const rowsAtOnce = 1_000;
/** Conversations that a finding names at most. */
const mostNamed = 5;

/** The logs with a problem, by number. */
interface Problems {
  readonly gaps: Set<number>;
  readonly counts: Set<number>;
  readonly unanswered: Set<number>;
}

/** A log while it is read from its first row to its last. */
interface Walk {
  readonly log: number;
  lastSeq: number;
  /** Seq that the head has, as of the newest row that was read; undefined for a log without a name. */
  headSeq: number | undefined;
  /** Calls that no result has answered, with the ordinal of their turn. */
  readonly open: Map<string, number>;
}

/**
 * Reads all logs in the order of their key, a thousand rows at a time, of which only places and calls are returned.
 * Rows are never changed and only added behind the last one, so a slow walk sees every log as it was at some moment. A
 * log that is removed meanwhile may look cut; logs that no longer exist at the end are no finding.
 */
export async function examineLog(store: StoreContext): Promise<Finding[]> {
  const { database } = store;
  const problems: Problems = { gaps: new Set(), counts: new Set(), unanswered: new Set() };
  let walk: Walk | undefined;
  let place = { log: -1, seq: -1 };
  let logs = 0;
  let rows = 0;
  for (;;) {
    const page = await database.query({
      name: "examine_log",
      text: pageText,
      values: [place.log, place.seq, rowsAtOnce],
    });
    for (const row of page) {
      const log = Number(row.log);
      if (walk?.log !== log) {
        await leave(database, walk, problems);
        walk = { log, lastSeq: Number(row.floor), headSeq: undefined, open: new Map() };
        logs += 1;
      }
      await step(database, walk, row, problems);
    }
    rows += page.length;
    const last = page.at(-1);
    if (last === undefined || page.length < rowsAtOnce) break;
    place = { log: Number(last.log), seq: Number(last.first_seq) };
  }
  await leave(database, walk, problems);
  for (const log of await emptyLogs(database)) problems.gaps.add(log);
  const gaps = await living(database, problems.gaps);
  const counts = await living(database, problems.counts);
  const unanswered = await living(database, problems.unanswered);
  return findingsOf({ logs, rows, gaps, counts, unanswered });
}

const pageText = `
SELECT m.log::float8 AS log, m.first_seq, m.part_count, m.turn, coalesce(c.parent_seq, 0) AS floor, h.next_seq,
  jsonb_typeof(m.content->'parts') = 'array' AND jsonb_array_length(m.content->'parts') = m.part_count AS counted,
  CASE WHEN m.turn IS NULL OR jsonb_typeof(m.content->'parts') <> 'array' THEN NULL ELSE (
    SELECT json_agg(json_build_array(p.part->>'state', p.part->>'toolCallId'))::text
    FROM jsonb_array_elements(m.content->'parts') AS p(part) WHERE p.part->>'type' = 'tool-invocation') END AS tools
FROM (
  SELECT * FROM parley.conversation_message WHERE (log, first_seq) > ($1::int8, $2::int4)
  ORDER BY log, first_seq LIMIT $3::int4
) AS m
LEFT JOIN parley.conversation c ON c.log = m.log
LEFT JOIN parley.conversation_head h ON h.log = m.log
ORDER BY m.log, m.first_seq`;

async function step(database: Database, walk: Walk, row: ResultRow, problems: Problems): Promise<void> {
  const firstSeq = Number(row.first_seq);
  if (firstSeq !== walk.lastSeq + 1) problems.gaps.add(walk.log);
  if (row.counted !== true && !(await isCounted(database, walk, firstSeq))) problems.counts.add(walk.log);
  walk.lastSeq = firstSeq + Number(row.part_count) - 1;
  walk.headSeq = row.next_seq === null ? undefined : Number(row.next_seq) - 1;
  if (typeof row.tools !== "string") return;
  for (const [state, toolCallId] of JSON.parse(row.tools) as [string, string][]) {
    const turn = Number(row.turn);
    if (state === "call") walk.open.set(`${turn} ${toolCallId}`, turn);
    else walk.open.delete(`${turn} ${toolCallId}`);
  }
}

/** Messages of other writers may represent more parts than they have: those are read as a reader would. */
async function isCounted(database: Database, { log }: Walk, firstSeq: number): Promise<boolean> {
  const [row] = await database.query({
    text: `SELECT ${messageColumns} FROM parley.conversation_message m WHERE m.log = $1 AND m.first_seq = $2`,
    values: [log, firstSeq],
  });
  if (row === undefined) return true;
  const messages = messagesOf(readMessage(row), "");
  return messages.reduce((sum, { content }) => sum + content.length, 0) === Number(row.part_count);
}

async function leave(database: Database, walk: Walk | undefined, problems: Problems): Promise<void> {
  if (walk === undefined) return;
  if (walk.headSeq !== undefined && walk.headSeq !== walk.lastSeq) problems.gaps.add(walk.log);
  if (walk.open.size === 0) return;
  const sealed = await database.query({
    text: `SELECT 1 AS sealed FROM unnest($2::int4[]) AS wanted(turn)
      JOIN parley.conversation_turn t ON t.log = $1 AND t.ordinal = wanted.turn AND t.status = 'sealed' LIMIT 1`,
    values: [walk.log, [...new Set(walk.open.values())]],
  });
  if (sealed.length > 0) problems.unanswered.add(walk.log);
}

/** Finds conversations whose head counts seqs that have no rows. */
async function emptyLogs(database: Database): Promise<number[]> {
  const rows = await database.query({
    text: `SELECT h.log::float8 AS log FROM parley.conversation_head h JOIN parley.conversation c ON c.log = h.log
      WHERE h.next_seq - 1 > coalesce(c.parent_seq, 0)
        AND NOT EXISTS (SELECT FROM parley.conversation_message m WHERE m.log = h.log) LIMIT 1000`,
  });
  return rows.map((row) => Number(row.log));
}

/** Returns the ids of those logs that still exist. */
async function living(database: Database, logs: ReadonlySet<number>): Promise<string[]> {
  if (logs.size === 0) return [];
  const rows = await database.query({
    text: "SELECT id FROM parley.conversation WHERE log = ANY($1::int8[]) ORDER BY id, log",
    values: [[...logs]],
  });
  return rows.map((row) => String(row.id));
}

function findingsOf(found: {
  readonly logs: number;
  readonly rows: number;
  readonly gaps: readonly string[];
  readonly counts: readonly string[];
  readonly unanswered: readonly string[];
}): Finding[] {
  const { gaps, counts, unanswered } = found;
  const findings: Finding[] = [];
  const damaged = "Restore these conversations from a backup or an export; the rest is not affected";
  if (gaps.length > 0) {
    const message = `Seqs are missing in ${named(gaps)}`;
    findings.push({ area: "log", level: "error", message, advice: damaged });
  }
  if (counts.length > 0) {
    const message = `Messages have another number of parts than their seqs say in ${named(counts)}`;
    findings.push({ area: "log", level: "error", message, advice: damaged });
  }
  if (unanswered.length > 0) {
    findings.push({
      area: "log",
      level: "warning",
      message: `Tool calls of sealed turns have no result in ${named(unanswered)}`,
      advice: "Nothing has to be done: models are shown a result that says it is missing",
    });
  }
  if (findings.length > 0) return findings;
  const message = `${found.rows} messages in ${found.logs} conversations, without a gap`;
  return [{ area: "log", level: "ok", message }];
}

function named(ids: readonly string[]): string {
  const more = ids.length > mostNamed ? ` and ${ids.length - mostNamed} more` : "";
  return `${ids.length === 1 ? "the conversation" : "the conversations"} ${ids.slice(0, mostNamed).join(", ")}${more}`;
}
