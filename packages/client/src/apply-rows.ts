import type { StepId, StoredChunk, ToolTiming } from "@parley/wire";
import { activeFrom, withoutPrinted } from "./apply-event.js";
import type { StepState, TurnState } from "./conversation-state.js";
import type { Fold } from "./fold.js";
import { given } from "./given.js";
import { withChunks } from "./message-log.js";
import { withoutQueued } from "./queue.js";
import { isRetryable } from "./retryable.js";
import { newTurn, turnOf, withTurns } from "./turn-table.js";

/**
 * Takes in chunks of the log: messages, and what they say about their turns. `openTurnId` is the turn that is
 * known to be open where they came from. The same fold when all of them were here.
 */
export function withRows(fold: Fold, chunks: readonly StoredChunk[], openTurnId: string | undefined): Fold {
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
  const turns: TurnState[] = [];
  for (const [turnId, rows] of byTurn) {
    const known = turnOf(fold.turns, turnId);
    const isOpen = turnId === openTurnId || turnId === fold.activeTurn?.turnId;
    const isReported = fold.turns.reported.has(turnId);
    turns.push(turnWithRows(known ?? { ...newTurn(turnId), status: "sealed" }, rows, { isOpen, isReported }));
  }
  const running = turns.find(({ status }) => status === "running");
  const activeTurn = running === undefined ? fold.activeTurn : activeFrom(running, fold.activeTurn);
  return withoutQueued({ ...fold, log, turns: withTurns(fold.turns, turns), activeTurn }, ids);
}

function turnWithRows(
  turn: TurnState,
  rows: readonly StoredChunk[],
  { isOpen, isReported }: { readonly isOpen: boolean; readonly isReported: boolean },
): TurnState {
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
    // Of a turn whose end was not told, rows that come while it is open say that it runs.
    status: turn.status === "sealed" && isOpen && turn.reason === undefined ? "running" : turn.status,
    steps: isReported ? turn.steps : stepsWithRows(turn, rows),
    toolOutput: withoutPrinted(turn.toolOutput, answered),
    firstSeq,
    lastSeq,
    ...given({ error }),
  };
}

/** Rows tell which steps there are, that their generation has ended, and how their tools fared. */
function stepsWithRows(turn: TurnState, rows: readonly StoredChunk[]): readonly StepState[] {
  const steps = new Map(turn.steps.map((step) => [step.stepId, step]));
  // A page of history may bring the beginning of a turn after its end.
  const earlier: StepId[] = [];
  const earlierTools = new Map<StepId, ToolTiming[]>();
  for (const { seq, stepId, role, chunk } of rows) {
    if (stepId === undefined) continue;
    const isEarlier = turn.firstSeq !== undefined && seq < turn.firstSeq;
    const before = steps.get(stepId);
    if (before === undefined && isEarlier) earlier.push(stepId);
    let step: StepState = before ?? { stepId, complete: false };
    if (role === "assistant" && !step.complete) step = { ...step, complete: true };
    if (chunk.type === "tool-result") {
      const timing = timingOf(chunk);
      if (isEarlier) earlierTools.set(stepId, [...(earlierTools.get(stepId) ?? []), timing]);
      else step = { ...step, tools: [...(step.tools ?? []), timing] };
    }
    steps.set(stepId, step);
  }
  for (const [stepId, tools] of earlierTools) {
    const step = steps.get(stepId) as StepState;
    steps.set(stepId, { ...step, tools: [...tools, ...(step.tools ?? [])] });
  }
  const isFirst = new Set(earlier);
  const inOrder = [...earlier, ...[...steps.keys()].filter((stepId) => !isFirst.has(stepId))];
  return inOrder.map((stepId) => steps.get(stepId) as StepState);
}

function timingOf(chunk: ToolTiming): ToolTiming {
  const { toolCallId, toolName, isError, durationMs } = chunk;
  return { toolCallId, toolName, isError, ...given({ durationMs }) };
}
