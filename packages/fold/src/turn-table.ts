import type { StepId } from "@parley/wire";
import type { StepState, TurnState } from "./message-state.js";

/**
 * The turns of a conversation: the running one is separate from the others, so that a delta changes only that
 * one.
 */
export interface TurnTable {
  readonly settled: Readonly<Record<string, TurnState>>;
  readonly live: TurnState | undefined;
  /** Turns whose figures came from the metrics, which are final. */
  readonly reported: ReadonlySet<string>;
}

export const noTurns: TurnTable = { settled: {}, live: undefined, reported: new Set() };

const joined = new WeakMap<TurnTable, Readonly<Record<string, TurnState>>>();

/** Returns all turns by id; joined once per table, on first use. */
export function turnsOf(table: TurnTable): Readonly<Record<string, TurnState>> {
  const { settled, live } = table;
  if (live === undefined) return settled;
  let all = joined.get(table);
  if (all === undefined) {
    all = { ...settled, [live.turnId]: live };
    joined.set(table, all);
  }
  return all;
}

/** Creates the table from a record of turns. */
export function tableOf(turns: Readonly<Record<string, TurnState>>): TurnTable {
  const live = Object.values(turns).find(({ status }) => status === "running");
  if (live === undefined) return { ...noTurns, settled: turns };
  const { [live.turnId]: _, ...settled } = turns;
  return { ...noTurns, settled, live };
}

export function turnOf({ settled, live }: TurnTable, turnId: string): TurnState | undefined {
  if (live?.turnId === turnId) return live;
  return Object.hasOwn(settled, turnId) ? settled[turnId] : undefined;
}

/** Adds a turn, replacing its previous state. */
export function withTurn(table: TurnTable, turn: TurnState): TurnTable {
  const { settled, live } = table;
  if (turn.status === "running") {
    if (live === undefined || live.turnId === turn.turnId) {
      if (!Object.hasOwn(settled, turn.turnId)) return { ...table, live: turn };
      const { [turn.turnId]: _, ...others } = settled;
      return { ...table, settled: others, live: turn };
    }
    // Only one turn runs at a time: the other one has ended, for whatever reason.
    return withTurn(settle(table, live.turnId), turn);
  }
  return {
    ...table,
    settled: { ...settled, [turn.turnId]: turn },
    live: live?.turnId === turn.turnId ? undefined : live,
  };
}

/** Adds turns, replacing their previous states. */
export function withTurns(table: TurnTable, turns: readonly TurnState[]): TurnTable {
  const sealed = turns.filter(({ status }) => status === "sealed");
  const running = turns.filter(({ status }) => status === "running");
  let next = table;
  if (sealed.length > 0) {
    const settled = { ...table.settled };
    for (const turn of sealed) settled[turn.turnId] = turn;
    const isEnded = sealed.some(({ turnId }) => turnId === table.live?.turnId);
    next = { ...table, settled, live: isEnded ? undefined : table.live };
  }
  return running.reduce(withTurn, next);
}

/**
 * Ends a turn. State that is only for watching is removed, so that a turn that was followed is the same as
 * one that was loaded.
 */
export function settle(table: TurnTable, turnId: string, ending: Partial<TurnState> = {}): TurnTable {
  const known = turnOf(table, turnId) ?? newTurn(turnId);
  const { startedAt: _, ...turn } = known;
  const steps = turn.steps.some(({ complete }) => !complete)
    ? turn.steps.map((step) => (step.complete ? step : { ...step, complete: true }))
    : turn.steps;
  return withTurn(table, { ...turn, ...ending, steps, status: "sealed", toolOutput: nothingPrinted });
}

export const nothingPrinted: TurnState["toolOutput"] = {};

export function newTurn(turnId: string): TurnState {
  return { turnId, status: "running", steps: [], toolOutput: nothingPrinted };
}

/** Returns a turn with more known about one of its steps; the same turn if that was already known. */
export function withStep(turn: TurnState, stepId: StepId, known: Partial<StepState> = {}): TurnState {
  const at = turn.steps.findLastIndex((step) => step.stepId === stepId);
  const step = turn.steps[at];
  if (step === undefined) {
    return { ...turn, steps: [...turn.steps, { stepId, complete: false, ...known }] };
  }
  const isKnown = Object.entries(known).every(([key, value]) => step[key as keyof StepState] === value);
  return isKnown ? turn : { ...turn, steps: turn.steps.with(at, { ...step, ...known }) };
}
