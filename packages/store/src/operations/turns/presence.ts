import type { AbsentNode } from "@parley/core/ports";
import type { StoreContext } from "../../store-context.js";
import { originalText } from "../../stored-text.js";

/**
 * The server and the database that a session is in: an advisory lock is known only there. After a restart, or on the
 * server that a failover leads to, no earlier lock is held, though every process that held one may live.
 */
export const sessionPlace = `(
  SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::int8::text || '.' || oid::text
  FROM pg_catalog.pg_database WHERE datname = current_database()
)`;

/** The number of a node's last heartbeat: its time in microseconds. */
export const renewalOf =
  "(extract(epoch FROM until - timestamptz '1970-01-01 00:00:00+00') * 1000000)::float8";

/** Returns the token of a process whose session in this place holds the advisory lock of this number. */
export function presenceToken(place: string, key: number): string {
  return `${place}/${key}`;
}

/**
 * Tries the locks of the nodes that live by their lease. It tries them in shared mode, which does not conflict with
 * another node that does so at the same time, and for the one statement only, so that it works behind a transaction
 * pooler.
 *
 * The nodes are read by a statement of their own: one that reads a table may run on another server of a cluster, where
 * no node holds these locks.
 */
export async function absentNodes(store: StoreContext): Promise<AbsentNode[]> {
  const present = await store.database.query({ name: "present_nodes", text: presentText });
  if (present.length === 0) return [];
  const rows = await store.database.query({
    name: "absent_nodes",
    text: absentText,
    values: [
      present.map(({ id }) => String(id)),
      present.map(({ renewal }) => Number(renewal)),
      present.map(({ presence }) => String(presence)),
    ],
  });
  return rows.map(({ id, renewal }) => ({ node: originalText(String(id)), renewal: Number(renewal) }));
}

const presentText = `
SELECT id, ${renewalOf} AS renewal, presence FROM parley.node
WHERE until > statement_timestamp() AND presence IS NOT NULL`;

const absentText = `
SELECT n.id, n.renewal FROM unnest($1::text[], $2::float8[], $3::text[]) AS n(id, renewal, presence)
WHERE CASE
  WHEN split_part(n.presence, '/', 1) = ${sessionPlace}
  THEN pg_try_advisory_xact_lock_shared(split_part(n.presence, '/', 2)::int8)
  ELSE false
END`;
