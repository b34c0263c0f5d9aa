import type { Statement } from "../../database.js";
import { messageColumns } from "../../message-row.js";
import { storedText } from "../../stored-text.js";
import { lineage } from "./lineage.js";

/**
 * Reads the rows of a log from either end, inherited ones included, and stops at the limit: a scan of the primary key
 * in its order, the same cost in a log of a thousand messages and of a million. From the newest on, the walk through
 * ancestors goes only as far as rows are still needed; from the oldest on, all ancestors are named first and then read
 * one after the other.
 */
export function listStatement(
  id: string,
  owner: string,
  options: { readonly limit: number | undefined; readonly newestFirst: boolean },
): Statement {
  const limit = Math.max(0, Math.min(options.limit ?? 2_147_483_647, 2_147_483_647));
  return {
    name: options.newestFirst ? "list_newest" : "list_oldest",
    text: options.newestFirst ? newestText : oldestText,
    values: [storedText(id), owner, limit],
  };
}

const newestText = `${lineage()}
SELECT ${messageColumns}
FROM lineage l
CROSS JOIN LATERAL (
  SELECT * FROM parley.conversation_message m WHERE m.log = l.log AND m.first_seq <= l.through
  ORDER BY m.first_seq DESC LIMIT $3::int4
) m
LIMIT $3::int4`;

/** A log's own rows lie above its floor, so the order of floors is the order of what is read. */
const oldestText = `${lineage()}
SELECT ${messageColumns}
FROM (SELECT log, through FROM lineage ORDER BY floor OFFSET 0) l
CROSS JOIN LATERAL (
  SELECT * FROM parley.conversation_message m WHERE m.log = l.log AND m.first_seq <= l.through
  ORDER BY m.first_seq LIMIT $3::int4
) m
LIMIT $3::int4`;
