import { ParleyError } from "@parley/core/errors";
import type { ConversationRecord, ConversationSettings, LogStore } from "@parley/core/ports";
import type { Statement } from "../../database.js";
import { changedSettings } from "../../settings-columns.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { takeChangeNumber } from "../numbers.js";
import { findRecord, requireRecord } from "../reading/record.js";
import { type Head, requireHead, touched } from "../turns/head.js";
import { createConversationRow } from "./create-conversation.js";

type Changes = Parameters<LogStore["set"]>[1];

export async function create(
  store: StoreContext,
  owner: string,
  input: { id: string; settings: ConversationSettings },
): Promise<{ conversation: ConversationRecord; created: boolean }> {
  const { id, settings } = input;
  return store.database.transaction(async (connection) => {
    const created = await createConversationRow(store, connection, {
      id,
      owner,
      settings,
      title: settings.title ?? "",
    });
    return { conversation: await requireRecord(connection, owner, id), created: created !== undefined };
  });
}

export function get(store: StoreContext, owner: string, id: string): Promise<ConversationRecord | null> {
  return findRecord(store.database, owner, id);
}

/** Changes settings. Only the named columns are written. */
export function set(
  store: StoreContext,
  owner: string,
  id: string,
  changes: Changes,
): Promise<ConversationRecord> {
  return store.database.transaction(async (connection) => {
    const head = await requireHead(connection, owner, id);
    if (changes.closed === false && head.archive) {
      throw new ParleyError("conversation_closed", "An archive stays closed");
    }
    const { title, closed, ...settings } = changes;
    const columns = changedSettings(store, settings);
    if (title !== undefined) columns.push({ column: "title", cast: "", value: storedText(title ?? "") });
    if (closed !== undefined) columns.push({ column: "status", cast: "", value: closed ? "closed" : "open" });
    const assignments = columns.map(({ column, cast }, place) => `${column} = $${place + 2}${cast}`);
    if (closed === true) {
      assignments.push(
        "queue_paused = queue_paused OR EXISTS (SELECT FROM parley.queued_message q WHERE q.log = $1)",
      );
    }
    await connection.batch([
      takeChangeNumber(owner),
      {
        text: `UPDATE parley.conversation SET ${[...assignments, touched].join(", ")} WHERE log = $1`,
        values: [head.log, ...columns.map(({ value }) => value)],
      },
      ...(settings.temporary === undefined ? [] : [archivesStatement(head, settings.temporary)]),
    ]);
    return requireRecord(connection, owner, id);
  });
}

/** Makes the archives of a conversation temporary, or not, like the conversation. */
function archivesStatement({ log, owner }: Head, temporary: true | null): Statement {
  return {
    text: `UPDATE parley.conversation SET temporary = $2::bool
      WHERE parent = $1 AND archive_of = $1 AND owner = $3`,
    values: [log, temporary, owner],
  };
}
