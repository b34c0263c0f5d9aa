import type { DroppedRange } from "@parley/wire";
import { ParleyError } from "../errors.js";
import type { HistoryEntry } from "../ports.js";
import { addCost, type ContextCost, costUnits, fits, noCost, scaleCost, sumCost } from "./context-cost.js";
import { type ActiveSummary, type SeqRange, seqsOf, subtractRanges } from "./covered-ranges.js";
import type { MessageMeter } from "./message-tokens.js";
import { calibrated } from "./token-scale.js";
import { isBefore, type MeasuredTurn, measurePiece, type WindowPiece } from "./window-piece.js";

/** Contents of a window, and what it leaves out. */
export interface WindowSelection {
  /** In the order in which the model reads them. */
  readonly pieces: readonly WindowPiece[];
  /** Cost of everything that is shown, with instructions and tools. */
  readonly cost: ContextCost;
  /** True if messages did not fit. A message that a summary replaces has not been cut off. */
  readonly truncated: boolean;
  /** Number of messages that were read and did not fit. */
  readonly left: number;
  /** By seq, oldest first. */
  readonly dropped: readonly DroppedRange[];
  /** True if every turn and every summary that was read is shown, and each of them whole. */
  readonly isWhole: boolean;
}

/** Entries that were read, and the rules for choosing from them. */
export interface WindowCandidates {
  /** Turns and summaries as they lie in the log, newest first. */
  readonly taken: readonly (MeasuredTurn | ActiveSummary)[];
  /** Entries that were read and cannot be part of the window, if reading stopped early. */
  readonly beyond: readonly HistoryEntry[];
  /** True if everything that may be shown was read: to the beginning, or as many turns as are wanted. */
  readonly isComplete: boolean;
  /** True if reading stopped because the budget was full. */
  readonly isOverBudget: boolean;
  /** The place of an entry, by message id, counted from the newest. */
  readonly rankOf: (messageId: string) => number;
  readonly measure: MessageMeter;
  /** Calibration of the meter's tokens. */
  readonly factor: number;
  /** Cost of instructions and tools; `limit` is what the budget leaves beside them. */
  readonly fixed: ContextCost;
  readonly limit: ContextCost;
  readonly slack: number;
  readonly keepFrom: number | undefined;
}

/** A stretch that is taken or left as a whole. */
interface Slot {
  readonly pieces: readonly WindowPiece[];
  readonly cost: ContextCost;
  readonly summary?: ActiveSummary;
}

interface Slots {
  /** In the order of taking. */
  readonly all: readonly Slot[];
  /** Number of slots that must stay: the newest input with the newest step, or nothing. */
  readonly required: number;
  /** Number of slots that make up the turns that are cut at steps rather than left out. */
  readonly floor: number;
}

/**
 * Puts turns and summaries in the order of taking and takes the beginning that fits. Throws `context_overflow` if not
 * even the newest input with the newest step fits.
 */
export function chooseWindow(candidates: WindowCandidates): WindowSelection {
  const slots = orderSlots(candidates);
  requireFit(sumCost(slots.all.slice(0, slots.required).map((slot) => slot.cost)), candidates);
  const kept = keepStart(slots, candidates) ?? takeAll(slots, candidates) ?? cutBack(slots, candidates);
  const isKept = new Set(kept.flatMap((slot) => slot.pieces));
  // In most cases everything is kept.
  const left =
    kept === slots.all
      ? candidates.beyond
      : [
          ...slots.all.flatMap((slot) =>
            slot.pieces.flatMap((piece) => (isKept.has(piece) ? [] : piece.entries)),
          ),
          ...candidates.beyond,
        ];
  const isWhole = kept.length === slots.all.length && kept.every((slot, place) => slot === slots.all[place]);
  return { ...describe(kept, isKept, left, candidates), isWhole };
}

function requireFit(cost: ContextCost, { limit, fixed, factor }: WindowCandidates): void {
  for (const unit of costUnits) {
    if (cost[unit] <= limit[unit]) continue;
    const reported = (amount: number) => (unit === "tokens" ? calibrated(amount, { factor }) : amount);
    throw new ParleyError("context_overflow", undefined, {
      details: {
        unit,
        needed: reported(cost[unit] + fixed[unit]),
        available: reported(limit[unit] + fixed[unit]),
      },
    });
  }
}

function orderSlots(candidates: WindowCandidates): Slots {
  const floor: { slot: Slot; rank: number }[] = [];
  const rest: Slot[] = [];
  const rankOf = (pieces: readonly WindowPiece[]) =>
    Math.min(...pieces.flatMap((piece) => piece.entries.map((entry) => candidates.rankOf(entry.message.id))));
  let turns = 0;
  let isFloor = true;
  for (const unit of candidates.taken) {
    if ("ranges" in unit) {
      const piece = measurePiece("summary", [unit.entry], candidates.measure);
      const slot = { pieces: [piece], cost: piece.cost, summary: unit };
      if (isFloor) floor.push({ slot, rank: rankOf([piece]) });
      else rest.push(slot);
    } else if (isFloor) {
      // Without a rank of its own, the newest input stays first, whatever was offered before it.
      for (const [index, pieces] of splitForSteps(unit).entries()) {
        floor.push({ slot: slotOf(pieces), rank: turns === 0 && index === 0 ? -1 : rankOf(pieces) });
      }
      turns += 1;
      isFloor = turns < 2 && !hasStep(unit);
    } else rest.push(slotOf(unit.pieces));
  }
  floor.sort((a, b) => a.rank - b.rank);
  return {
    all: [...floor.map(({ slot }) => slot), ...rest],
    required: Math.min(turns, 1),
    floor: floor.length,
  };
}

/** Splits a turn from its newest end: the inputs with the last step, then one step after the other. */
function splitForSteps(turn: MeasuredTurn): WindowPiece[][] {
  const last = turn.pieces.findLast((piece) => piece.kind === "step");
  const isHead = (piece: WindowPiece) => piece.kind === "input" || piece === last;
  const older = turn.pieces.filter((piece) => !isHead(piece));
  return [turn.pieces.filter(isHead), ...older.toReversed().map((piece) => [piece])];
}

/** Returns true if the turn has more than its input. */
export function hasStep(turn: MeasuredTurn): boolean {
  return turn.pieces.some((piece) => piece.kind === "step");
}

function slotOf(pieces: readonly WindowPiece[]): Slot {
  return { pieces, cost: sumCost(pieces.map((piece) => piece.cost)) };
}

/** Returns the window that begins where the last one began, if there was one and this fits. */
function keepStart(slots: Slots, candidates: WindowCandidates): Slot[] | undefined {
  const { keepFrom, limit } = candidates;
  if (keepFrom === undefined || candidates.isOverBudget) return undefined;
  const kept: Slot[] = [];
  for (const [index, slot] of slots.all.entries()) {
    const part = index < slots.required ? slot : partFrom(slot, keepFrom);
    if (part !== undefined) kept.push(part);
    if (part !== slot) break;
  }
  return fits(sumCost(kept.map((slot) => slot.cost)), limit) ? kept : undefined;
}

/**
 * Returns the part of a slot that the last window had: all of it, nothing, or, if the window began inside a turn, its
 * inputs and the steps from there on.
 */
function partFrom(slot: Slot, keepFrom: number): Slot | undefined {
  const isKept = (piece: WindowPiece) => !piece.entries.some((entry) => isBefore(entry, keepFrom));
  const pieces = slot.pieces.filter((piece) => piece.kind === "input" || isKept(piece));
  if (pieces.length === slot.pieces.length && slot.pieces.some(isKept)) return slot;
  return pieces.some((piece) => piece.kind === "step") ? slotOf(pieces) : undefined;
}

function takeAll({ all }: Slots, { isComplete, limit }: WindowCandidates): readonly Slot[] | undefined {
  return isComplete && fits(sumCost(all.map((slot) => slot.cost)), limit) ? all : undefined;
}

/** Takes what fits into less than the budget, so that the next messages fit without another cut. */
function cutBack({ all, required, floor }: Slots, { limit, slack }: WindowCandidates): Slot[] {
  const isFloorWhole = fits(sumCost(all.slice(0, floor).map((slot) => slot.cost)), limit);
  const least = isFloorWhole ? floor : required;
  const target = scaleCost(limit, 1 - slack);
  let count = 0;
  let cost = noCost;
  for (const slot of all) {
    cost = addCost(cost, slot.cost);
    if (count >= least && !fits(cost, target)) break;
    count += 1;
  }
  return all.slice(0, count);
}

function describe(
  kept: readonly Slot[],
  isKept: ReadonlySet<WindowPiece>,
  left: readonly HistoryEntry[],
  candidates: WindowCandidates,
): Omit<WindowSelection, "isWhole"> {
  const pieces = arrange(kept, isKept, candidates.taken);
  return {
    pieces,
    cost: addCost(candidates.fixed, sumCost(pieces.map((piece) => piece.cost))),
    truncated: left.length > 0,
    left: left.length,
    dropped: droppedRanges(pieces, kept, left),
  };
}

/** Returns the ranges that are left out, by seq, oldest first. */
function droppedRanges(
  pieces: readonly WindowPiece[],
  kept: readonly Slot[],
  left: readonly HistoryEntry[],
): DroppedRange[] {
  const dropped: DroppedRange[] = [];
  const summaries = kept.flatMap((slot) => slot.summary ?? []);
  if (left.length === 0 && summaries.length === 0) return dropped;
  const taken: SeqRange[] = seqsOf(pieces.flatMap((piece) => piece.entries));
  for (const { entry, ranges } of summaries) {
    for (const range of subtractRanges(ranges, taken)) {
      const summarySeq = entry.firstSeq === undefined ? {} : { summarySeq: entry.firstSeq };
      dropped.push({ ...range, reason: "compacted", ...summarySeq });
    }
    taken.push(...ranges);
  }
  const newestLeft = seqsOf(left).reduce((newest, range) => Math.max(newest, range.lastSeq), 0);
  const cut = subtractRanges(newestLeft === 0 ? [] : [{ firstSeq: 1, lastSeq: newestLeft }], taken);
  for (const range of cut) dropped.push({ ...range, reason: "budget" });
  return dropped.sort((a, b) => a.firstSeq - b.firstSeq);
}

/** Returns the kept pieces in the order of the log, each summary at the start of what it covers. */
function arrange(
  kept: readonly Slot[],
  isKept: ReadonlySet<WindowPiece>,
  taken: WindowCandidates["taken"],
): WindowPiece[] {
  const pieces: WindowPiece[] = [];
  for (const unit of taken.toReversed()) {
    if ("pieces" in unit) pieces.push(...unit.pieces.filter((piece) => isKept.has(piece)));
  }
  const summaries = kept
    .flatMap(({ summary, pieces: [piece] }) =>
      summary === undefined || piece === undefined
        ? []
        : [{ piece, from: Math.min(...summary.ranges.map((range) => range.firstSeq)) }],
    )
    .sort((a, b) => a.from - b.from);
  for (const { piece, from } of summaries) {
    const at = pieces.findIndex(
      (other) => other.kind !== "summary" && other.entries.some(({ firstSeq }) => (firstSeq ?? from) >= from),
    );
    pieces.splice(at < 0 ? pieces.length : at, 0, piece);
  }
  return pieces;
}
