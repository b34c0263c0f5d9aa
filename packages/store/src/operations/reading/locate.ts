import type { LogStoreRoot } from "@parley/core/ports";
import type { StoreContext } from "../../store-context.js";
import { originalText } from "../../stored-text.js";

export async function locate(store: StoreContext, log: number): ReturnType<LogStoreRoot["locate"]> {
  const [row] = await store.database.query({
    name: "locate",
    text: "SELECT owner, id FROM parley.conversation WHERE log = $1::int8 AND status <> 'removed'",
    values: [log],
  });
  if (row === undefined) return null;
  return { owner: originalText(String(row.owner)), conversationId: String(row.id) };
}
