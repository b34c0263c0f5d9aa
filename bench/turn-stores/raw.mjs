// The turn by raw SQL, in four commits: tables with primary keys and nothing else.
import { metricsOf, turnOf } from "./persisted-turn.mjs";
import { rowLists } from "./row-lists.mjs";

/** Conversations, turns and messages with their content, found by their position alone. */
const tables = `
CREATE TABLE conversation (
  id text COLLATE "C" PRIMARY KEY, owner text NOT NULL, title text NOT NULL, next_seq integer NOT NULL,
  turn_count integer NOT NULL, updated_at timestamptz NOT NULL);
CREATE TABLE turn (
  conversation_id text COLLATE "C" NOT NULL, ordinal integer NOT NULL, id text COLLATE "C" NOT NULL,
  status text NOT NULL, metrics json, PRIMARY KEY (conversation_id, ordinal));
CREATE TABLE message (
  conversation_id text COLLATE "C" NOT NULL, first_seq integer NOT NULL, part_count integer NOT NULL,
  id text COLLATE "C" NOT NULL, turn_id text COLLATE "C", role text NOT NULL, type text NOT NULL,
  content jsonb NOT NULL, created_at timestamptz NOT NULL, PRIMARY KEY (conversation_id, first_seq))`;

/** Writes rows after the position in the row of `c`. */
const insertRows = `
  INSERT INTO message (conversation_id, turn_id, id, role, type, content, created_at, first_seq, part_count)
  SELECT $1, $2, g.id, g.role, g.type, g.content::jsonb, g.created_at, c.seq + g.start, g.parts
  FROM c, unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[], $8::int4[], $9::int4[])
    AS g(id, role, type, content, created_at, start, parts)`;

const counted = (turns) => `
  UPDATE conversation SET next_seq = next_seq + $10::int4, turn_count = turn_count + ${turns}, updated_at = now()
  WHERE id = $1 RETURNING next_seq - $10::int4 AS seq, turn_count`;

const statements = {
  create: `INSERT INTO conversation (id, owner, title, next_seq, turn_count, updated_at)
    VALUES ($1, 'owner', 'title', 1, 0, now())`,
  admit: `WITH c AS (${counted(1)}),
    t AS (INSERT INTO turn (conversation_id, ordinal, id, status) SELECT $1, turn_count, $2, 'running' FROM c)
    ${insertRows}`,
  commit: `WITH c AS (${counted(0)}) ${insertRows}`,
  seal: `WITH c AS (${counted(0)}),
    t AS (UPDATE turn SET status = 'sealed', metrics = $11::json FROM c
      WHERE conversation_id = $1 AND ordinal = c.turn_count)
    ${insertRows}`,
};

/**
 * Opens a store that writes the same rows in as many commits, each one prepared statement: the minimum that
 * leaves a turn in the database. A row can be found only by its position in a conversation, and nothing is
 * checked.
 */
export async function openRaw(url) {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  pool.on("error", () => {});
  await pool.query(tables);
  const run = (name, values) => pool.query({ name, text: statements[name], values });
  return {
    close: () => pool.end(),
    async turn(conversationId, number) {
      const { turnId, user, calling, results, last } = turnOf(conversationId);
      if (number === 0) await run("create", [conversationId]);
      await run("admit", rowLists(conversationId, turnId, [user]));
      await run("commit", rowLists(conversationId, turnId, [calling]));
      await run("commit", rowLists(conversationId, turnId, results));
      await run("seal", [...rowLists(conversationId, turnId, [last]), JSON.stringify(metricsOf(turnId))]);
    },
    async append(conversationId, number) {
      const { user, calling, results, last } = turnOf(conversationId);
      if (number === 0) await run("create", [conversationId]);
      await run("commit", rowLists(conversationId, null, [user, calling, ...results, last]));
    },
  };
}
