// The turn by hand-written SQL, in four commits.
import { readdirSync, readFileSync } from "node:fs";
import { metricsOf, turnOf } from "./persisted-turn.mjs";
import { rowLists } from "./row-lists.mjs";

const olderTables = new URL("../../packages/store/migrations/public/", import.meta.url);

/**
 * Messages and turns in a hand-written schema: found by their ids, with the same columns and as many indexes
 * as the store's own.
 */
const tables = `
DROP TABLE conversation_message, conversation_turn;
CREATE TABLE conversation_message (
  thread_id text COLLATE "C" NOT NULL, first_seq integer NOT NULL, id text COLLATE "C" NOT NULL, role text NOT NULL,
  type text NOT NULL, content jsonb NOT NULL, created_at timestamptz NOT NULL, resource_id text,
  part_count integer NOT NULL, turn_id text COLLATE "C", step text, covers_from integer, covers_to integer,
  PRIMARY KEY (thread_id, first_seq), UNIQUE (id, thread_id));
CREATE TABLE conversation_turn (
  conversation_id text COLLATE "C" NOT NULL, ordinal integer NOT NULL, id text COLLATE "C" NOT NULL,
  status text NOT NULL, reason text, model text, effort text, instructions text, first_seq integer NOT NULL,
  last_seq integer NOT NULL, steps json, metrics json, provider_calls json, started_at timestamptz NOT NULL,
  sealed_at timestamptz, sealed_fence integer, next_turn_id text COLLATE "C", appended json,
  PRIMARY KEY (conversation_id, ordinal), UNIQUE (id, conversation_id)) WITH (fillfactor = 80);
CREATE INDEX ON conversation_turn (started_at) WHERE status = 'running'`;

/**
 * Opens a store that writes the same rows in as many commits, each one prepared statement: hand-written code
 * without a fence, a queue, an answer for a repeated call or a journal. Conversations, their heads and
 * receipts are in tables of the store from the time when they were identified by their ids.
 */
export async function openByHand(url) {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  pool.on("error", () => {});
  for (const name of readdirSync(olderTables).sort()) {
    if (name.endsWith(".sql")) await pool.query(readFileSync(new URL(name, olderTables), "utf8"));
  }
  await pool.query(tables);
  const touched = "changed_at = nextval('conversation_change'), updated_at = now(), last_activity_at = now()";
  const insertRows = (from, place) => `
    INSERT INTO conversation_message
      (thread_id, id, role, type, content, created_at, first_seq, part_count, turn_id, step)
    SELECT $1, g.id, g.role, g.type, g.content::jsonb, g.created_at, ${from}.seq + g.start, g.parts, $2, ${place}
    FROM ${from}, unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::int4[], $9::int4[])
      AS g(id, role, type, content, created_at, start, parts)`;
  const statements = {
    create: `WITH c AS (INSERT INTO conversation (id, owner, title, status, created_at, last_activity_at, updated_at, changed_at)
      VALUES ($1, 'owner', 'title', 'open', now(), now(), now(), nextval('conversation_change')) RETURNING log)
      INSERT INTO conversation_head (conversation_id, log, owner, next_seq, sealed_seq, active_at)
      SELECT $1, log, 'owner', 1, 0, now() FROM c`,
    admit: `WITH h AS (UPDATE conversation_head SET turn_id = $2, node = 'node', fence = fence + 1,
        turn_count = turn_count + 1, next_seq = next_seq + $10::int4, started_at = now(), active_at = now()
        WHERE conversation_id = $1 RETURNING next_seq - $10::int4 AS seq, turn_count),
      t AS (INSERT INTO conversation_turn (conversation_id, id, ordinal, status, first_seq, last_seq, started_at)
        SELECT $1, $2, turn_count, 'running', seq, seq, now() FROM h),
      r AS (INSERT INTO receipt (conversation_id, message_id, body_hash, outcome, turn_id)
        VALUES ($1, ($3::text[])[1], '0123456789abcdef', 'started', $2)),
      c AS (UPDATE conversation SET ${touched} WHERE id = $1) ${insertRows("h", "NULL")}`,
    commit: `WITH h AS (UPDATE conversation_head SET next_seq = next_seq + $10::int4, active_at = now()
        WHERE conversation_id = $1 AND turn_id = $2 RETURNING next_seq - $10::int4 AS seq, turn_count),
      t AS (UPDATE conversation_turn t SET steps = $11::json, last_seq = h.seq + $10::int4 - 1 FROM h
        WHERE t.conversation_id = $1 AND t.ordinal = (SELECT turn_count FROM h)) ${insertRows("h", "'+.0'")}`,
    seal: `WITH h AS (UPDATE conversation_head SET turn_id = NULL, node = '', next_seq = next_seq + $10::int4,
        sealed_seq = next_seq + $10::int4 - 1, started_at = NULL, active_at = now()
        WHERE conversation_id = $1 AND turn_id = $2 RETURNING next_seq - $10::int4 AS seq, sealed_seq, turn_count),
      t AS (UPDATE conversation_turn t SET status = 'sealed', reason = 'stop', steps = NULL, metrics = $11::json,
        last_seq = h.sealed_seq, sealed_at = now(), sealed_fence = 1 FROM h
        WHERE t.conversation_id = $1 AND t.ordinal = (SELECT turn_count FROM h)),
      c AS (UPDATE conversation SET ${touched}, context_size = 1100 WHERE id = $1) ${insertRows("h", "'+.1'")}`,
  };
  const run = (name, values) => pool.query({ name, text: statements[name], values });
  return {
    close: () => pool.end(),
    async turn(conversationId, number) {
      const { turnId, user, calling, results, last } = turnOf(conversationId);
      if (number === 0) await run("create", [conversationId]);
      const metrics = metricsOf(turnId);
      await run("admit", rowLists(conversationId, turnId, [user]));
      await run("commit", [...rowLists(conversationId, turnId, [calling]), null]);
      await run("commit", [
        ...rowLists(conversationId, turnId, results),
        JSON.stringify(metrics.steps.slice(0, 1)),
      ]);
      await run("seal", [...rowLists(conversationId, turnId, [last]), JSON.stringify(metrics)]);
    },
  };
}
