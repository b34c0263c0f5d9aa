import { invalidField } from "@parley/core/errors";
import type { LogStore, PendingInput } from "@parley/core/ports";
import type { StatementValue } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { originalJson, originalText } from "../../stored-text.js";
import { findRecord } from "../reading/record.js";
import { notFound } from "../refusals.js";
import { inputRecord, type RequestJson, requestJson } from "./request-row.js";

/** Limit of one page's texts, in bytes: a model may write a megabyte of arguments. */
const pageBytes = 4_000_000;

/** Lists the requests that wait for a response, oldest first, by an index that holds nothing else. */
export async function pendingInputs(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["pendingInputs"]>[0],
): Promise<{ inputs: PendingInput[]; next?: string }> {
  const { conversationId, after } = query;
  const place = after === undefined ? undefined : placeOf(after);
  const record =
    conversationId === undefined ? undefined : await findRecord(store.database, owner, conversationId);
  if (conversationId !== undefined && record === null) throw notFound(conversationId);
  const limit = Math.min(Math.max(0, Math.floor(query.limit)), 1_000_000);
  const values: StatementValue[] = [owner, limit + 1, pageBytes, ...(place ?? [null, null, null])];
  const rows = await store.database.query(
    record === undefined || record === null
      ? { name: "pending_inputs", text: pendingText("owner = $1"), values }
      : { name: "pending_inputs_of", text: pendingText(inConversation), values: [...values, record.log] },
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const isLast = last === undefined || Number(last.found) <= page.length;
  return {
    inputs: page.map((row) => ({
      ...inputRecord(originalJson(String(row.request)) as RequestJson),
      conversationId: String(row.id),
      title: originalText(String(row.title)),
    })),
    ...(isLast ? {} : { next: `${Math.round(Number(last.created_ms))}~${last.log}~${last.place}` }),
  };
}

function placeOf(after: string): [number, number, number] {
  const [, at, log, place] = /^(\d{1,15})~(\d{1,15})~(\d{1,9})$/.exec(after) ?? [];
  if (place === undefined) throw invalidField("after", "not a `nextAfter` of this list");
  return [Number(at), Number(log), Number(place)];
}

const inConversation = `owner = $1 AND log = $7::int8
    AND turn = (SELECT turn_count FROM parley.conversation_head WHERE log = $7::int8)`;

// A seal answers all requests of its turn, and a removal deletes them: a request without a response belongs to an open
// turn.
const pendingText = (condition: string) => `
SELECT ${requestJson}::text AS request, c.id, c.title, r.found, r.log::float8 AS log, r.place,
  date_part('epoch', r.created_at) * 1000 AS created_ms
FROM (
  SELECT q.*, count(*) OVER () AS found, sum(octet_length(q.arguments_text)
    + coalesce(octet_length(q.reason), 0) + coalesce(octet_length(q.schema::text), 0))
    OVER (ORDER BY q.created_at, q.log, q.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
  FROM (
    SELECT * FROM parley.input_request
    WHERE ${condition} AND response IS NULL AND (expires_at IS NULL OR expires_at > statement_timestamp())
      AND ($4::float8 IS NULL
        OR (created_at, log, place) > (to_timestamp($4::float8 / 1000), $5::int8, $6::int4))
    ORDER BY created_at, log, place LIMIT $2::int4
  ) AS q
) AS r
CROSS JOIN LATERAL (SELECT id, title FROM parley.conversation WHERE log = r.log OFFSET 0) AS c
WHERE coalesce(r.bytes_before, 0) < $3::int8
ORDER BY r.created_at, r.log, r.place`;
