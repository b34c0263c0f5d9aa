import type { ConversationSettings } from "@parley/core/ports";
import type { Connection } from "../../database.js";
import { settingNames, settingParameters, settingValues } from "../../settings-columns.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { changeNumber, logNumber, takeChangeNumber, takeLogNumber } from "../numbers.js";
import { checkConversationId } from "../refusals.js";
import { nowMs } from "../turns/head.js";
import { reportClauses } from "../webhooks/report.js";

export interface NewConversation {
  readonly id: string;
  readonly owner: string;
  readonly title: string;
  readonly settings: ConversationSettings;
  readonly createdAt?: Date;
  /** Report to endpoints: with the title that it is about to get, as a fork, or (an archive) none. */
  readonly reported?: { readonly title?: string; readonly parentId?: string } | false;
}

/**
 * Creates a conversation with its head, and returns the number of its log. Undefined if the owner has one with that id
 * already. Two transactions that create the same one meet in the index of names: the second waits for the first.
 */
export async function createConversationRow(
  store: StoreContext,
  connection: Connection,
  input: NewConversation,
): Promise<number | undefined> {
  const { id, owner, reported = {} } = input;
  checkConversationId(id);
  const { title = input.title, parentId } = reported === false ? {} : reported;
  for (;;) {
    const [, , made = []] = await connection.batch([
      takeLogNumber,
      takeChangeNumber(owner),
      {
        name: "create_conversation",
        text: createText,
        values: [
          id,
          owner,
          storedText(input.title),
          input.createdAt?.toISOString() ?? null,
          reported !== false,
          storedText(title),
          parentId ?? null,
          ...settingValues(store, input.settings),
        ],
      },
    ]);
    if (made[0] !== undefined) return Number(made[0].log);
    // If it is not found, it has been removed meanwhile.
    const [existing] = await connection.query({
      name: "find_conversation",
      text: "SELECT 1 AS found FROM parley.conversation WHERE owner = $2 AND id = $1 AND status <> 'removed'",
      values: [id, owner],
    });
    if (existing !== undefined) return undefined;
  }
}

const createText = `
WITH made AS (
  INSERT INTO parley.conversation (log, id, owner, title, status, created_at, last_activity_at, updated_at, changed_at,
    ${settingNames})
  SELECT ${logNumber}, $1, $2, $3, 'open', coalesce($4::timestamptz, t.at), t.at, t.at, ${changeNumber},
    ${settingParameters(8)}
  FROM (SELECT ${nowMs} AS at) t
  ON CONFLICT (owner, id) WHERE status <> 'removed' DO NOTHING
  RETURNING log, owner, last_activity_at
), ${reportClauses("conversation.created", {
  owner: "$2",
  log: "made.log",
  data: { conversationId: "$1::text", title: "$6::text", parentId: "$7::text" },
  from: "made",
  where: "$5::bool",
})}
INSERT INTO parley.conversation_head (log, owner, next_seq, sealed_seq, active_at)
SELECT log, owner, 1, 0, last_activity_at FROM made RETURNING log::float8 AS log`;
