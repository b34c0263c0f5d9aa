import type { LogStore } from "@parley/core/ports";
import type { Connection } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { originalText, storedText } from "../../stored-text.js";

/** Points a chat at this log from now on. Does nothing without a chat. */
export async function moveBranch(
  connection: Connection,
  owner: string,
  chatId: string | undefined,
  log: number,
): Promise<void> {
  if (chatId === undefined) return;
  await connection.query({
    text: `INSERT INTO parley.branch_pointer (log, owner, chat_id) VALUES ($1::int8, $2, $3)
      ON CONFLICT (owner, chat_id) DO UPDATE SET log = excluded.log`,
    values: [log, owner, storedText(chatId)],
  });
}

export async function branchOf(
  store: StoreContext,
  owner: string,
  chatId: string,
): ReturnType<LogStore["branchOf"]> {
  const [row] = await store.database.query({
    name: "branch_of",
    text: `SELECT c.id FROM parley.branch_pointer b JOIN parley.conversation c ON c.log = b.log
      WHERE b.owner = $1 AND b.chat_id = $2 AND c.status <> 'removed'`,
    values: [owner, storedText(chatId)],
  });
  return row === undefined ? null : originalText(String(row.id));
}
