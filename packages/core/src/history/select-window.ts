import type { ConversationMessage } from "../messages/message.js";
import type { HistoryEntry } from "../ports.js";
import { chooseWindow, hasStep, type WindowSelection } from "./choose-window.js";
import { addCost, type ContextCost, fits, noCost, remainingBudget, sumCost } from "./context-cost.js";
import { type ActiveSummary, createCoveredRanges } from "./covered-ranges.js";
import type { HistoryBudget } from "./history-builder.js";
import type { MessageMeter } from "./message-tokens.js";
import { createTurnGrouper, type TurnGroup } from "./turn-grouper.js";
import { isBefore, type MeasuredTurn, measurePiece } from "./window-piece.js";

/** How a window is chosen. */
export interface WindowOptions {
  readonly budget?: HistoryBudget | undefined;
  readonly measure: MessageMeter;
  /** What instructions and tools take of the budget. They always stay. */
  readonly fixed?: ContextCost | undefined;
  /** The input of the newest turn. Always stays, behind everything that is offered. */
  readonly input?: readonly ConversationMessage[] | undefined;
  /** What the newest turn has added behind its input. */
  readonly turnMessages?: readonly ConversationMessage[] | undefined;
  /** Where the last window began: this one begins there too, as long as that fits. */
  readonly keepFrom?: number | undefined;
  /**
   * The share of the budget that is set free when messages must go, so that the window does not move, and the
   * provider's cache does not miss, with every further message. Default 0.25; 0 keeps as much as fits.
   */
  readonly slack?: number | undefined;
}

/** Chooses a window from entries that are offered newest first. */
export interface WindowSelector {
  /** Takes the next older entry. `full`: nothing older can become part of the window. */
  offer(entry: HistoryEntry): "more" | "full";
  /** The window. Throws `context_overflow` if what must stay does not fit. */
  finish(): WindowSelection;
}

/**
 * The selection as a fold. Entries are gathered into turns. The newest turn comes first, then older turns as
 * wholes, for as long as they fit. A summary is weighed where its row lies in the log, and shown in place of
 * what it covers. What is taken is always the beginning of one fixed order, so a larger budget never keeps less.
 *
 * If the newest turn alone does not fit, it is taken from its newest steps: its inputs and its last step must
 * fit, older steps go. A turn that has only its input yet takes the turn before it into this rule, so that
 * a long turn is not forgotten as a whole by the message that follows it.
 */
export function createWindowSelector(options: WindowOptions): WindowSelector {
  const { measure, keepFrom, fixed = noCost } = options;
  const limit = remainingBudget(options.budget, fixed);
  const grouper = createTurnGrouper();
  const covered = createCoveredRanges();
  const tail = new Map<string, HistoryEntry>();
  const inputIds = new Set<string>();
  for (const message of options.input ?? []) {
    tail.set(message.id, { message });
    inputIds.add(message.id);
  }
  for (const message of options.turnMessages ?? []) tail.set(message.id, { message });

  // Turns and summaries in the order in which they are weighed: by their newest row.
  const taken: (MeasuredTurn | ActiveSummary)[] = [];
  // Summaries whose row lies behind the beginning of a turn that is still being gathered.
  let waiting: ActiveSummary[] = [];
  // The place at which an entry was offered, to weigh a summary among the steps of a turn.
  const rank = new Map<string, number>();
  const rankOf = (messageId: string) => rank.get(messageId) ?? 0;
  let turns = 0;
  let isFloorComplete = false;
  let cost = noCost;
  let openCost = noCost;
  let nextLook = 0;
  let isTailTaken = false;
  let stop: "budget" | "kept" | "covered" | undefined;

  function takeTurns(groups: readonly TurnGroup[]): void {
    for (const [index, group] of groups.entries()) {
      const turn = { pieces: group.pieces.map((piece) => measurePiece(piece.kind, piece.entries, measure)) };
      taken.push(turn);
      cost = addCost(cost, sumCost(turn.pieces.map((piece) => piece.cost)));
      turns += 1;
      isFloorComplete ||= turns > 1 || hasStep(turn);
      takeSummaries(groups[index + 1]?.entries.at(-1) ?? grouper.open()[0]);
    }
    if (groups.length > 0) weighOpen(sumCost(grouper.open().map(weigh)));
  }

  /** Takes the summaries whose row is newer than the next turn. */
  function takeSummaries(next?: HistoryEntry): void {
    const nextRank = next === undefined ? Number.POSITIVE_INFINITY : rankOf(next.message.id);
    for (const summary of waiting.filter(({ entry }) => rankOf(entry.message.id) < nextRank)) {
      taken.push(summary);
      cost = addCost(cost, weigh(summary.entry));
    }
    waiting = waiting.filter(({ entry }) => rankOf(entry.message.id) >= nextRank);
  }

  function weighOpen(weight: ContextCost): void {
    openCost = weight;
    nextLook = 0;
  }

  // A turn that is being gathered is weighed as it is read, with results that may turn out to answer nothing. Before
  // the reading ends for that, what is sure to stay is weighed: not with each entry, as it takes a look at all of them.
  function isOver(): boolean {
    if (fits(addCost(cost, openCost), limit)) return false;
    const open = grouper.open();
    if (open.length < nextLook) return false;
    nextLook = open.length + 1 + Math.floor(open.length / 8);
    const own = open.filter((entry) => !isBefore(entry, keepFrom)).reverse();
    openCost = measurePiece("step", own, measure).cost;
    return !fits(addCost(cost, openCost), limit);
  }

  // What lies before the start of the last window is not weighed while reading.
  function weigh(entry: HistoryEntry): ContextCost {
    return isBefore(entry, keepFrom) ? noCost : measure(entry.message);
  }

  // Only now it is known which of the turn's own messages a summary of the turn's middle stands for.
  function takeTail(): void {
    if (isTailTaken) return;
    isTailTaken = true;
    const own = [...tail.values()].filter((entry) => inputIds.has(entry.message.id) || !covered.hides(entry));
    const groups = grouper.addTurn(own);
    takeTurns(groups);
    if (groups.length === 0) weighOpen(sumCost(own.map(weigh)));
  }

  function offer(entry: HistoryEntry): void {
    rank.set(entry.message.id, rank.size + 1);
    const known = tail.get(entry.message.id);
    if (known !== undefined) {
      tail.set(entry.message.id, { ...entry, message: known.message });
      return;
    }
    if (entry.covers !== undefined) {
      const summary = covered.add(entry, entry.covers);
      if (summary !== undefined) waiting.push(summary);
      return;
    }
    if (covered.hides(entry)) {
      if (covered.hidesFromHere(entry)) stop = "covered";
      return;
    }
    takeTail();
    const before = turns;
    takeTurns(grouper.add(entry));
    if (turns === before) openCost = addCost(openCost, weigh(entry));
    if (isFloorComplete && grouper.hasJustBegun() && isBefore(entry, keepFrom)) stop = "kept";
    else if (isFloorComplete && !grouper.awaitsCall() && isOver()) stop = "budget";
  }

  return {
    offer(entry) {
      if (stop === undefined) offer(entry);
      return stop === undefined ? "more" : "full";
    },
    finish() {
      takeTail();
      const isCut = stop === "budget" || stop === "kept";
      if (!isCut) {
        takeTurns(grouper.end());
        takeSummaries();
      }
      return chooseWindow({
        taken,
        beyond: isCut ? [...grouper.open(), ...waiting.map((summary) => summary.entry)] : [],
        isOverBudget: stop === "budget",
        rankOf,
        measure,
        fixed,
        limit,
        slack: options.slack ?? 0.25,
        keepFrom,
      });
    },
  };
}

/**
 * The window of a history that is given newest first. Reads no further than the budget reaches, so a lazy
 * sequence of any length will do.
 */
export function selectWindow(entries: Iterable<HistoryEntry>, options: WindowOptions): WindowSelection {
  const selector = createWindowSelector(options);
  for (const entry of entries) if (selector.offer(entry) === "full") break;
  return selector.finish();
}
