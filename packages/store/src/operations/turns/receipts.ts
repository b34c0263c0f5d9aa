import type { AdmitInput, AdmitOutcome, LogStore } from "@parley/core/ports";
import type { Connection, ResultRow } from "../../database.js";
import { idKey, messageIs } from "../../id-key.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";
import { messageConflict } from "../refusals.js";

/**
 * A message that started its turn is its own receipt: the row has all that a repeated admission is answered with, and
 * the hash of the body beside it. Only what had to wait has a row in `receipt`, for it may be taken out again. Both are
 * looked up by the message `$2`, with the key `$3`, in the conversation `$1`; at most one is there.
 */
const receiptText = `
SELECT body_hash, outcome, turn_id FROM receipt WHERE conversation_id = $1 AND message_id = $2
UNION ALL
SELECT m.body_hash, 'started', (SELECT t.id FROM conversation_turn t WHERE t.log = m.log AND t.ordinal = m.turn)
FROM conversation_message m WHERE ${messageIs("$2", "$3", "$1")} AND m.body_hash IS NOT NULL`;

const receiptValues = (conversationId: string, messageId: string) => {
  const id = storedText(messageId);
  return [storedText(conversationId), id, idKey(id)];
};

async function readReceipt(
  connection: Connection,
  conversationId: string,
  messageId: string,
): Promise<ResultRow | undefined> {
  const [receipt] = await connection.query({
    name: "find_receipt",
    text: receiptText,
    values: receiptValues(conversationId, messageId),
  });
  return receipt;
}

function answerOf({ outcome, turn_id }: ResultRow): { outcome: "started" | "queued"; turnId?: string } {
  return {
    outcome: outcome === "started" ? "started" : "queued",
    ...(typeof turn_id === "string" ? { turnId: originalText(turn_id) } : {}),
  };
}

/** What the same message was answered before. Refuses the same id with another body. */
export async function knownAdmission(
  connection: Connection,
  conversationId: string,
  input: Pick<AdmitInput, "message" | "bodyHash">,
): Promise<(AdmitOutcome & { kind: "known" }) | undefined> {
  const receipt = await readReceipt(connection, conversationId, input.message.id);
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
    text: `SELECT r.outcome, r.turn_id FROM conversation_head h CROSS JOIN (${receiptText}) AS r
      WHERE h.conversation_id = $1 AND h.owner = $4`,
    values: [...receiptValues(id, messageId), owner],
  });
  return row === undefined ? null : answerOf(row);
}

/** What became of a message that does not wait: delivered to a turn, taken out, or never sent to wait. */
export async function deliveredTo(
  connection: Connection,
  conversationId: string,
  messageId: string,
): Promise<"turn" | "nowhere" | "unknown"> {
  const receipt = await readReceipt(connection, conversationId, messageId);
  if (receipt === undefined) return "unknown";
  return receipt.turn_id === null ? "nowhere" : "turn";
}
