import { type ConversationMessage, inputEntryOfMessage, inputMessage } from "@parley/core/messages";
import type { CommitInput, HistoryEntry, OpenInputs } from "@parley/core/ports";
import type { InputResponseEntry } from "@parley/wire";
import type { Connection } from "../../database.js";
import { entriesOf, messageColumns, readMessage } from "../../message-row.js";
import type { StoreContext } from "../../store-context.js";
import { originalJson, originalText, storedJson, storedText } from "../../stored-text.js";
import { takeChangeNumber } from "../numbers.js";
import { type Head, nowMs, touchedWith } from "../turns/head.js";
import { reportClauses } from "../webhooks/report.js";
import { insertRequests } from "./request-row.js";

/** Returns true if messages hold responses to requests. */
export function holdsResponses(messages: readonly ConversationMessage[]): boolean {
  return messages.some((message) => inputEntryOfMessage(message)?.type === "input-response");
}

/**
 * Records which responses are in the log now. The caller holds the lock. Returns the messages, with the responses that
 * are in force in place of those that came too late.
 */
export async function logResponses(
  connection: Connection,
  head: Head,
  messages: readonly ConversationMessage[],
): Promise<readonly ConversationMessage[]> {
  const given = new Map<string, InputResponseEntry>();
  for (const message of messages) {
    const entry = inputEntryOfMessage(message);
    if (entry?.type === "input-response") given.set(entry.requestId, entry);
  }
  if (given.size === 0) return messages;
  const recorded = await recordResponses(connection, head, [...given.values()], true);
  return messages.map((message) => {
    const entry = inputEntryOfMessage(message);
    const response = entry?.type === "input-response" ? recorded.get(entry.requestId) : undefined;
    if (response === undefined) return message;
    const { conversationId, createdAt } = message;
    return inputMessage(response, { conversationId, createdAt });
  });
}

/** Records responses to requests that have none, reports them, and returns those in force, by request. */
export async function recordResponses(
  connection: Connection,
  { log, owner }: Pick<Head, "log" | "owner">,
  responses: readonly InputResponseEntry[],
  isLogged: boolean,
): Promise<Map<string, InputResponseEntry>> {
  const [, rows = []] = await connection.batch([
    takeChangeNumber(owner),
    {
      name: "record_responses",
      text: recordText,
      values: [
        log,
        responses.map(({ requestId }) => storedText(requestId)),
        responses.map((response) => storedJson(response)),
        isLogged,
        owner,
      ],
    },
  ]);
  return new Map(
    rows.map((row) => [
      originalText(String(row.request_id)),
      originalJson(String(row.response)) as InputResponseEntry,
    ]),
  );
}

// Reports are based on the rows as they were before: a response that was recorded has been reported.
const recordText = `
WITH ${reportClauses("input.answered", {
  owner: "$5",
  log: "r.log",
  place: "r.place",
  data: {
    conversationId: "c.id",
    title: "c.title",
    turnId: "t.id",
    requestId: "r.request_id",
    kind: "r.kind",
    toolName: "r.tool_name",
    decision: "g.response::json->>'decision'",
    via: "g.response::json->>'via'",
  },
  from: `unnest($2::text[], $3::text[]) AS g(request_id, response), parley.input_request r, parley.conversation c,
    parley.conversation_turn t`,
  where: `r.log = $1 AND r.request_id = g.request_id AND r.response IS NULL AND c.log = $1 AND t.log = $1
    AND t.ordinal = r.turn`,
})}
UPDATE parley.input_request r SET response = coalesce(r.response, g.response::json),
  decided_at = least(r.decided_at, ${nowMs}), logged = r.logged OR $4::bool
FROM unnest($2::text[], $3::text[]) AS g(request_id, response)
WHERE r.log = $1 AND r.request_id = g.request_id
RETURNING r.request_id, r.response::text AS response`;

/** A request of a turn whose response is not in the log, if there is one. */
export interface OpenRequest {
  readonly requestId: string;
  readonly kind: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly step: string;
  readonly response: InputResponseEntry | undefined;
}

/** Reads the requests of the newest turn whose responses are not in the log, in order. */
export async function openRequests(
  connection: Connection,
  head: Pick<Head, "log" | "turnCount">,
): Promise<OpenRequest[]> {
  const rows = await connection.query({
    name: "open_requests",
    text: `SELECT request_id, kind, tool_call_id, tool_name, step, response::text AS response
      FROM parley.input_request WHERE log = $1 AND turn = $2 AND NOT logged ORDER BY place`,
    values: [head.log, head.turnCount],
  });
  return rows.map((row) => ({
    requestId: originalText(String(row.request_id)),
    kind: originalText(String(row.kind)),
    toolCallId: originalText(String(row.tool_call_id)),
    toolName: originalText(String(row.tool_name)),
    step: String(row.step),
    response:
      typeof row.response === "string" ? (originalJson(row.response) as InputResponseEntry) : undefined,
  }));
}

/** Returns the response of a request that was not answered. */
export function deniedBy(
  request: Omit<OpenRequest, "step" | "kind" | "response">,
  via: string,
): InputResponseEntry {
  const { requestId, toolCallId, toolName } = request;
  return { type: "input-response", requestId, toolCallId, toolName, decision: "deny", via };
}

/** Returns the open requests, for readers. */
function openInputsOf(requests: readonly OpenRequest[]): OpenInputs | undefined {
  const pending = requests.filter(({ response }) => response === undefined);
  if (pending.length === 0) return undefined;
  return { count: pending.length, kinds: [...new Set(pending.map(({ kind }) => kind))] };
}

/** Writes the requests of a commit and, if the commit says so and nothing was answered, lets the turn wait. */
export async function commitInputs(
  store: StoreContext,
  connection: Connection,
  head: Head,
  input: CommitInput,
): Promise<{ waiting?: OpenInputs; responses: InputResponseEntry[] }> {
  const { inputs = [], wait = false, turnId } = input;
  if (inputs.length > 0) {
    await connection.batch(insertRequests(store, head, turnId, inputs));
  }
  const open = await openRequests(connection, head);
  const responses = open.flatMap(({ response }) => response ?? []);
  const pending = openInputsOf(open);
  // A turn with nothing to wait for would wait forever.
  const waits =
    head.waiting || (wait && !head.stopRequested && responses.length === 0 && pending !== undefined);
  const waiting = waits ? pending : undefined;
  await connection.batch([
    ...(waits && !head.waiting
      ? [
          {
            name: "wait_head",
            text: `UPDATE parley.conversation_head SET waiting_since = ${nowMs}, node = '' WHERE log = $1`,
            values: [head.log],
          },
          {
            name: "wait_turn",
            text: "UPDATE parley.conversation_turn SET status = 'waiting' WHERE log = $1 AND ordinal = $2",
            values: [head.log, head.turnCount],
          },
        ]
      : []),
    takeChangeNumber(head.owner),
    {
      name: "input_touch",
      text: `UPDATE parley.conversation c SET ${touchedWith("h")}
        FROM parley.conversation_head h WHERE c.log = $1 AND h.log = $1`,
      values: [head.log],
    },
  ]);
  return { responses, ...(waiting === undefined ? {} : { waiting }) };
}

/** Returns the messages that answer every request, of a turn that ends, without an answer in the log. */
export async function closingMessages(
  connection: Connection,
  head: Head,
  via: string,
  now: Date,
): Promise<ConversationMessage[]> {
  const open = await openRequests(connection, head);
  if (open.length === 0) return [];
  const responses = open.map((request) => request.response ?? deniedBy(request, via));
  const recorded = await recordResponses(connection, head, responses, true);
  const envelope = { conversationId: head.conversationId, createdAt: now };
  return responses.map((response) => inputMessage(recorded.get(response.requestId) ?? response, envelope));
}

/** Returns the entries that a seal has written before its messages, which begin at `firstSeq`: for a repeated seal. */
export async function closingEntries(
  connection: Connection,
  head: Head,
  turn: { readonly id: string; readonly firstSeq: number; readonly beforeSeq: number },
): Promise<HistoryEntry[]> {
  const rows = await connection.query({
    text: `SELECT ${messageColumns} FROM parley.conversation_message m
      WHERE m.log = $1 AND m.first_seq >= $2 AND m.first_seq < $3 ORDER BY m.first_seq DESC`,
    values: [head.log, turn.firstSeq, turn.beforeSeq],
  });
  const entries: HistoryEntry[] = [];
  for (const entry of rows.flatMap((row) => entriesOf(readMessage(row), head.conversationId))) {
    if (inputEntryOfMessage(entry.message)?.type !== "input-response") break;
    entries.unshift(entry);
  }
  return entries;
}
