import { ParleyError } from "@parley/core/errors";
import type { ConversationRecord, ConversationSettings, LogStore } from "@parley/core/ports";
import type { StatementValue } from "../../database.js";
import { boundedJson } from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { takeChangeNumber } from "../numbers.js";
import { findRecord, requireRecord } from "../reading/record.js";
import { requireHead, touched } from "../turns/head.js";
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

/** Only the columns that are named are written. */
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
    const columns = changedColumns(store, changes);
    const assignments = [...columns.keys()].map((column, place) => {
      const value = `$${place + 2}`;
      return `${column} = ${column === "metadata" ? `${value}::jsonb` : value}`;
    });
    if (changes.closed === true) {
      assignments.push(
        "queue_paused = queue_paused OR EXISTS (SELECT FROM parley.queued_message q WHERE q.log = $1)",
      );
    }
    await connection.batch([
      takeChangeNumber(owner),
      {
        text: `UPDATE parley.conversation SET ${[...assignments, touched].join(", ")} WHERE log = $1`,
        values: [head.log, ...columns.values()],
      },
    ]);
    return requireRecord(connection, owner, id);
  });
}

function changedColumns(store: StoreContext, changes: Changes): Map<string, StatementValue> {
  const columns = new Map<string, StatementValue>();
  const text = (column: string, value: string | null | undefined) => {
    if (value !== undefined) columns.set(column, value === null ? null : storedText(value));
  };
  if (changes.title !== undefined) columns.set("title", storedText(changes.title ?? ""));
  text("model", changes.model);
  text("effort", changes.reasoningEffort);
  text("instructions", changes.instructions);
  const { compactThreshold, metadata, closed } = changes;
  if (compactThreshold !== undefined) columns.set("compact_threshold", compactThreshold);
  if (metadata !== undefined) {
    columns.set("metadata", metadata === null ? null : boundedJson(metadata, store.maxBytes));
  }
  if (closed !== undefined) columns.set("status", closed ? "closed" : "open");
  return columns;
}
