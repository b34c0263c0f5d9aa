import type { Finding } from "@parley/wire";
import { checkSchema } from "../migration/check-schema.js";
import type { StoreContext } from "../store-context.js";
import { examineLog } from "./examine-log.js";
import { fileFinding } from "./files/examine-files.js";
import { indexAll, unindexedConversations } from "./searching/index-search.js";

/** A turn that has been open for longer than this is reported, whichever node holds it. */
const longTurnMinutes = 120;
/** Conversations that may be missing in the search index without a warning. */
const mostUnindexed = 100;
/** A delivery that has been due for longer than this is not being made by any node. */
const overdueMinutes = 10;
/** Rows of the journal that one statement removes. */
const journalRowsAtOnce = 10_000;

/**
 * Examines the database for the doctor. Each area is read with statements that an index answers, or that read small
 * tables; only the log is read completely, in pieces.
 */
export async function examine(store: StoreContext, options: { fix: boolean }): Promise<Finding[]> {
  const { schema } = await checkSchema(store.database, store.schema);
  const findings = [await storeFinding(store), schemaFinding(schema)];
  if (schema !== "current") return findings;
  return [
    ...findings,
    await nodeFinding(store),
    ...(await turnFindings(store)),
    await journalFinding(store, options.fix),
    await queueFinding(store),
    await searchFinding(store, options.fix),
    await webhookFinding(store),
    await fileFinding(store, options.fix),
    ...(await examineLog(store)),
  ];
}

async function storeFinding(store: StoreContext): Promise<Finding> {
  const started = performance.now();
  const [row] = await store.database.query({
    text: `SELECT current_setting('server_version') AS version,
      pg_database_size(current_database())::float8 AS bytes`,
  });
  const ms = Math.ceil(performance.now() - started);
  const size = (Number(row?.bytes) / 2 ** 20).toFixed(1);
  const message = `PostgreSQL ${String(row?.version)} answers in ${ms} ms; the database has ${size} MB`;
  const trouble = store.database.trouble?.();
  if (trouble === undefined) return { area: "store", level: "ok", message };
  return { area: "store", level: "warning", message: `${message}; ${trouble}` };
}

function schemaFinding(schema: "current" | "older" | "newer"): Finding {
  switch (schema) {
    case "current":
      return { area: "schema", level: "ok", message: "The schema is this version's" };
    case "older":
      return {
        area: "schema",
        level: "error",
        message: "The schema is older than this version",
        advice: "Bring it up: `migrate`, or a start of this version",
      };
    case "newer":
      return {
        area: "schema",
        level: "error",
        message: "The schema belongs to a newer version",
        advice: "Use that version",
      };
  }
}

/** Open turns and compactions, found by the indexes that hold nothing else, each with the life of its node. */
const openLeases = `
WITH open AS (
  SELECT h.node, t.started_at, h.turn_id IS NOT NULL AS held FROM parley.conversation_turn t
  LEFT JOIN parley.conversation_head h ON h.log = t.log AND h.turn_count = t.ordinal AND h.turn_id IS NOT NULL
  WHERE t.status = 'running'
  UNION ALL
  SELECT h.node, h.started_at, true FROM parley.conversation_head h WHERE h.compaction_id IS NOT NULL
), lease AS (
  SELECT open.*, open.held AND coalesce(n.until <= clock_timestamp(), true) AS orphaned
  FROM open LEFT JOIN parley.node n ON n.id = open.node
)`;

async function nodeFinding(store: StoreContext): Promise<Finding> {
  const [row] = await store.database.query({
    text: `${openLeases}
SELECT (SELECT count(*)::int4 FROM parley.node WHERE until > clock_timestamp()) AS alive,
  (SELECT count(DISTINCT node)::int4 FROM lease WHERE orphaned AND node <> '') AS dead`,
  });
  const alive = Number(row?.alive);
  const dead = Number(row?.dead);
  const gone = dead === 0 ? "" : `; ${dead} nodes have died with turns in their hands`;
  const message = `${alive === 0 ? "No node is alive" : `Nodes alive: ${alive}`}${gone}`;
  if (alive > 0 && dead === 0) return { area: "nodes", level: "ok", message };
  const advice = alive > 0 ? takenOver : "Start one: without it nothing runs and nothing is taken over";
  return { area: "nodes", level: "warning", message, advice };
}

const takenOver = "A node that is alive takes them over within seconds; start one if none is";

async function turnFindings(store: StoreContext): Promise<Finding[]> {
  const [row] = await store.database.query({
    text: `${openLeases}
SELECT count(*)::int4 AS open, count(*) FILTER (WHERE NOT held)::int4 AS lost,
  count(*) FILTER (WHERE orphaned)::int4 AS orphaned,
  count(*) FILTER (WHERE held AND started_at < clock_timestamp() - $1::float8 * interval '1 minute')::int4 AS long,
  (SELECT count(DISTINCT log)::int4 FROM parley.input_request WHERE response IS NULL) AS waiting
FROM lease`,
    values: [longTurnMinutes],
  });
  const open = Number(row?.open);
  const lost = Number(row?.lost);
  const orphaned = Number(row?.orphaned);
  const long = Number(row?.long);
  const findings: Finding[] = [];
  if (lost > 0) {
    findings.push({
      area: "turns",
      level: "error",
      message: `${lost} turns are marked as running in conversations that do not run them`,
      advice: "The database was changed by something else; restore it from a backup",
    });
  }
  if (orphaned > 0) {
    findings.push({
      area: "turns",
      level: "warning",
      message: `${orphaned} of ${open} open turns are held by no living node`,
      advice: takenOver,
    });
  }
  if (long > 0) {
    findings.push({
      area: "turns",
      level: "warning",
      message: `${long} of ${open} turns have been open for more than ${longTurnMinutes} minutes`,
      advice: "Stop those that are no longer needed",
    });
  }
  if (findings.length > 0) return findings;
  return [
    {
      area: "turns",
      level: "ok",
      message: `Running turns: ${open}, all held by living nodes; turns with open requests: ${Number(row?.waiting)}`,
    },
  ];
}

/** Finds rows of the journal whose turn is not the open one of its conversation: they will never be read. */
async function journalFinding(store: StoreContext, fix: boolean): Promise<Finding> {
  const stray = `FROM parley.turn_journal j WHERE NOT EXISTS (
    SELECT FROM parley.conversation_head h
    WHERE h.log = j.log AND h.turn_id IS NOT NULL AND h.turn_count = j.turn)`;
  const [row] = await store.database.query({
    text: `SELECT count(*)::int4 AS stray ${stray}`,
  });
  const found = Number(row?.stray);
  if (found === 0) {
    return { area: "journal", level: "ok", message: "The journal holds rows of open turns only" };
  }
  // A journal row is written under the lock of its open turn, so a stray one can never belong to another turn.
  for (let taken = fix ? journalRowsAtOnce : 0; taken >= journalRowsAtOnce; ) {
    const rows = await store.database.query({
      text: `DELETE FROM parley.turn_journal g
        USING (SELECT j.log, j.turn, j.first_n ${stray} LIMIT $1::int4) AS s
        WHERE g.log = s.log AND g.turn = s.turn AND g.first_n = s.first_n RETURNING 1 AS gone`,
      values: [journalRowsAtOnce],
    });
    taken = rows.length;
  }
  return {
    area: "journal",
    level: "warning",
    message: `${found} rows of the journal belong to no open turn`,
    fixable: true,
    ...(fix ? { fixed: true } : { advice: "Let the doctor fix it: such rows are never read again" }),
  };
}

/**
 * Reports how far the search index is behind the log. A few conversations are no finding: they are added within
 * seconds.
 */
async function searchFinding(store: StoreContext, fix: boolean): Promise<Finding> {
  const { conversations, owners } = await unindexedConversations(store);
  const count = `${conversations} conversations of ${owners} owners`;
  if (conversations <= mostUnindexed && !(fix && conversations > 0)) {
    const message = conversations === 0 ? "The search index is complete" : `The search index lacks ${count}`;
    return { area: "search", level: "ok", message };
  }
  const indexed = fix ? await indexAll(store) : 0;
  return {
    area: "search",
    level: conversations <= mostUnindexed ? "ok" : "warning",
    message: `The search index lacks ${count}: searches of large owners are partial${fix ? `; ${indexed} messages were added` : ""}`,
    fixable: true,
    ...(fix
      ? { fixed: true }
      : { advice: "A node that runs adds them in the background; the doctor can do it, too" }),
  };
}

async function queueFinding(store: StoreContext): Promise<Finding> {
  const [row] = await store.database.query({
    text: `
SELECT count(DISTINCT q.log)::int4 AS conversations, count(*)::int4 AS messages
FROM parley.queued_message q JOIN parley.conversation c ON c.log = q.log AND c.queue_paused`,
  });
  const conversations = Number(row?.conversations);
  if (conversations === 0) return { area: "queue", level: "ok", message: "No paused queue holds messages" };
  return {
    area: "queue",
    level: "ok",
    message: `${Number(row?.messages)} messages wait in ${conversations} paused queues`,
    advice: "Resume or empty them; nothing is lost while they wait",
  };
}

/** Reports endpoints that are gone, deliveries that were given up, and due ones that no node delivers. */
async function webhookFinding(store: StoreContext): Promise<Finding> {
  const [row] = await store.database.query({
    text: `
SELECT count(*)::int4 AS webhooks, count(*) FILTER (WHERE disabled_reason = 'gone')::int4 AS gone,
  (SELECT count(*)::int4 FROM parley.outbox WHERE state = 'dead') AS dead,
  (SELECT count(*)::int4 FROM parley.outbox WHERE state = 'pending') AS pending,
  (SELECT count(*)::int4 FROM parley.outbox o JOIN parley.webhook w ON w.owner = o.owner AND w.id = o.webhook AND w.enabled
    WHERE o.state = 'pending' AND o.due_at < statement_timestamp() - $1::float8 * interval '1 minute') AS overdue
FROM parley.webhook`,
    values: [overdueMinutes],
  });
  const [webhooks, gone, dead, pending, overdue] = ["webhooks", "gone", "dead", "pending", "overdue"].map(
    (name) => Number(row?.[name]),
  );
  const area = "webhooks";
  if (overdue !== undefined && overdue > 0) {
    return {
      area,
      level: "warning",
      message: `${overdue} of ${pending} deliveries to webhooks are overdue by more than ${overdueMinutes} minutes`,
      advice: "A node that is alive makes them; start one if none is",
    };
  }
  if (gone === 0 && dead === 0) {
    return { area, level: "ok", message: `Webhooks: ${webhooks}; deliveries under way: ${pending}` };
  }
  return {
    area,
    level: "warning",
    message: `${dead} deliveries were given up; ${gone} webhooks are disabled because they answered 410`,
    advice: "See `parley webhooks`; replay what was given up once the endpoint works, or remove it",
  };
}
