import type { AdmitInput, AdmitOutcome, LogStore } from "@parley/core/ports";
import type { Connection, ResultRow } from "../../database.js";
import { idKey, messageIs } from "../../id-key.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { messageConflict } from "../refusals.js";
import type { Head } from "./head.js";

/**
 * A message that started its turn is its own receipt: the row has everything for the answer to a repeated admission,
 * and the hash of the body beside it. Only a message that had to wait has a row in `receipt`, because it may be taken
 * out again. Both are found by the message `$1`, with the key `$2`, in a log; at most one exists.
 */
function receiptText(log: string): string {
  return `
SELECT body_hash, outcome, turn_id FROM parley.receipt WHERE log = ${log} AND message_id = $1
UNION ALL
SELECT m.body_hash, 'started', (SELECT t.id FROM parley.conversation_turn t WHERE t.log = m.log AND t.ordinal = m.turn)
FROM parley.conversation_message m WHERE ${messageIs("$1", "$2", log)} AND m.body_hash IS NOT NULL`;
}

const messageValues = (messageId: string) => {
  const id = storedText(messageId);
  return [id, idKey(id)];
};

async function readReceipt(
  connection: Connection,
  { log }: Pick<Head, "log">,
  messageId: string,
): Promise<ResultRow | undefined> {
  const [receipt] = await connection.query({
    name: "find_receipt",
    text: receiptText("$3::int8"),
    values: [...messageValues(messageId), log],
  });
  return receipt;
}

function answerOf({ outcome, turn_id }: ResultRow): { outcome: "started" | "queued"; turnId?: string } {
  return {
    outcome: outcome === "started" ? "started" : "queued",
    ...(typeof turn_id === "string" ? { turnId: originalText(turn_id) } : {}),
  };
}

/** Returns the earlier answer to the same message. Refuses the same id with another body. */
export async function knownAdmission(
  connection: Connection,
  head: Pick<Head, "log">,
  input: Pick<AdmitInput, "message" | "bodyHash">,
): Promise<(AdmitOutcome & { kind: "known" }) | undefined> {
  const receipt = await readReceipt(connection, head, input.message.id);
  if (receipt === undefined) return undefined;
  if (receipt.body_hash !== storedText(input.bodyHash)) throw messageConflict(input.message.id);
  return { kind: "known", ...answerOf(receipt) };
}

export async function findReceipt(
  store: StoreContext,
  owner: string,
  id: string,
  messageId: string,
): ReturnType<LogStore["findReceipt"]> {
  const [row] = await store.database.query({
    text: `SELECT r.outcome, r.turn_id FROM parley.conversation c CROSS JOIN LATERAL (${receiptText("c.log")}) AS r
      WHERE c.owner = $4 AND c.id = $3 AND c.status <> 'removed'`,
    values: [...messageValues(messageId), storedText(id), owner],
  });
  return row === undefined ? null : answerOf(row);
}

/** Returns the outcome of a message that does not wait: delivered to a turn, taken out, or never queued. */
export async function deliveredTo(
  connection: Connection,
  head: Pick<Head, "log">,
  messageId: string,
): Promise<"turn" | "nowhere" | "unknown"> {
  const receipt = await readReceipt(connection, head, messageId);
  if (receipt === undefined) return "unknown";
  return receipt.turn_id === null ? "nowhere" : "turn";
}
