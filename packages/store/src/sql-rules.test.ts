import { describe, expect, it } from "vitest";
import { brokenRules } from "./sql-rules.test-support.js";

describe("the rules of statements", () => {
  it.each([
    ["names its schema", "SELECT 1 FROM conversation"],
    ["names its schema", "SELECT 1 FROM parley.conversation c JOIN conversation_head h ON h.log = c.log"],
    ["names its schema", "SELECT 1 FROM parley.node, conversation"],
    ["names its schema", "UPDATE conversation SET title = '' WHERE log = $1"],
    ["names its schema", "DELETE FROM parley.turn_journal j USING conversation_head h WHERE j.log = h.log"],
    ["names its schema", "INSERT INTO receipt (log) VALUES ($1)"],
    ["names its schema", "SELECT nextval('log_number')"],
    ["no search path", "SET LOCAL search_path = parley"],
    ["no search path", "SELECT set_config('search_path', 'parley', true)"],
    ["no volatile function in a write", "INSERT INTO parley.node (id, until) VALUES ($1, clock_timestamp())"],
    [
      "no volatile function in a write",
      "UPDATE parley.conversation SET changed_at = nextval('parley.conversation_change') WHERE log = $1",
    ],
    [
      "no volatile function in a write",
      "WITH a AS (DELETE FROM parley.node WHERE until < $1 RETURNING id) SELECT random() FROM a",
    ],
    [
      "no subquery in VALUES",
      "INSERT INTO parley.receipt (log, body_hash) VALUES ($1, (SELECT body_hash FROM parley.receipt WHERE log = $1))",
    ],
    [
      "no stable function in RETURNING",
      "UPDATE parley.conversation_head SET fence = 1 WHERE log = $1 RETURNING date_part('epoch', started_at) * 1000",
    ],
    ["no stable function in RETURNING", "DELETE FROM parley.node WHERE id = $1 RETURNING to_jsonb(node)"],
    [
      "no stable function in an INSERT that reads a table",
      "INSERT INTO parley.receipt (log, at) SELECT c.log, statement_timestamp() FROM parley.conversation c WHERE c.log = $1",
    ],
    [
      "no stable function in an INSERT that reads a table",
      "WITH a AS (SELECT log FROM parley.conversation), b AS (INSERT INTO parley.receipt (log, at) SELECT g.x, now() FROM unnest($1::int8[]) g(x), a) SELECT 1",
    ],
    [
      "no function of the time in CASE or COALESCE of a write",
      "UPDATE parley.conversation SET updated_at = CASE WHEN $2 THEN statement_timestamp() END WHERE log = $1",
    ],
    [
      "no function of the time in CASE or COALESCE of a write",
      "UPDATE parley.conversation SET updated_at = coalesce(updated_at, now()) WHERE log = $1",
    ],
    [
      "no stable function in an upsert's condition",
      "INSERT INTO parley.node AS n (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET until = excluded.until WHERE n.until < statement_timestamp()",
    ],
    ["confined to one owner", "UPDATE parley.conversation SET title = '' WHERE id = $1"],
    ["confined to one owner", "DELETE FROM parley.turn_journal WHERE first_n > $1"],
    ["confined to one owner", "DELETE FROM parley.receipt"],
    ["confined to one owner", "INSERT INTO parley.compaction (seq, kind) VALUES ($1, 'made')"],
    [
      "confined to one owner",
      "WITH a AS (SELECT log FROM parley.conversation), b AS (DELETE FROM parley.queued_message WHERE id = $1) SELECT 1",
    ],
  ])("%s: %s", (rule, text) => {
    expect(brokenRules(text)).toEqual([expect.stringContaining(`${rule}: `)]);
  });

  it.each([
    "SELECT nextval('parley.log_number'), clock_timestamp() FROM parley.node",
    "WITH node AS (SELECT 1) SELECT * FROM node",
    "UPDATE parley.conversation SET updated_at = statement_timestamp() WHERE owner = $1 AND id = $2",
    "SELECT 1 FROM parley.conversation_head WHERE log = $1 FOR UPDATE",
    "INSERT INTO parley.node (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET until = excluded.until",
    "UPDATE parley.conversation_head h SET fence = 1 WHERE h.log = $1 RETURNING date_part('epoch', h.started_at - timestamptz '1970-01-01 00:00:00+00') * 1000",
    "INSERT INTO parley.receipt (log, message_id) SELECT log, 'now()' FROM parley.conversation WHERE log = $1",
    "WITH a AS MATERIALIZED (SELECT log FROM parley.conversation), b AS (INSERT INTO parley.receipt (log, at) SELECT a.log, now() FROM a) SELECT 1",
    "INSERT INTO parley.receipt (log, at) SELECT g.x, now() FROM unnest($1::int8[]) AS g(x)",
  ])("nothing is wrong with: %s", (text) => {
    expect(brokenRules(text)).toEqual([]);
  });
});
