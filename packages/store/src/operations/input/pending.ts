import type { LogStore, PendingInput } from "@parley/core/ports";
import type { StoreContext } from "../../store-context.js";
import { originalJson, originalText } from "../../stored-text.js";
import { findRecord } from "../reading/record.js";
import { notFound } from "../refusals.js";
import { inputRecord, type RequestJson, requestJson } from "./request-row.js";

/** What waits for somebody, oldest first, by an index that holds nothing else. */
export async function pendingInputs(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["pendingInputs"]>[0],
): Promise<PendingInput[]> {
  const { conversationId } = query;
  const record =
    conversationId === undefined ? undefined : await findRecord(store.database, owner, conversationId);
  if (conversationId !== undefined && record === null) throw notFound(conversationId);
  const rows = await store.database.query({
    name: "pending_inputs",
    text: pendingText,
    values: [owner, record?.log ?? null, Math.min(Math.max(0, Math.floor(query.limit)), 1_000_000)],
  });
  return rows.map((row) => ({
    ...inputRecord(originalJson(String(row.request)) as RequestJson),
    conversationId: String(row.id),
    title: originalText(String(row.title)),
  }));
}

// A seal answers all requests of its turn, and a removal takes them away: what has no response is of an open turn.
const pendingText = `
SELECT ${requestJson}::text AS request, c.id, c.title
FROM (
  SELECT * FROM parley.input_request
  WHERE owner = $1 AND response IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
    AND ($2::int8 IS NULL OR log = $2::int8)
  ORDER BY created_at, log, place LIMIT $3::int4
) AS r
CROSS JOIN LATERAL (SELECT id, title FROM parley.conversation WHERE log = r.log OFFSET 0) AS c
ORDER BY r.created_at, r.log, r.place`;
