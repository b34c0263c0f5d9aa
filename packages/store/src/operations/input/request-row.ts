import { omitUndefined } from "@parley/core/messages";
import type { InputRecord, InputRequest } from "@parley/core/ports";
import type { InputResponseEntry, JsonObject } from "@parley/wire";
import type { Statement } from "../../database.js";
import { boundedJson, stepMark, stepOf } from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { originalJson, storedText } from "../../stored-text.js";
import { takeChangeNumber } from "../numbers.js";
import { type Head, nowMs } from "../turns/head.js";
import { isoTime, reportClauses } from "../webhooks/report.js";

const ms = (column: string) => `date_part('epoch', ${column}) * 1000`;

/** A request of the table `r` as one JSON value. */
export const requestJson = `json_build_object('requestId', r.request_id, 'step', r.step, 'kind', r.kind,
  'toolCallId', r.tool_call_id, 'toolName', r.tool_name, 'toolHash', r.tool_hash, 'argumentsHash', r.arguments_hash,
  'argumentsText', r.arguments_text, 'reason', r.reason, 'schema', r.schema, 'response', r.response,
  'remember', r.remember, 'createdMs', ${ms("r.created_at")}, 'expiresMs', ${ms("r.expires_at")},
  'decidedMs', ${ms("r.decided_at")},
  'turnId', (SELECT t.id FROM parley.conversation_turn t WHERE t.log = r.log AND t.ordinal = r.turn))`;

/** Output of `requestJson`, with its texts as they were given. */
export interface RequestJson {
  readonly requestId: string;
  readonly step: string;
  readonly kind: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly toolHash: string;
  readonly argumentsHash: string;
  readonly argumentsText: string;
  readonly reason: string | null;
  readonly schema: JsonObject | null;
  readonly response: InputResponseEntry | null;
  readonly remember: boolean;
  readonly createdMs: number;
  readonly expiresMs: number | null;
  readonly decidedMs: number | null;
  readonly turnId: string;
}

/** Returns the record of a request that was read. */
export function inputRecord(read: RequestJson): InputRecord {
  const { requestId, kind, toolCallId, toolName, toolHash, argumentsHash, argumentsText, turnId } = read;
  const { reason, schema, response, expiresMs, decidedMs } = read;
  return {
    type: "input-request",
    requestId,
    kind,
    toolCallId,
    toolName,
    argumentsHash,
    stepId: stepOf(read.step, turnId) ?? "",
    toolHash,
    argumentsText,
    turnId,
    createdAt: Math.round(read.createdMs),
    ...omitUndefined({
      reason: reason ?? undefined,
      schema: schema ?? undefined,
      response: response ?? undefined,
      expiresAt: expiresMs === null ? undefined : Math.round(expiresMs),
      decidedAt: decidedMs === null ? undefined : Math.round(decidedMs),
    }),
    ...(read.remember ? { remember: true as const } : {}),
  };
}

/** Returns the records of a JSON list of requests. */
export function inputRecords(json: unknown): InputRecord[] {
  return typeof json === "string" ? (originalJson(json) as RequestJson[]).map(inputRecord) : [];
}

/**
 * Writes the requests of a step, and reports them. The caller holds the lock. Requests that exist already stay as they
 * are.
 */
export function insertRequests(
  store: StoreContext,
  head: Head,
  turnId: string,
  requests: readonly InputRequest[],
): Statement[] {
  const texts = (of: (request: InputRequest) => string) => requests.map((each) => storedText(of(each)));
  return [
    takeChangeNumber(head.owner),
    {
      name: "insert_requests",
      text: insertText,
      values: [
        head.log,
        head.turnCount,
        head.owner,
        texts(({ requestId }) => requestId),
        requests.map(({ stepId }) => stepMark(stepId, turnId)),
        texts(({ kind }) => kind),
        texts(({ toolCallId }) => toolCallId),
        texts(({ toolName }) => toolName),
        texts(({ toolHash }) => toolHash),
        texts(({ argumentsHash }) => argumentsHash),
        texts(({ argumentsText }) => argumentsText),
        requests.map(({ reason }) => (reason === undefined ? null : storedText(reason))),
        requests.map(({ schema }) => (schema === undefined ? null : boundedJson(schema, store.maxBytes))),
        requests.map(({ remember }) => remember === true),
        requests.map(({ expiresMs }) => expiresMs ?? null),
      ],
    },
  ];
}

const insertText = `
WITH last AS MATERIALIZED (
  SELECT max(place) AS place FROM parley.input_request WHERE log = $1::int8 AND turn = $2::int4
), made AS (
  INSERT INTO parley.input_request (created_at, expires_at, log, turn, place, remember, owner, request_id, step, kind,
  tool_call_id, tool_name, tool_hash, arguments_hash, arguments_text, reason, schema)
SELECT ${nowMs}, ${nowMs} + g.expires_ms * interval '1 millisecond', $1::int8, $2::int4,
  coalesce(last.place, 0) + g.n::int4, g.remember, $3, g.request_id, g.step, g.kind, g.tool_call_id, g.tool_name,
  g.tool_hash, g.arguments_hash, g.arguments_text, g.reason, g.schema::json
FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
    $12::text[], $13::text[], $14::bool[], $15::float8[])
  WITH ORDINALITY AS g(request_id, step, kind, tool_call_id, tool_name, tool_hash, arguments_hash, arguments_text,
    reason, schema, remember, expires_ms, n)
CROSS JOIN last
ON CONFLICT DO NOTHING
  RETURNING log, turn, place, request_id, kind, tool_name, expires_at
), ${reportClauses("input.requested", {
  owner: "$3",
  log: "made.log",
  place: "made.place",
  data: {
    conversationId: "c.id",
    title: "c.title",
    turnId: "t.id",
    requestId: "made.request_id",
    kind: "made.kind",
    toolName: "made.tool_name",
    expiresAt: isoTime("made.expires_at"),
  },
  from: "made, parley.conversation c, parley.conversation_turn t",
  where: "c.log = made.log AND t.log = made.log AND t.ordinal = made.turn",
})}
SELECT count(*)::int4 AS made FROM made`;
