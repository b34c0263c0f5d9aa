import { HiddenParts, hiddenEntryOfMessage } from "../messages/hidden-entry.js";
import type { ConversationMessage } from "../messages/message.js";
import type { HistoryEntry } from "../ports.js";
import { chooseWindow, hasStep, type WindowSelection } from "./choose-window.js";
import { addCost, type ContextCost, fits, noCost, remainingBudget, sumCost } from "./context-cost.js";
import { type ActiveSummary, createCoveredRanges } from "./covered-ranges.js";
import type { HistoryBudget } from "./history-builder.js";
import type { MessageMeter } from "./message-tokens.js";
import { createTurnGrouper, type TurnGroup } from "./turn-grouper.js";
import { isBefore, type MeasuredTurn, measurePiece, type WindowPiece } from "./window-piece.js";

/** Options for choosing a window. */
export interface WindowOptions {
  readonly budget?: HistoryBudget | undefined;
  readonly measure: MessageMeter;
  /** Calibration of the meter's tokens, which the budget's are compared with. Default 1. */
  readonly factor?: number | undefined;
  /** Cost of instructions and tools. They always stay. */
  readonly fixed?: ContextCost | undefined;
  /** The input of the newest turn. Always stays, after everything that is offered. */
  readonly input?: readonly ConversationMessage[] | undefined;
  /** Messages that the newest turn has added after its input. */
  readonly turnMessages?: readonly ConversationMessage[] | undefined;
  /** Start of the last window: this one begins there too, as long as that fits. */
  readonly keepFrom?: number | undefined;
  /**
   * Share of the budget that is freed when messages must go, so that the window does not move, and the provider's
   * cache does not miss, with every further message. Default 0.25; 0 keeps as much as fits.
   */
  readonly slack?: number | undefined;
  /** Maximum number of turns to take before the newest one. Default: as many as fit. */
  readonly maxTurns?: number | undefined;
}

/** Chooses a window from entries that are offered newest first. */
export interface WindowSelector {
  /** Takes the next older entry. `full`: nothing older can become part of the window. */
  offer(entry: HistoryEntry): "more" | "full";
  /** Returns the window. Throws `context_overflow` if what must stay does not fit. */
  finish(): WindowSelection;
  /**
   * Returns the part from which a later window can be continued, if all that was offered is shown; only after
   * `finish`.
   */
  settle(window: WindowSelection): SettledWindow | undefined;
  /**
   * Returns the window in place of `finish`, if what was offered is all that was added after a settled one, and
   * everything fits. Undefined if the window has to be chosen again.
   */
  extend(settled: SettledWindow): ExtendedWindow | undefined;
}

/**
 * The part of a window that stays unchanged while the conversation continues: all turns before the newest one. It is
 * valid as long as nothing is hidden, summarized or cut off.
 */
export interface SettledWindow {
  /** In order. */
  readonly pieces: readonly WindowPiece[];
  readonly cost: ContextCost;
  /** Entries after this seq are not part of it. */
  readonly lastSeq: number;
  /** Its newest entry that is shown as part of a turn, if there is one. */
  readonly newest: HistoryEntry | undefined;
  /** Requested start of the window. */
  readonly keepFrom: number | undefined;
  /** Content that the window leaves out. */
  readonly outside: Pick<WindowSelection, "truncated" | "left" | "dropped">;
}

/** A window, and the part from which the next one can be continued. */
export interface ExtendedWindow {
  readonly window: WindowSelection;
  readonly settled: SettledWindow;
}

/**
 * Selects the window as a fold. Entries are gathered into turns. The newest turn comes first, then older turns as
 * wholes, for as long as they fit. A summary is weighed at the place of its row in the log, and shown in place of
 * what it covers. What is taken is always the beginning of one fixed order, so a larger budget never keeps less.
 *
 * If the newest turn alone does not fit, it is taken from its newest steps: its inputs and its last step must fit,
 * older steps go. If a turn has only its input yet, this rule includes the turn before it, so that a long turn is not
 * forgotten as a whole by the message that follows it.
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
  /** Summaries whose row is newer than the start of a turn that is still being gathered. */
  #waiting: ActiveSummary[] = [];
  /** The place at which an entry was offered, to weigh a summary among the steps of a turn. */
  readonly #rank = new Map<string, number>();
  readonly #rankOf = (messageId: string) => this.#rank.get(messageId) ?? 0;
  #turns = 0;
  /** Maximum number of turns to take, with the newest one. */
  readonly #maxTurns: number;
  /** Entries that were read and belong to a turn too many, newest first. */
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
    this.#limit = remainingBudget(options.budget, this.#fixed, options.factor ?? 1);
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
    const { measure, keepFrom, slack = 0.25, factor = 1 } = this.#options;
    if (!isCut && keepFrom === undefined && fits(this.#cost, this.#limit)) {
      const all = this.#allTurns();
      if (all !== undefined) return all;
    }
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
      factor,
      fixed: this.#fixed,
      limit: this.#limit,
      slack,
      keepFrom,
    });
  }

  /**
   * Returns the window that shows everything, if there is nothing to choose; undefined if a summary has to be placed.
   */
  #allTurns(): WindowSelection | undefined {
    const pieces: WindowPiece[] = [];
    for (let place = this.#taken.length - 1; place >= 0; place -= 1) {
      const unit = this.#taken[place];
      if (unit === undefined || "ranges" in unit) return undefined;
      for (const piece of unit.pieces) pieces.push(piece);
    }
    const cost = addCost(this.#fixed, this.#cost);
    return { pieces, cost, truncated: false, left: 0, dropped: [], isWhole: true };
  }

  settle(window: WindowSelection): SettledWindow | undefined {
    // If reading ended at the limit of the budget or of turns, a larger one may show more.
    if (this.#stop === "budget" || this.#stop === "turns") return undefined;
    const [newest, ...rest] = this.#taken;
    if (!window.isWhole || newest === undefined || "ranges" in newest) return undefined;
    const { pieces } = window;
    const settledPieces = pieces.slice(0, pieces.length - newest.pieces.length);
    // A summary of the newest turn's middle may be among its pieces.
    if (newest.pieces.some((piece, place) => piece !== pieces[settledPieces.length + place]))
      return undefined;
    const cost = sumCost(settledPieces.map((piece) => piece.cost));
    const { truncated, left, dropped } = window;
    return this.#settledBefore(newest, rest, {
      pieces: settledPieces,
      cost,
      keepFrom: this.#options.keepFrom,
      outside: { truncated, left, dropped },
    });
  }

  extend(settled: SettledWindow): ExtendedWindow | undefined {
    const { keepFrom, maxTurns } = this.#options;
    if (this.#stop !== undefined || maxTurns !== undefined || keepFrom !== settled.keepFrom) return undefined;
    this.#takeTail();
    const { newest: older } = settled;
    const groups = older === undefined ? this.#grouper.end() : this.#grouper.endBefore(older);
    if (groups === undefined) return undefined;
    this.#takeTurns(groups);
    const [newest, ...rest] = this.#taken;
    const cost = addCost(this.#cost, settled.cost);
    if (newest === undefined || "ranges" in newest || !fits(cost, this.#limit)) return undefined;
    const added: WindowPiece[] = [];
    for (const unit of rest.toReversed()) if ("pieces" in unit) added.push(...unit.pieces);
    const pieces = added.length === 0 ? settled.pieces : [...settled.pieces, ...added];
    const next = this.#settledBefore(newest, rest, {
      ...settled,
      pieces,
      cost: addCost(settled.cost, sumCost(added.map((piece) => piece.cost))),
    });
    if (next === undefined) return undefined;
    const window: WindowSelection = {
      pieces: [...pieces, ...newest.pieces],
      cost: addCost(this.#fixed, cost),
      ...settled.outside,
      isWhole: true,
    };
    return { window, settled: next };
  }

  /** Returns all before the newest turn, if the log has it before the newest turn. */
  #settledBefore(
    newest: MeasuredTurn,
    rest: readonly (MeasuredTurn | ActiveSummary)[],
    settled: Omit<SettledWindow, "lastSeq" | "newest"> & Partial<SettledWindow>,
  ): SettledWindow | undefined {
    let firstSeq = Number.POSITIVE_INFINITY;
    for (const { entries } of newest.pieces) {
      for (const entry of entries) firstSeq = Math.min(firstSeq, entry.firstSeq ?? Number.NaN);
    }
    // Not all of it is in the log.
    if (!Number.isFinite(firstSeq)) return undefined;
    let older: HistoryEntry | undefined;
    for (const unit of rest) {
      const newestOfUnit = "ranges" in unit ? unit.entry : newestOf(unit);
      if ((newestOfUnit?.lastSeq ?? firstSeq) >= firstSeq) return undefined;
      if ("pieces" in unit) older ??= newestOfUnit;
    }
    return { ...settled, lastSeq: firstSeq - 1, newest: older ?? settled.newest };
  }

  /** Returns the part of an entry that no later entry has hidden. */
  #shown(entry: HistoryEntry): HistoryEntry | undefined {
    const hidden = hiddenEntryOfMessage(entry.message);
    if (hidden !== undefined) {
      this.#hidden.add(hidden);
      return undefined;
    }
    const message = this.#hidden.without(entry.message);
    if (message === undefined || message === entry.message) return message === undefined ? undefined : entry;
    const { tokens: _, ...rest } = entry;
    return { ...rest, message };
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

  /** Adds the turn's own messages: only now it is known which of them a summary of the turn's middle replaces. */
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

  /** Weighs an entry. Entries before the start of the last window are not weighed while reading. */
  #weigh(entry: HistoryEntry): ContextCost {
    const { keepFrom, measure } = this.#options;
    return isBefore(entry, keepFrom) ? noCost : measure(entry.message, entry.tokens);
  }

  /**
   * Returns true if the turn being gathered exceeds the budget. It is weighed as it is read, with results that may
   * turn out to answer nothing. Before reading ends for that, what is sure to stay is weighed: not with each entry,
   * because it reads all of them.
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

/** Returns the entry of a turn with the last seq; undefined if one of them has none. */
function newestOf({ pieces }: MeasuredTurn): HistoryEntry | undefined {
  let newest: HistoryEntry | undefined;
  for (const { entries } of pieces) {
    for (const entry of entries) {
      if (entry.lastSeq === undefined) return undefined;
      if (entry.lastSeq > (newest?.lastSeq ?? 0)) newest = entry;
    }
  }
  return newest;
}

/**
 * Selects the window of a history that is given newest first. Reads no further than the budget reaches, so the
 * sequence may be lazy and of any length.
 */
export function selectWindow(entries: Iterable<HistoryEntry>, options: WindowOptions): WindowSelection {
  const selector = createWindowSelector(options);
  for (const entry of entries) if (selector.offer(entry) === "full") break;
  return selector.finish();
}
