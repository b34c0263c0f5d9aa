import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ShardOptions } from "@parley/store/postgres";
import pg from "pg";

/** Runs statements and returns the rows of each. */
export type ReadTables = (statements: readonly string[]) => Promise<Record<string, unknown>[][]>;

/** Rows that the tables must not hold while nothing runs. Each statement lists what is wrong. */
const wrongs: Record<string, string> = {
  "a log with a gap, or an overlap, before a row": `
    SELECT log, first_seq FROM (
      SELECT m.log, m.first_seq, coalesce(
        lag(m.first_seq + m.part_count) OVER (PARTITION BY m.log ORDER BY m.first_seq),
        coalesce(c.parent_seq, 0) + 1) AS expected
      FROM parley.conversation_message m JOIN parley.conversation c ON c.log = m.log) places
    WHERE first_seq <> expected`,
  "a head whose next seq is not behind its last row": `
    SELECT h.log, h.next_seq FROM parley.conversation_head h JOIN parley.conversation c ON c.log = h.log
    WHERE h.next_seq <> coalesce(
      (SELECT max(m.first_seq + m.part_count) FROM parley.conversation_message m WHERE m.log = h.log),
      coalesce(c.parent_seq, 0) + 1)`,
  "a row of the journal": "SELECT log, turn, first_n, epoch FROM parley.turn_journal",
  "a turn that is not sealed": "SELECT log, id FROM parley.conversation_turn WHERE status <> 'sealed'",
  "a head with a lease": `
    SELECT log, turn_id, compaction_id, node FROM parley.conversation_head
    WHERE turn_id IS NOT NULL OR compaction_id IS NOT NULL`,
  "a receipt without its message": `
    SELECT r.log, r.message_id FROM parley.receipt r
    WHERE NOT EXISTS (SELECT FROM parley.conversation_message m WHERE m.log = r.log AND m.id = r.message_id)
      AND NOT EXISTS (SELECT FROM parley.queued_message q WHERE q.log = r.log AND q.id = r.message_id)`,
  "a message in the log and in the queue": `
    SELECT q.log, q.id FROM parley.queued_message q
    JOIN parley.conversation_message m ON m.log = q.log AND m.id = q.id`,
  "a call with other than one result": `
    SELECT log, part ->> 'toolCallId' AS call,
      count(*) FILTER (WHERE part ->> 'state' = 'call') AS calls,
      count(*) FILTER (WHERE part ->> 'state' = 'result') AS results
    FROM parley.conversation_message, jsonb_array_elements(content -> 'parts') part
    WHERE part ->> 'type' = 'tool-invocation'
    GROUP BY 1, 2
    HAVING count(*) <> 2 OR count(*) FILTER (WHERE part ->> 'state' = 'call') <> 1`,
};

/**
 * Checks for rows that the tables must not hold while nothing runs, and returns them in words. Only the receipts are
 * left of messages that were `removed` from a queue.
 */
export async function checkTables(
  read: ReadTables,
  removed: ReadonlySet<string> = new Set(),
): Promise<string[]> {
  const results = await read(Object.values(wrongs));
  return Object.keys(wrongs).flatMap((name, index) =>
    (results[index] ?? [])
      .filter(({ message_id }) => !removed.has(String(message_id)))
      .map((row) => `${name}: ${JSON.stringify(row)}`),
  );
}

/** Reads the tables of a PostgreSQL database. */
export function tablesOf(url: string): ReadTables {
  return async (statements) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      const results: Record<string, unknown>[][] = [];
      for (const statement of statements) results.push((await client.query(statement)).rows);
      return results;
    } finally {
      await client.end();
    }
  };
}

/** Reads the tables of all shards, as if they were one store. */
export function tablesOfShards(shards: readonly ShardOptions[]): ReadTables {
  return async (statements) => {
    const results = statements.map((): Record<string, unknown>[] => []);
    for (const { url, schema = "parley" } of shards) {
      const own = statements.map((statement) => statement.replaceAll("parley.", `${schema}.`));
      for (const [index, rows] of (await tablesOf(url)(own)).entries()) results[index]?.push(...rows);
    }
    return results;
  };
}

/** Reads the tables of a folder that no node has open. */
export function tablesIn(folder: string): ReadTables {
  const program = fileURLToPath(new URL("./read-folder.mjs", import.meta.url));
  return async (statements) => {
    const { NODE_OPTIONS: _, ...env } = process.env;
    const args = [program, folder, JSON.stringify(statements)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 60_000 });
    return JSON.parse(stdout);
  };
}
