import { ParleyError } from "@parley/core/errors";
import { describe, expect, it } from "vitest";
import type { Connection, Database } from "../database.js";
import { guardOwners, isMoved, isRefusal, isWrite } from "./guard-owners.js";

describe("a call of an owner that has moved", () => {
  const refused = () =>
    Promise.reject(new ParleyError("invalid_request", undefined, { details: { sqlState: "22012" } }));

  it("is refused, and the database sees an error of its own, in a transaction as well", async () => {
    const seen: unknown[] = [];
    const connection: Connection = { query: refused, batch: refused };
    const database: Database = {
      ...connection,
      async transaction(work) {
        try {
          return await work(connection);
        } catch (error) {
          seen.push(error);
          throw error;
        }
      },
      close: () => Promise.resolve(),
    };
    const guarded = guardOwners(database, ["ada"]);
    const statement = { text: "SELECT 1" };
    const calls = [
      guarded.query(statement),
      guarded.batch([statement]),
      guarded.transaction((inner) => inner.query(statement)),
    ];
    for (const call of calls) expect(isMoved(await call.catch((error: unknown) => error))).toBe(true);
    expect(seen.map(isRefusal)).toEqual([true]);
  });
});

describe("a statement of an owner that may be moved", () => {
  it.each([
    "INSERT INTO parley.receipt (log) VALUES ($1)",
    "WITH gone AS (DELETE FROM parley.webhook WHERE owner = $1 RETURNING id) SELECT count(*) FROM gone",
    "update parley.conversation SET title = $1 WHERE log = $2",
    "MERGE INTO parley.receipt USING (VALUES ($1)) AS new (log) ON false WHEN NOT MATCHED THEN INSERT VALUES (1)",
    "SELECT 1 FROM parley.conversation WHERE log = $1 FOR UPDATE",
    "SELECT 1 FROM parley.conversation WHERE log = $1 FOR NO KEY UPDATE",
    "SELECT 1 FROM parley.conversation WHERE log = $1 FOR SHARE",
    "SELECT 1 FROM parley.conversation WHERE log = $1 FOR KEY SHARE",
    "SELECT nextval('parley.log_number')::float8 AS log",
    "SELECT setval('parley.log_number', 1)",
    "LOCK TABLE parley.shard IN EXCLUSIVE MODE",
    "TRUNCATE parley.turn_journal",
    "SELECT pg_advisory_xact_lock(1, 2)",
    "SELECT pg_try_advisory_xact_lock(1)",
  ])("locks its owner: %s", (text) => {
    expect(isWrite({ text })).toBe(true);
  });

  it.each([
    "SELECT id, updated_at, deleted_at FROM parley.conversation WHERE owner = $1",
    "WITH page AS (SELECT log FROM parley.conversation LIMIT 10) SELECT * FROM page",
    "SELECT dropped, shared FROM parley.node WHERE call_id = $1",
  ])("does not: %s", (text) => {
    expect(isWrite({ text })).toBe(false);
  });
});
