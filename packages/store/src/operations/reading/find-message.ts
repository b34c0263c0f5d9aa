import type { LogStore } from "@parley/core/ports";
import { idKey, messageIs } from "../../id-key.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { lineage } from "./lineage.js";

/** Finds the message by its key in each log of the lineage, nearest first. */
export async function findMessage(
  store: StoreContext,
  owner: string,
  id: string,
  messageId: string,
): ReturnType<LogStore["findMessage"]> {
  const stored = storedText(messageId);
  const [row] = await store.database.query({
    name: "message_place",
    text: `${lineage()}
SELECT m.first_seq, t.id AS turn_id FROM lineage l
JOIN parley.conversation_message m ON ${messageIs("$3", "$4", "l.log")} AND m.first_seq <= l.through
LEFT JOIN parley.conversation_turn t ON t.log = m.log AND t.ordinal = m.turn
LIMIT 1`,
    values: [storedText(id), owner, stored, idKey(stored)],
  });
  if (row === undefined) return null;
  return {
    firstSeq: Number(row.first_seq),
    ...(typeof row.turn_id === "string" ? { turnId: originalText(row.turn_id) } : {}),
  };
}
