import type { CompactionNotice, ConversationNotice } from "@parley/core/ports";
import type { Statement } from "../../database.js";
import { originalJson, storedJson } from "../../stored-text.js";
import { changeNumber, takeChangeNumber } from "../numbers.js";
import { nowMs } from "../turns/head.js";

/**
 * Writes a notice of a change that no row of a conversation shows, numbered like a change of its owner, for readers of
 * changes. A removal writes one row for everything it removes: each number costs its transaction a lock.
 */
export function noticeStatements(
  owner: string,
  kind: ConversationNotice["kind"],
  data: { conversationIds: string[] } | ({ conversationId: string } & CompactionNotice),
): Statement[] {
  return [
    takeChangeNumber(owner),
    {
      text: `INSERT INTO parley.conversation_notice (owner, changed_at, kind, data, noted_at)
        VALUES ($1, ${changeNumber}, $2, $3::json, ${nowMs})`,
      values: [owner, kind, storedJson(data)],
    },
  ];
}

/** Selects the notices of the owner `$1` after `$2` and up to `$3`, at most `$4`. */
export const noticesText = `SELECT changed_at::float8 AS changed_at, kind, data::text AS data FROM parley.conversation_notice
WHERE owner = $1 AND changed_at > $2::float8::int8 AND changed_at <= $3::float8::int8
ORDER BY changed_at LIMIT $4::int4`;

export function noticeOf(row: Record<string, unknown>): ConversationNotice {
  return {
    kind: row.kind,
    changedAt: Number(row.changed_at),
    ...(originalJson(String(row.data)) as object),
  } as ConversationNotice;
}
