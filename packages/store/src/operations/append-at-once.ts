import { titleOf } from "@parley/core/messages";
import { hasFiles, type MessageRow } from "../message-row.js";
import type { StoreContext } from "../store-context.js";
import { storedText } from "../stored-text.js";
import { rowParameters, rowStatements } from "./row-parameters.js";
import { lockForChange, nowMs, touched } from "./turns/head.js";

/**
 * Appends rows of one conversation in one round trip: the lock, then one statement that checks everything under it and
 * writes everything or nothing. Returns false if it wrote nothing, because a row has files, a turn is open, an id is
 * used already (here, elsewhere or by another owner) or the conversation is unknown: `appendRows` then decides step by
 * step.
 */
export async function appendAtOnce(
  store: StoreContext,
  owner: string,
  rows: readonly MessageRow[],
): Promise<boolean> {
  const conversationId = rows[0]?.message.conversationId;
  const isPlain =
    rows.every((row) => row.message.conversationId === conversationId && !hasFiles(row)) &&
    new Set(rows.map(({ id }) => id)).size === rows.length;
  if (conversationId === undefined || !isPlain) return false;
  const { form, total, values } = rowParameters(rows);
  const title = storedText(titleOf(rows.map(({ message }) => message)));
  const [, answers = []] = await store.database.batch([
    lockForChange(owner, conversationId),
    {
      name: `append_${form}`,
      text: appendTexts[form],
      values: [storedText(conversationId), owner, title, total, ...values],
    },
  ]);
  return answers.length > 0;
}

const appendTexts = rowStatements(
  5,
  "c.log",
  (given) => `
WITH counted AS (
  UPDATE parley.conversation_head h SET next_seq = h.next_seq + $4::int4, sealed_seq = h.next_seq + $4::int4 - 1,
    active_at = greatest(h.active_at, ${nowMs})
  FROM parley.conversation c
  WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed'
    AND h.log = c.log AND h.turn_id IS NULL AND h.compaction_id IS NULL
    AND NOT EXISTS (${given.used})
  RETURNING h.log, NULL::int4 AS turn_count, h.next_seq - $4::int4 AS first_seq
), written AS (
  ${given.insert("counted")}
), changed AS (
  UPDATE parley.conversation c SET ${touched}, last_activity_at = greatest(c.last_activity_at, ${nowMs}),
    title = CASE WHEN c.title = '' THEN $3 ELSE c.title END
  FROM counted WHERE c.log = counted.log
)
SELECT first_seq FROM counted`,
  { step: "NULL", total: "$4" },
);
