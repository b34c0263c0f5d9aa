import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { lineage } from "../reading/lineage.js";

/** Place where rows of a log are shown: those above `above` and up to `through` in the conversation `id`. */
export interface Home {
  readonly id: string;
  readonly title: string;
  readonly above: number;
  readonly through: number;
}

/**
 * Finds the homes of logs. An existing log shows its own rows. One without a name, or of a temporary conversation, is
 * shown by its heirs, which continue it, each as far as it reaches and no nearer one does. What an archive shows is in
 * its origin.
 */
export async function findHomes(
  store: StoreContext,
  owner: string,
  logs: readonly number[],
): Promise<Map<number, Home[]>> {
  if (logs.length === 0) return new Map();
  return homesOf(
    await store.database.query({ name: "search_homes", text: homesText, values: [logs, owner] }),
  );
}

/** Finds the logs that a conversation reads through, each with itself as the home. */
export async function findLineage(
  store: StoreContext,
  owner: string,
  conversationId: string,
): Promise<Map<number, Home[]>> {
  return homesOf(
    await store.database.query({
      name: "search_lineage",
      text: `${lineage()}
SELECT l.log::float8 AS log, c.id, c.title, 0 AS above, l.through
FROM lineage l JOIN parley.conversation c ON c.log = l.reader`,
      values: [storedText(conversationId), owner],
    }),
  );
}

function homesOf(rows: readonly Record<string, unknown>[]): Map<number, Home[]> {
  const homes = new Map<number, Home[]>();
  for (const { log, id, title, above, through } of rows) {
    const home = {
      id: String(id),
      title: originalText(String(title)),
      above: Number(above),
      through: Number(through),
    };
    const known = homes.get(Number(log));
    if (known === undefined) homes.set(Number(log), [home]);
    else known.push(home);
  }
  return homes;
}

/** Returns the condition that a search of everything shows the log of this alias. */
function isShown(alias: string): string {
  return `(${alias}.status <> 'removed' AND ${alias}.temporary IS NULL)`;
}

const homesText = `
WITH RECURSIVE logs AS MATERIALIZED (
  SELECT c.log, c.id, c.title, ${isShown("c")} AS shown FROM unnest($1::int8[]) AS w(log)
  CROSS JOIN LATERAL (SELECT * FROM parley.conversation c WHERE c.log = w.log OFFSET 0) AS c
  WHERE c.owner = $2 AND c.archive_of IS NULL
), heirs AS (
  SELECT r.log, f.log AS heir, f.id, f.title, ${isShown("f")} AS shown, f.parent_seq AS through, 1 AS distance
  FROM logs r JOIN parley.conversation f ON f.parent = r.log
  WHERE NOT r.shown
  UNION ALL
  SELECT h.log, f.log, f.id, f.title, ${isShown("f")}, least(h.through, f.parent_seq), h.distance + 1
  FROM heirs h JOIN parley.conversation f ON f.parent = h.heir
  WHERE NOT h.shown
)
SELECT log::float8 AS log, id, title, 0 AS above, 2147483647 AS through FROM logs WHERE shown
UNION ALL
SELECT log::float8, id, title, above, through
FROM (
  SELECT *, coalesce(max(through) OVER (
    PARTITION BY log ORDER BY distance, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS above
  FROM heirs WHERE shown
) AS stairs
WHERE above < through`;
