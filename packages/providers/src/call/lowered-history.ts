import type { ProviderMessage } from "@parley/core/ports";
import { Journal } from "./journal.js";
import { isFrozen, isOwn, type PreparedMessage, prepareFrom } from "./prepare-messages.js";

/** The state of a lowering after all messages before the next one. */
export type LoweringState = Readonly<Record<string, Journal<unknown>>>;

/** Lowers prepared messages one by one. */
export interface HistoryFold<Item> {
  /** Number of items so far. A message either starts new items or is merged into the last one. */
  readonly count: number;
  push(message: PreparedMessage): void;
  /** Returns the items, after the last message. */
  end(): readonly Item[];
}

/** One API's rules for lowering a history to the items of its request. */
export interface HistoryLowering<Item, State extends LoweringState> {
  /** Key of everything except the messages that items depend on. */
  readonly key: string;
  createState(): State;
  /** `isContinued`: items precede, and the first message is not merged into the last of them. */
  begin(state: State, isContinued: boolean): HistoryFold<Item>;
}

/** A history lowered to the items of a request. */
export interface LoweredHistory<Item, State extends LoweringState> {
  /** The JSON text of the first items, with commas between them. Empty if there are none. */
  readonly settled: string;
  /** The items after those. */
  readonly items: readonly Item[];
  readonly state: State;
}

/** Lowers a history without keeping anything. */
export function lowerHistory<Item, State extends LoweringState>(
  messages: readonly ProviderMessage[],
  lowering: HistoryLowering<Item, State>,
): LoweredHistory<Item, State> {
  const state = lowering.createState();
  const fold = lowering.begin(state, false);
  for (const message of prepareFrom(messages, new Journal<string>()).messages) fold.push(message);
  return { settled: "", items: fold.end(), state };
}

/** A boundary between two items of a request, with the state at that point. */
interface Mark {
  /** Number of messages before it. */
  readonly messages: number;
  /** Number of messages up to and including those that made it a boundary between two items. */
  readonly needed: number;
  /** Number of characters of the settled text. */
  readonly characters: number;
  /** Number of call ids. */
  readonly calls: number;
  /** Sizes of the state's journals. */
  readonly sizes: readonly number[];
}

interface KeptHistory<State extends LoweringState> {
  readonly key: string;
  /** Instructions, which are created again for each request. */
  readonly head: string;
  readonly callIds: Journal<string>;
  readonly state: State;
  /** The messages of the last request. */
  messages: readonly ProviderMessage[];
  /** The JSON text of the items before the last mark. */
  settled: string;
  /** Ascending; the first one is the start. */
  readonly marks: Mark[];
}

const beginning: Mark = { messages: 0, needed: 0, characters: 0, calls: 0, sizes: [] };

/**
 * Number of items at the end of a request that are not settled. A later message can be merged into the last
 * item, and the breakpoints of a prompt cache move within the last two of the user's side.
 */
const openItems = 4;
/** Number of items before the first mark: an API's rules for the start of a request affect no later items. */
const firstItems = 2;
/** Number of marks to go back to when a request does not continue the last one. The start is one more. */
const mostMarks = 8;

/**
 * Lowered histories of live conversations. A request whose messages continue those of the last request of the
 * same conversation, by identity, costs only its new messages. The cached state of a conversation lives as
 * long as its first message.
 *
 * A mark is set only where lowering can continue as if it had never stopped: all messages before it were
 * healthy, so no later result answers one of their calls, and the message after it started a new item.
 */
export class LoweredHistories<Item, State extends LoweringState> {
  readonly #kept = new WeakMap<ProviderMessage, KeptHistory<State>>();

  /**
   * Lowers a history. Returns undefined for one that must be lowered as a whole each time: the first message
   * after the instructions must be frozen, and all must be in Parley's own form.
   */
  lower(
    messages: readonly ProviderMessage[],
    lowering: HistoryLowering<Item, State>,
  ): LoweredHistory<Item, State> | undefined {
    const first = messages.find((message) => message.role !== "system" || isFrozen(message));
    if (first === undefined || !isFrozen(first)) return undefined;
    const leading = messages.indexOf(first);
    const kept = this.#keptFor(first, JSON.stringify(messages.slice(0, leading)), lowering);
    let mark = lastMark(kept, sharedLength(kept, messages, leading));
    for (;;) {
      goBack(kept, mark);
      const { messages: start } = mark;
      const rest = messages.slice(start);
      if (!rest.every(isOwn)) return undefined;
      // Messages created for this request alone are serialized each time, and so is everything after them.
      const made = rest.findIndex((message, at) => start + at >= leading && !isFrozen(message));
      const lowered = this.#goOn(kept, { messages, rest, mark, made }, lowering);
      if (start === 0 || lowered.items.length >= openItems) return lowered;
      // The end was removed, so items that were settled are open again.
      mark = lastMark(kept, start);
    }
  }

  #keptFor(
    first: ProviderMessage,
    head: string,
    { key, createState }: HistoryLowering<Item, State>,
  ): KeptHistory<State> {
    const known = this.#kept.get(first);
    if (known?.key === key && known.head === head) return known;
    const state = createState();
    const kept: KeptHistory<State> = {
      key,
      head,
      callIds: new Journal(),
      state,
      messages: [],
      settled: "",
      marks: [{ ...beginning, sizes: sizesOf(Object.values(state)) }],
    };
    this.#kept.set(first, kept);
    return kept;
  }

  #goOn(
    kept: KeptHistory<State>,
    { messages, rest, mark, made }: Continuation,
    lowering: HistoryLowering<Item, State>,
  ): LoweredHistory<Item, State> {
    const { state, callIds } = kept;
    const { messages: prepared, isHealthy } = prepareFrom(rest, callIds);
    // If the rest is healthy, its messages have the same indices before and after the preparation.
    const fold = lowering.begin(state, mark.messages > 0);
    const places: Place[] = [];
    const journals = Object.values(state);
    const least = mark.messages > 0 ? 1 : firstItems;
    let { calls } = mark;
    for (const [at, message] of prepared.entries()) {
      const place = { at, count: fold.count, calls, sizes: sizesOf(journals) };
      fold.push(message);
      for (const part of message.content) if (part.type === "tool-call") calls += 1;
      const isBetween = message.role !== "tool" && place.count >= least && fold.count > place.count;
      if (isHealthy && isBetween && (made < 0 || at < made)) places.push(place);
      // Only the last one with enough items after it is useful.
      while (places[1] !== undefined && fold.count - places[1].count >= openItems) places.shift();
    }
    const items = fold.end();
    const last = places.findLast(({ count }) => items.length - count >= openItems);
    kept.messages = messages;
    if (last === undefined) return { settled: kept.settled, items, state };
    const texts = items.slice(0, last.count).map((item) => JSON.stringify(item));
    kept.settled = join(kept.settled, texts.join(","));
    const { calls: before, sizes } = last;
    const start = mark.messages + last.at;
    const needed = start + segmentLength(rest, last.at);
    kept.marks.push({ messages: start, needed, characters: kept.settled.length, calls: before, sizes });
    if (kept.marks.length > mostMarks + 1) kept.marks.splice(1, 1);
    return { settled: kept.settled, items: items.slice(last.count), state };
  }
}

interface Continuation {
  readonly messages: readonly ProviderMessage[];
  /** The messages after the mark. */
  readonly rest: readonly ProviderMessage[];
  readonly mark: Mark;
  /** The first of them that is not frozen; -1 if all are. */
  readonly made: number;
}

/** A position where a mark could be set. */
interface Place {
  /** The message after it. */
  readonly at: number;
  /** Number of items before it. */
  readonly count: number;
  readonly calls: number;
  readonly sizes: readonly number[];
}

/** Returns the number of messages that a request shares with the last one. */
function sharedLength<State extends LoweringState>(
  kept: KeptHistory<State>,
  messages: readonly ProviderMessage[],
  leading: number,
): number {
  // The instructions are equal, if not identical.
  let same = leading;
  while (same < messages.length && messages[same] === kept.messages[same]) same += 1;
  return same;
}

/** Returns the last mark that is valid for this many messages. */
function lastMark<State extends LoweringState>({ marks }: KeptHistory<State>, same: number): Mark {
  return marks.findLast(({ needed }) => needed <= same) ?? beginning;
}

/** Truncates the kept state to a mark. */
function goBack<State extends LoweringState>(kept: KeptHistory<State>, mark: Mark): void {
  kept.marks.length = kept.marks.indexOf(mark) + 1;
  kept.settled = kept.settled.slice(0, mark.characters);
  kept.callIds.cut(mark.calls);
  for (const [place, journal] of Object.values(kept.state).entries()) journal.cut(mark.sizes[place] ?? 0);
}

/** Returns the length of a message with the tool messages after it. */
function segmentLength(messages: readonly ProviderMessage[], start: number): number {
  let end = start + 1;
  while (messages[end]?.role === "tool") end += 1;
  return end - start;
}

function sizesOf(journals: readonly Journal<unknown>[]): number[] {
  return journals.map(({ size }) => size);
}

/** Joins texts of items with a comma. */
export function join(before: string, behind: string): string {
  return before === "" || behind === "" ? before + behind : `${before},${behind}`;
}
