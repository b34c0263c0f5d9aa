import { isParleyError, ParleyError } from "@parley/core/errors";
import type { Connection, Database, ResultRow, Statement } from "../database.js";

/** Reason of a refusal because the owner is not in this shard, or is being moved. */
const reason = "owner_moved";

/** Guards divide by zero to refuse: their batch ends there, and is rolled back. No other statement does that. */
const refusal = "22012";

/** Returns true if the shard refused a call because the owner is in another one, or is being moved. */
export function isMoved(error: unknown): error is ParleyError {
  return isParleyError(error) && error.details?.reason === reason;
}

/** Returns true if a statement that guards others refused them. */
export function isRefusal(error: unknown): error is ParleyError {
  return isParleyError(error) && error.details?.sqlState === refusal;
}

/** Returns the condition that an owner is in this shard and not being moved. Sweeps over all owners skip the others. */
export function ownerIsHere(owner: string): string {
  return `NOT EXISTS (SELECT FROM parley.shard_owner moved WHERE moved.owner = ${owner} AND moved.state <> 'here')`;
}

/**
 * Returns the same database for calls that concern these owners. Each round trip and each transaction begins with a
 * statement that fails unless all of them are here. It costs no extra round trip. Calls that write lock the rows of the
 * owners, so a move waits for them, and later calls are refused. Calls that only read are let in until the owner is
 * gone.
 */
export function guardOwners(database: Database, owners: readonly string[]): Database {
  const values = [[...new Set(owners)], new Set(owners).size];
  const read: Statement = { name: "owner_can_be_read", text: readText, values };
  const write: Statement = { name: "owner_can_be_written", text: writeText, values };
  const guarded = async (connection: Connection, guard: Statement, statements: readonly Statement[]) => {
    const [, ...results] = await connection.batch([guard, ...statements]);
    return results;
  };
  const batch = (statements: readonly Statement[]) =>
    refusing(guarded(database, statements.some(isWrite) ? write : read, statements));
  return {
    batch,
    query: async (statement) => (await batch([statement]))[0] ?? [],
    // The database must see its own error, and not the refusal: after that the connection is as good as before.
    transaction: (work) =>
      refusing(
        database.transaction((connection) => {
          let isGuarded = false;
          const send = (statements: readonly Statement[]): Promise<ResultRow[][]> => {
            if (isGuarded) return connection.batch(statements);
            isGuarded = true;
            return guarded(connection, write, statements);
          };
          return work({ batch: send, query: async (statement) => (await send([statement]))[0] ?? [] });
        }),
      ),
    trouble: () => database.trouble?.(),
    ...(database.timeLimit === undefined ? {} : { timeLimit: database.timeLimit.bind(database) }),
    close: () => database.close(),
  };
}

const readText = `SELECT 1 / (count(*) = $2::int4)::int4 AS here FROM parley.shard_owner
WHERE owner = ANY ($1::text[]) AND state IN ('here', 'leaving')`;

const writeText = `SELECT 1 / (count(*) = $2::int4)::int4 AS here FROM (
  SELECT 1 FROM parley.shard_owner WHERE owner = ANY ($1::text[]) AND state = 'here' ORDER BY owner FOR SHARE
) AS held`;

const writes = new Map<string, boolean>();

/** Words of SQL that only a statement has that writes or locks. In the text of a read they cost a lock, nothing else. */
const writing =
  /\b(INSERT|UPDATE|DELETE|MERGE|TRUNCATE|LOCK|SHARE|nextval|setval|CREATE|ALTER|DROP)\b|\bpg_(try_)?advisory/i;

/** Returns true for statements that write, or only lock. */
export function isWrite({ text }: Pick<Statement, "text">): boolean {
  let found = writes.get(text);
  if (found === undefined) {
    found = writing.test(text);
    if (writes.size >= 2_000) writes.clear();
    writes.set(text, found);
  }
  return found;
}

async function refusing<Result>(answer: Promise<Result>): Promise<Result> {
  try {
    return await answer;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw ownerMoved(error);
  }
}

/** Creates the refusal that a caller gets while an owner is being moved from one shard to another. */
function ownerMoved(cause?: unknown): ParleyError {
  return new ParleyError(
    "store_unavailable",
    "The conversations of this owner are being moved to another database; try again in a moment",
    { details: { reason }, cause },
  );
}
