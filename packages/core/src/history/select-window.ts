import { HiddenParts, hiddenEntryOfMessage } from "../messages/hidden-entry.js";
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
  /** The most turns to take before the newest one. Default: as many as fit. */
  readonly maxTurns?: number | undefined;
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
  return new Selection(options);
}

class Selection implements WindowSelector {
  readonly #options: WindowOptions;
  readonly #fixed: ContextCost;
  readonly #limit: ContextCost;
  readonly #grouper = createTurnGrouper();
  readonly #covered = createCoveredRanges();
  readonly #hidden = new HiddenParts();
  readonly #tail = new Map<string, HistoryEntry>();
  readonly #inputIds: ReadonlySet<string>;
  /** Turns and summaries in the order in which they are weighed: by their newest row. */
  readonly #taken: (MeasuredTurn | ActiveSummary)[] = [];
  /** Summaries whose row lies behind the beginning of a turn that is still being gathered. */
  #waiting: ActiveSummary[] = [];
  /** The place at which an entry was offered, to weigh a summary among the steps of a turn. */
  readonly #rank = new Map<string, number>();
  readonly #rankOf = (messageId: string) => this.#rank.get(messageId) ?? 0;
  #turns = 0;
  /** How many turns may be taken, with the newest one. */
  readonly #maxTurns: number;
  /** What was read and belongs to a turn too many, newest first. */
  readonly #tooMany: HistoryEntry[] = [];
  #isFloorComplete = false;
  #cost = noCost;
  #openCost = noCost;
  #nextLook = 0;
  #isTailTaken = false;
  #stop: "budget" | "kept" | "covered" | "turns" | undefined;

  constructor(options: WindowOptions) {
    const { input = [], turnMessages = [] } = options;
    this.#options = options;
    this.#fixed = options.fixed ?? noCost;
    this.#limit = remainingBudget(options.budget, this.#fixed);
    this.#inputIds = new Set(input.map(({ id }) => id));
    for (const message of input) this.#tail.set(message.id, { message });
    for (const message of turnMessages) this.#tail.set(message.id, { message });
    this.#maxTurns = (options.maxTurns ?? Number.POSITIVE_INFINITY) + (this.#tail.size > 0 ? 1 : 0);
  }

  offer(entry: HistoryEntry): "more" | "full" {
    const shown = this.#shown(entry);
    if (this.#stop === undefined && shown !== undefined) this.#take(shown);
    return this.#stop === undefined ? "more" : "full";
  }

  finish(): WindowSelection {
    this.#takeTail();
    const isCut = this.#stop !== undefined && this.#stop !== "covered";
    if (!isCut) {
      this.#takeTurns(this.#grouper.end());
      this.#takeSummaries();
    }
    const { measure, keepFrom, slack = 0.25 } = this.#options;
    return chooseWindow({
      taken: this.#taken,
      beyond: [
        ...this.#tooMany,
        ...(isCut ? [...this.#grouper.open(), ...this.#waiting.map((summary) => summary.entry)] : []),
      ],
      isComplete: !isCut || this.#stop === "turns",
      isOverBudget: this.#stop === "budget",
      rankOf: this.#rankOf,
      measure,
      fixed: this.#fixed,
      limit: this.#limit,
      slack,
      keepFrom,
    });
  }

  /** What a later entry has not hidden. */
  #shown(entry: HistoryEntry): HistoryEntry | undefined {
    const hidden = hiddenEntryOfMessage(entry.message);
    if (hidden !== undefined) {
      this.#hidden.add(hidden);
      return undefined;
    }
    const message = this.#hidden.without(entry.message);
    if (message === undefined || message === entry.message) return message === undefined ? undefined : entry;
    return { ...entry, message };
  }

  #take(entry: HistoryEntry): void {
    this.#rank.set(entry.message.id, this.#rank.size + 1);
    const known = this.#tail.get(entry.message.id);
    if (known !== undefined) {
      this.#tail.set(entry.message.id, { ...entry, message: known.message });
      return;
    }
    if (entry.covers !== undefined) {
      const summary = this.#covered.add(entry, entry.covers);
      if (summary !== undefined) this.#waiting.push(summary);
      return;
    }
    if (this.#covered.hides(entry)) {
      if (this.#covered.hidesFromHere(entry)) this.#stop = "covered";
      return;
    }
    this.#takeTail();
    const before = this.#turns;
    this.#takeTurns(this.#grouper.add(entry));
    if (this.#turns === before) this.#openCost = addCost(this.#openCost, this.#weigh(entry));
    if (this.#turns >= this.#maxTurns && !this.#grouper.awaitsCall()) this.#stop = "turns";
    if (!this.#isFloorComplete || this.#stop !== undefined) return;
    if (this.#grouper.hasJustBegun() && isBefore(entry, this.#options.keepFrom)) this.#stop = "kept";
    else if (!this.#grouper.awaitsCall() && this.#isOver()) this.#stop = "budget";
  }

  /** Only now it is known which of the turn's own messages a summary of the turn's middle stands for. */
  #takeTail(): void {
    if (this.#isTailTaken) return;
    this.#isTailTaken = true;
    const own = [...this.#tail.values()].filter(
      (entry) => this.#inputIds.has(entry.message.id) || !this.#covered.hides(entry),
    );
    const groups = this.#grouper.addTurn(own);
    this.#takeTurns(groups);
    if (groups.length === 0) this.#weighOpen(own);
  }

  #takeTurns(groups: readonly TurnGroup[]): void {
    const { measure } = this.#options;
    for (const [index, group] of groups.entries()) {
      if (this.#turns >= this.#maxTurns) {
        this.#tooMany.push(...group.entries.toReversed());
        continue;
      }
      const turn = { pieces: group.pieces.map((piece) => measurePiece(piece.kind, piece.entries, measure)) };
      this.#taken.push(turn);
      this.#cost = addCost(this.#cost, sumCost(turn.pieces.map((piece) => piece.cost)));
      this.#turns += 1;
      this.#isFloorComplete ||= this.#turns > 1 || hasStep(turn);
      this.#takeSummaries(groups[index + 1]?.entries.at(-1) ?? this.#grouper.open()[0]);
    }
    if (groups.length > 0) this.#weighOpen(this.#grouper.open());
  }

  /** Takes the summaries whose row is newer than the next turn. */
  #takeSummaries(next?: HistoryEntry): void {
    const nextRank = next === undefined ? Number.POSITIVE_INFINITY : this.#rankOf(next.message.id);
    const rankOf = ({ entry }: ActiveSummary) => this.#rankOf(entry.message.id);
    for (const summary of this.#waiting.filter((each) => rankOf(each) < nextRank)) {
      this.#taken.push(summary);
      this.#cost = addCost(this.#cost, this.#weigh(summary.entry));
    }
    this.#waiting = this.#waiting.filter((each) => rankOf(each) >= nextRank);
  }

  #weighOpen(entries: readonly HistoryEntry[]): void {
    this.#openCost = sumCost(entries.map((entry) => this.#weigh(entry)));
    this.#nextLook = 0;
  }

  /** What lies before the start of the last window is not weighed while reading. */
  #weigh(entry: HistoryEntry): ContextCost {
    const { keepFrom, measure } = this.#options;
    return isBefore(entry, keepFrom) ? noCost : measure(entry.message);
  }

  /**
   * A turn that is being gathered is weighed as it is read, with results that may turn out to answer nothing. Before
   * the reading ends for that, what is sure to stay is weighed: not with each entry, as it takes a look at all of them.
   */
  #isOver(): boolean {
    if (fits(addCost(this.#cost, this.#openCost), this.#limit)) return false;
    const { keepFrom, measure } = this.#options;
    const open = this.#grouper.open();
    if (open.length < this.#nextLook) return false;
    this.#nextLook = open.length + 1 + Math.floor(open.length / 8);
    const own = open.filter((entry) => !isBefore(entry, keepFrom)).reverse();
    this.#openCost = measurePiece("step", own, measure).cost;
    return !fits(addCost(this.#cost, this.#openCost), this.#limit);
  }
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
