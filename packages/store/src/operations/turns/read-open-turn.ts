import type { LogStore, OpenTurnState } from "@parley/core/ports";
import { entriesOf, messageJson, type ReadMessage } from "../../message-row.js";
import { originalSteps } from "../../packed-metrics.js";
import { readCalls } from "../../provider-calls.js";
import type { StoreContext } from "../../store-context.js";
import { originalJson, originalText, storedText } from "../../stored-text.js";
import { inputRecords, requestJson } from "../input/request-row.js";
import { readChoices } from "./open-turn.js";

/**
 * Reads the turn, its rows and its journal in one statement, so in one snapshot: read one after the other, a commit in
 * between would show a step in both places or in neither.
 */
export async function readOpenTurn(
  store: StoreContext,
  owner: string,
  query: Parameters<LogStore["readOpenTurn"]>[0],
): Promise<OpenTurnState | null> {
  const { conversationId } = query;
  const [row] = await store.database.query({
    name: "read_open_turn",
    text: readOpenTurnText,
    values: [storedText(conversationId), owner, query.afterN ?? -1, query.fence ?? null],
  });
  if (row === undefined) return null;
  const turnId = originalText(String(row.turn_id));
  const rows = typeof row.rows === "string" ? (originalJson(row.rows) as ReadMessage[]) : [];
  const journal = typeof row.journal === "string" ? (originalJson(row.journal) as JournalJson[]) : [];
  const log = Number(row.log);
  return {
    log,
    turnId,
    fence: Number(row.fence),
    node: originalText(String(row.node)),
    choices: readChoices(row),
    startedAt: Math.round(Number(row.started_ms)),
    elapsedMs: Math.max(0, Math.round(Number(row.elapsed_ms))),
    stopRequested: row.stop_requested === true,
    waitedMs: Math.round(Number(row.waited_ms)),
    ...(typeof row.waiting_ms === "number" ? { waitingSince: Math.round(row.waiting_ms) } : {}),
    inputs: inputRecords(row.inputs),
    entries: rows.flatMap((read) => entriesOf(read, conversationId)),
    steps: typeof row.steps === "string" ? originalSteps(originalJson(row.steps) as unknown[], turnId) : [],
    providerCalls: readCalls(row.provider_calls),
    journal: journal.map(({ epoch, first_n, event_count, data }) => ({
      log,
      owner: originalText(owner),
      turnId,
      fence: epoch,
      firstN: first_n,
      count: event_count,
      data,
    })),
  };
}

interface JournalJson {
  readonly epoch: number;
  readonly first_n: number;
  readonly event_count: number;
  readonly data: string;
}

const readOpenTurnText = `
SELECT h.log::float8 AS log, h.turn_id, h.fence, h.node, h.stop_requested_at IS NOT NULL AS stop_requested, t.model, t.effort, t.instructions, t.tools::text AS tools,
  t.other_choices::text AS other_choices,
  t.waited_ms, date_part('epoch', h.waiting_since) * 1000 AS waiting_ms, (
    SELECT json_agg(${requestJson} ORDER BY r.place)::text FROM parley.input_request r
    WHERE r.log = h.log AND r.turn = h.turn_count
  ) AS inputs,
  date_part('epoch', t.started_at) * 1000 AS started_ms,
  date_part('epoch', clock_timestamp() - t.started_at) * 1000 AS elapsed_ms, t.steps::text AS steps,
  t.provider_calls::text AS provider_calls, (
    SELECT json_agg(${messageJson} ORDER BY m.first_seq)::text FROM parley.conversation_message m
    WHERE m.log = h.log AND m.first_seq BETWEEN t.first_seq AND t.last_seq
  ) AS rows, (
    SELECT json_agg(json_build_object('epoch', j.epoch, 'first_n', j.first_n, 'event_count', j.event_count,
      'data', j.data) ORDER BY j.first_n)::text
    FROM parley.turn_journal j
    WHERE j.log = h.log AND j.turn = h.turn_count AND j.first_n + j.event_count - 1 >
      CASE WHEN $4::int4 IS NULL OR $4::int4 = h.fence THEN $3::int4 ELSE -1 END
  ) AS journal
FROM parley.conversation c JOIN parley.conversation_head h ON h.log = c.log
JOIN parley.conversation_turn t ON t.log = h.log AND t.ordinal = h.turn_count
WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed' AND h.turn_id IS NOT NULL`;
