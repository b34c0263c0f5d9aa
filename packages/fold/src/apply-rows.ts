import type { StepId, StoredChunk, ToolTiming } from "@parley/wire";
import { activeFrom, withoutPrinted } from "./apply-event.js";
import type { ConversationFold } from "./conversation-fold.js";
import { withChunks } from "./message-log.js";
import type { FoldedMessage, StepState, TurnState } from "./message-state.js";
import { omitUndefined } from "./omit-undefined.js";
import { withoutQueued } from "./queue.js";
import { isRetryable } from "./retryable.js";
import { newTurn, turnOf, withTurns } from "./turn-table.js";

/**
 * Adds chunks of the log: messages, and their information about turns. `openTurnId` is the turn that is known
 * to be open at their source. Returns the same fold if all of them were present.
 */
export function withRows(
  fold: ConversationFold,
  chunks: readonly StoredChunk[],
  openTurnId: string | undefined,
): ConversationFold {
  const { log, fresh } = withChunks(fold.log, chunks);
  if (fresh.length === 0) return fold;
  const byTurn = new Map<string, StoredChunk[]>();
  const ids = new Set<string>();
  for (const chunk of fresh) {
    if (chunk.messageId !== undefined) ids.add(chunk.messageId);
    if (chunk.turnId === undefined) continue;
    const group = byTurn.get(chunk.turnId);
    if (group === undefined) byTurn.set(chunk.turnId, [chunk]);
    else group.push(chunk);
  }
  const messages = messagesByTurn(log.committed, byTurn);
  const turns: TurnState[] = [];
  for (const [turnId, rows] of byTurn) {
    const known = turnOf(fold.turns, turnId);
    const isOpen = turnId === openTurnId || turnId === fold.activeTurn?.turnId;
    const isReported = fold.turns.reported.has(turnId);
    const turn = turnWithRows(known ?? { ...newTurn(turnId), status: "sealed" }, rows, isOpen);
    const steps = isReported ? turn.steps : stepsWithRows(turn.steps, messages.get(turnId) ?? []);
    turns.push({ ...turn, steps });
  }
  const running = turns.find(({ status }) => status === "running");
  const activeTurn = running === undefined ? fold.activeTurn : activeFrom(running, fold.activeTurn);
  return withoutQueued({ ...fold, log, turns: withTurns(fold.turns, turns), activeTurn }, ids);
}

/** Groups the messages of some turns, in order. */
function messagesByTurn(
  messages: readonly FoldedMessage[],
  turns: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, readonly FoldedMessage[]> {
  const found = new Map<string, FoldedMessage[]>();
  for (const message of messages) {
    const { turnId } = message;
    if (turnId === undefined || !turns.has(turnId)) continue;
    const group = found.get(turnId);
    if (group === undefined) found.set(turnId, [message]);
    else group.push(message);
  }
  return found;
}

function turnWithRows(turn: TurnState, rows: readonly StoredChunk[], isOpen: boolean): TurnState {
  const firstSeq = Math.min(
    turn.firstSeq ?? Number.POSITIVE_INFINITY,
    rows[0]?.seq ?? Number.POSITIVE_INFINITY,
  );
  const lastSeq = Math.max(turn.lastSeq ?? 0, rows.at(-1)?.seq ?? 0);
  const answered = new Set<string>();
  let { error } = turn;
  for (const { chunk } of rows) {
    if (chunk.type === "tool-result") answered.add(chunk.toolCallId);
    if (chunk.type !== "error") continue;
    const { code = "internal", message } = chunk;
    error = { code, message, retryable: isRetryable(code) };
  }
  return {
    ...turn,
    // Rows that arrive while a turn is open, and before its end is known, mean that it runs.
    status: turn.status === "sealed" && isOpen && turn.reason === undefined ? "running" : turn.status,
    toolOutput: withoutPrinted(turn.toolOutput, answered),
    firstSeq,
    lastSeq,
    ...omitUndefined({ error }),
  };
}

/**
 * Updates the steps of a turn from its rows: which steps exist, that their generation has ended, and the
 * results of their tools. Rows may arrive in any order, the start of a turn after its end: so all rows of the
 * turn are read again. A step without rows follows those that have some, because a turn writes them step by
 * step.
 */
function stepsWithRows(
  known: readonly StepState[],
  messages: readonly FoldedMessage[],
): readonly StepState[] {
  const byId = new Map(known.map((step) => [step.stepId, step]));
  const steps = new Map<StepId, StepState>();
  for (const { stepId, role, parts } of messages) {
    if (stepId === undefined) continue;
    const step = steps.get(stepId) ?? withoutTools(byId.get(stepId) ?? { stepId, complete: false });
    const timings = parts.flatMap(({ chunk }) => (chunk.type === "tool-result" ? [timingOf(chunk)] : []));
    steps.set(stepId, {
      ...step,
      complete: step.complete || role === "assistant",
      ...(timings.length === 0 ? {} : { tools: [...(step.tools ?? []), ...timings] }),
    });
  }
  return [...steps.values(), ...known.filter(({ stepId }) => !steps.has(stepId))];
}

function withoutTools({ tools: _, ...step }: StepState): StepState {
  return step;
}

function timingOf(chunk: ToolTiming): ToolTiming {
  const { toolCallId, toolName, isError, durationMs } = chunk;
  return { toolCallId, toolName, isError, ...omitUndefined({ durationMs }) };
}
