import { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { Lease, LogStore, NextTurn, OpenedTurn, QueueState } from "@parley/core/ports";
import type { Connection } from "../../database.js";
import type { StoreContext } from "../../store-context.js";
import { storedText } from "../../stored-text.js";
import { reopen } from "../input/respond.js";
import { invalid, turnActive } from "../refusals.js";
import { activeId, checkHeld, type Head, leaseColumns, leaseOf, nowMs, requireHead } from "./head.js";
import { checkTurnId, endLease, findTurnIdText, stillOpened, touchStatements } from "./open-turn.js";
import { queueState, readQueue } from "./queue-state.js";

type LeaseRequest = Parameters<LogStore["lease"]>[0];
type TakeOverRequest = Parameters<LogStore["takeOver"]>[0];
type HeldRequest = Parameters<LogStore["release"]>[0];

/** Marks what runs. A stop that was requested already is no change. */
export function requestStop(store: StoreContext, owner: string, id: string): Promise<Lease | null> {
  return store.database.transaction(async (connection) => {
    const head = await requireHead(connection, owner, id);
    if (activeId(head) === undefined) return null;
    if (head.waiting) await reopen(connection, head, "");
    const [marked = []] = await connection.batch([
      {
        name: "request_stop",
        text: `UPDATE parley.conversation_head h SET stop_requested_at = least(h.stop_requested_at, ${nowMs})
          FROM parley.conversation c WHERE h.log = $1 AND c.log = $1 RETURNING ${leaseColumns}`,
        values: [head.log],
      },
      ...(head.stopRequested ? [] : touchStatements(head)),
    ]);
    return { ...leaseOf(marked[0] ?? {}), ...(head.waiting ? { isFree: true as const } : {}) };
  });
}

/** Takes over a lease by one statement: the condition is checked on the row that the update has locked. */
export async function takeOver(
  store: StoreContext,
  owner: string,
  request: TakeOverRequest,
): Promise<Lease | null> {
  const [row] = await store.database.query({
    name: "take_over",
    text: `UPDATE parley.conversation_head h SET node = $5, fence = h.fence + 1
      FROM parley.conversation c
      WHERE c.owner = $2 AND c.id = $1 AND c.status <> 'removed' AND h.log = c.log
        AND coalesce(h.turn_id, h.compaction_id) = $3 AND h.fence = $4 AND h.waiting_since IS NULL
      RETURNING ${leaseColumns}`,
    values: [
      storedText(request.conversationId),
      owner,
      storedText(request.turnId),
      request.fence,
      storedText(request.node),
    ],
  });
  return row === undefined ? null : leaseOf(row);
}

export function release(store: StoreContext, owner: string, request: HeldRequest): Promise<void> {
  return store.database.transaction(async (connection) => {
    const head = await requireHead(connection, owner, request.conversationId);
    checkHeld(head, request.turnId, request.fence);
    await connection.query({
      text: "UPDATE parley.conversation_head SET node = '' WHERE log = $1",
      values: [head.log],
    });
  });
}

export function lease(store: StoreContext, owner: string, request: LeaseRequest): Promise<Lease> {
  const { conversationId, turnId, node } = request;
  return store.database.transaction(async (connection) => {
    const head = await requireHead(connection, owner, conversationId);
    if (head.archive) throw new ParleyError("conversation_closed");
    if (activeId(head) !== undefined) {
      if (head.compactionId !== turnId || head.node !== node) throw turnActive(head);
      const [row] = await connection.query({
        text: `SELECT ${leaseColumns} FROM parley.conversation_head h JOIN parley.conversation c ON c.log = h.log
          WHERE h.log = $1`,
        values: [head.log],
      });
      return leaseOf(row ?? {});
    }
    await checkTurnId(connection, head, turnId);
    const [taken = []] = await connection.batch([
      {
        text: `UPDATE parley.conversation_head h SET compaction_id = $2, node = $3, fence = h.fence + 1,
          stop_requested_at = NULL, started_at = ${nowMs}
          FROM parley.conversation c WHERE h.log = $1 AND c.log = $1 RETURNING ${leaseColumns}`,
        values: [head.log, storedText(turnId), storedText(node)],
      },
      ...touchStatements(head),
    ]);
    return leaseOf(taken[0] ?? {});
  });
}

export function endLeaseOf(
  store: StoreContext,
  owner: string,
  request: HeldRequest & { next: NextTurn },
): Promise<{ next?: OpenedTurn; queue: QueueState }> {
  return store.database.transaction(async (connection) => {
    const head = await requireHead(connection, owner, request.conversationId);
    if (activeId(head) !== request.turnId) {
      const before = await endedBefore(connection, head, request);
      if (before !== undefined) return before;
    }
    checkHeld(head, request.turnId, request.fence);
    if (head.compactionId === undefined) throw invalid("A turn is ended by sealing it");
    await checkTurnId(connection, head, request.next.turnId);
    const { next, queue } = await endLease(store, connection, head, request.next);
    return { ...omitUndefined({ next }), queue };
  });
}

/**
 * Answers a repeated call that has already ended a compaction's lease: the same answer, as long as nothing has happened
 * since.
 */
async function endedBefore(
  connection: Connection,
  head: Head,
  request: { turnId: string; fence: number; next: NextTurn },
): Promise<{ next?: OpenedTurn; queue: QueueState } | undefined> {
  const following = activeId(head);
  if (following === undefined) {
    if (head.fence !== request.fence) return undefined;
  } else if (following !== request.next.turnId || head.fence !== request.fence + 1) return undefined;
  const [sealed] = await connection.query({
    name: "find_turn_id",
    text: findTurnIdText,
    values: [storedText(request.turnId), head.log],
  });
  if (sealed !== undefined) return undefined;
  const next =
    following === undefined ? undefined : await stillOpened(connection, head, following, request.next.node);
  const queue = queueState(await readQueue(connection, head), head.queuePaused);
  return { ...omitUndefined({ next }), queue };
}
