import { invalidField, ParleyError } from "@parley/core/errors";
import { omitUndefined, stableValue } from "@parley/core/messages";
import type { InputRecord, Lease, LogNumber, RespondInput, RespondResult } from "@parley/core/ports";
import type { InputResponseEntry } from "@parley/wire";
import type { Connection } from "../../database.js";
import { ownerIsHere } from "../../shards/guard-owners.js";
import { forOwners, type StoreContext } from "../../store-context.js";
import { originalJson, originalText, storedText } from "../../stored-text.js";
import { type Head, leaseColumns, leaseOf, lockHead, nowMs, requireHead } from "../turns/head.js";
import { touchStatements } from "../turns/open-turn.js";
import { deniedBy, openRequests, recordResponses } from "./decisions.js";
import { insertGrant } from "./grants.js";
import { inputRecord, type RequestJson, requestJson } from "./request-row.js";

/** Selects one request, if it exists. */
const findText = `SELECT ${requestJson}::text AS request,
  coalesce(r.expires_at <= statement_timestamp(), false) AS expired
FROM parley.input_request r WHERE r.log = $1 AND r.request_id = $2`;

export async function readInput(
  store: StoreContext,
  owner: string,
  id: string,
  requestId: string,
): Promise<InputRecord | null> {
  const [row] = await store.database.query({
    name: "read_input",
    text: `SELECT ${requestJson}::text AS request FROM parley.conversation c
      JOIN parley.input_request r ON r.log = c.log AND r.request_id = $3
      WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed'`,
    values: [storedText(id), owner, storedText(requestId)],
  });
  return row === undefined ? null : inputRecord(originalJson(String(row.request)) as RequestJson);
}

export async function readResponses(
  store: StoreContext,
  owner: string,
  query: { conversationId: string; turnId: string },
): Promise<InputResponseEntry[]> {
  const rows = await store.database.query({
    name: "read_responses",
    text: `SELECT r.response::text AS response FROM parley.conversation c
      JOIN parley.conversation_head h ON h.log = c.log AND h.turn_id = $3
      LEFT JOIN parley.input_request r ON r.log = h.log AND r.turn = h.turn_count AND NOT r.logged
        AND r.response IS NOT NULL
      WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed' ORDER BY r.place`,
    values: [storedText(query.conversationId), owner, storedText(query.turnId)],
  });
  return rows.flatMap(({ response }) =>
    typeof response === "string" ? [originalJson(response) as InputResponseEntry] : [],
  );
}

/** Responds in one transaction under the head's lock, like every write of a conversation: a request is decided once. */
export function respond(store: StoreContext, owner: string, input: RespondInput): Promise<RespondResult> {
  return store.database.transaction(async (connection) => {
    const head = await requireHead(connection, owner, input.conversationId);
    const [row] = await connection.query({
      name: "find_input",
      text: findText,
      values: [head.log, storedText(input.requestId)],
    });
    if (row === undefined) {
      throw new ParleyError("conversation_not_found", "No such request in this conversation");
    }
    const request = inputRecord(originalJson(String(row.request)) as RequestJson);
    const { argumentsHash } = input;
    if (argumentsHash !== undefined && argumentsHash !== request.argumentsHash) {
      throw invalidField("argumentsHash", "is not the hash of the call's arguments");
    }
    const { turnId, response: before } = request;
    const { log } = head;
    if (before !== undefined) {
      const outcome = isSame(before, input.response) ? "repeated" : "decided";
      return { outcome, log, turnId, response: before };
    }
    const isStopped = head.stopRequested && head.turnId === turnId;
    if (row.expired === true || isStopped) {
      const response = deniedBy(request, isStopped ? "stop" : "expiry");
      return { outcome: "decided", log, ...(await record(connection, head, request, response, "")) };
    }
    const grant = insertGrant(head, request, input);
    if (grant !== undefined) await connection.query(grant);
    const recorded = await record(connection, head, request, input.response, input.node);
    return { outcome: "recorded", log, ...recorded };
  });
}

/** Records a response and, if the turn waits, reopens it. The holder of the turn then writes the entry. */
async function record(
  connection: Connection,
  head: Head,
  { turnId }: Pick<InputRecord, "turnId">,
  response: InputResponseEntry,
  node: string,
): Promise<Pick<RespondResult, "turnId" | "response" | "lease">> {
  await recordResponses(connection, head, [response], false);
  const isWaiting = head.waiting && head.turnId === turnId;
  const lease = isWaiting ? await reopen(connection, head, node) : undefined;
  await connection.batch(touchStatements(head));
  return { turnId, response, ...omitUndefined({ lease }) };
}

/** Ends the waiting of the open turn: it is held by `node` afterwards, or by no node. The caller holds the lock. */
export async function reopen(connection: Connection, { log, turnCount }: Head, node: string): Promise<Lease> {
  const [, [row] = []] = await connection.batch([
    {
      name: "reopen_turn",
      text: `UPDATE parley.conversation_turn t SET status = 'running',
          waited_ms = t.waited_ms + greatest(0, date_part('epoch', ${nowMs} - h.waiting_since) * 1000)
        FROM parley.conversation_head h WHERE h.log = $1 AND t.log = $1 AND t.ordinal = $2`,
      values: [log, turnCount],
    },
    {
      name: "reopen_head",
      text: `UPDATE parley.conversation_head h SET waiting_since = NULL, node = $2, fence = h.fence + 1
        FROM parley.conversation c WHERE h.log = $1 AND c.log = $1 RETURNING ${leaseColumns}`,
      values: [log, storedText(node)],
    },
  ]);
  return leaseOf(row ?? {});
}

/** Returns true if both are the same decision, regardless of who made it and how it was received. */
function isSame(left: InputResponseEntry, right: InputResponseEntry): boolean {
  return decisionText(left) === decisionText(right);
}

function decisionText({ by: _, via: _via, ...decision }: InputResponseEntry): string {
  return JSON.stringify(stableValue(decision));
}

/**
 * Denies requests that were not answered in time. They are found by an index that holds nothing else, then decided
 * under the lock of each conversation, where a response may have arrived first.
 */
export async function expireInputs(store: StoreContext, limit: number): Promise<LogNumber[]> {
  const wanted = Math.min(Math.floor(limit), 1_000_000);
  if (!(wanted > 0)) return [];
  const due = await store.database.query({
    name: "due_inputs",
    text: `SELECT DISTINCT due.owner, c.id FROM (
        SELECT r.log, r.owner FROM parley.input_request r
        WHERE r.response IS NULL AND r.expires_at IS NOT NULL AND r.expires_at <= statement_timestamp()
          ${store.isShard ? `AND ${ownerIsHere("r.owner")}` : ""}
        ORDER BY r.expires_at LIMIT $1::int4
      ) AS due
      JOIN parley.conversation c ON c.log = due.log AND c.status <> 'removed'`,
    values: [wanted],
  });
  const logs: LogNumber[] = [];
  for (const { owner, id } of due) {
    const log = await forOwners(store, [String(owner)]).database.transaction((connection) =>
      expireOne(connection, String(owner), originalText(String(id))),
    );
    if (log !== undefined) logs.push(log);
  }
  return logs;
}

async function expireOne(connection: Connection, owner: string, id: string): Promise<LogNumber | undefined> {
  const head = await lockHead(connection, owner, id);
  // Removed since it was found.
  if (head === undefined) return undefined;
  const rows = await connection.query({
    name: "due_requests",
    text: `SELECT request_id FROM parley.input_request WHERE log = $1 AND turn = $2 AND NOT logged
      AND response IS NULL AND expires_at <= statement_timestamp()`,
    values: [head.log, head.turnCount],
  });
  if (rows.length === 0 || head.turnId === undefined) return undefined;
  const due = new Set(rows.map((row) => originalText(String(row.request_id))));
  const open = await openRequests(connection, head);
  const denied = open.filter(({ requestId }) => due.has(requestId)).map((each) => deniedBy(each, "expiry"));
  await recordResponses(connection, head, denied, false);
  if (head.waiting) await reopen(connection, head, "");
  await connection.batch(touchStatements(head));
  return head.log;
}
