import type { ProviderMessage } from "@parley/core/ports";
import { Journal } from "./journal.js";
import { isFrozen, isOwn, type PreparedMessage, prepareFrom } from "./prepare-messages.js";

/** The state of a lowering after all messages before the next one. */
export type LoweringState = Readonly<Record<string, Journal<unknown>>>;

/** Lowers prepared messages one by one. */
export interface HistoryFold<Item> {
  /** Number of items so far. A message either begins new items or becomes a part of the last one. */
  readonly count: number;
  push(message: PreparedMessage): void;
  /** The items, after the last message. */
  end(): readonly Item[];
}

/** The way of one API to lower a history to the items of its request. */
export interface HistoryLowering<Item, State extends LoweringState> {
  /** Stands for everything but the messages that items depend on. */
  readonly key: string;
  createState(): State;
  /** `isContinued`: items come before, and the first message does not become a part of the last of them. */
  begin(state: State, isContinued: boolean): HistoryFold<Item>;
}

/** A history as the items of a request. */
export interface LoweredHistory<Item, State extends LoweringState> {
  /** The JSON text of the first items, with commas between them. Empty if there are none. */
  readonly settled: string;
  /** The items behind those. */
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

/** A place between two items of a request, with what was known there. */
interface Mark {
  /** Number of messages before it. */
  readonly messages: number;
  /** Number of messages up to and with those that made it a place between two items. */
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
  /** Instructions, which are made anew for each request. */
  readonly head: string;
  readonly callIds: Journal<string>;
  readonly state: State;
  /** The messages of the last request. */
  messages: readonly ProviderMessage[];
  /** The JSON text of the items before the last mark. */
  settled: string;
  /** Ascending; the first one is the beginning. */
  readonly marks: Mark[];
}

const beginning: Mark = { messages: 0, needed: 0, characters: 0, calls: 0, sizes: [] };

/**
 * Items that are not settled, at the end of a request. A later message can become a part of the last item, and the
 * marks of a prompt cache move within the last two of the user's side.
 */
const openItems = 4;
/** Items before the first mark: an API's rules for the beginning of a request concern no later ones. */
const firstItems = 2;
/** Marks to go back to when a request does not continue the last one. The beginning is one more. */
const mostMarks = 8;

/**
 * Histories of live conversations, lowered. A request whose messages continue those of the last request of the same
 * conversation, by identity, costs what is new. What is kept of a conversation lives as long as its first message.
 *
 * A mark is set only where lowering can go on as if it had never stopped: all messages before it were healthy, so no
 * later result answers one of their calls, and the message behind it began an item of its own.
 */
export class LoweredHistories<Item, State extends LoweringState> {
  readonly #kept = new WeakMap<ProviderMessage, KeptHistory<State>>();

  /**
   * Lowers a history. Undefined for one that has to be lowered as a whole each time: the first message behind the
   * instructions must be frozen, and all must be in Parley's own form.
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
      // What is made for this request alone is written out each time, and so is all that follows it.
      const made = rest.findIndex((message, at) => start + at >= leading && !isFrozen(message));
      const lowered = this.#goOn(kept, { messages, rest, mark, made }, lowering);
      if (start === 0 || lowered.items.length >= openItems) return lowered;
      // The end was taken back, so items that were settled are open again.
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
    // Only a healthy rest has as many messages before as after.
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
      // Only the last one with enough items behind it is of use.
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
  /** Those behind the mark. */
  readonly rest: readonly ProviderMessage[];
  readonly mark: Mark;
  /** The first of them that is not frozen; -1 if all are. */
  readonly made: number;
}

/** A place where a mark could be set. */
interface Place {
  /** The message behind it. */
  readonly at: number;
  /** Number of items before it. */
  readonly count: number;
  readonly calls: number;
  readonly sizes: readonly number[];
}

/** Number of messages that a request shares with the last one. */
function sharedLength<State extends LoweringState>(
  kept: KeptHistory<State>,
  messages: readonly ProviderMessage[],
  leading: number,
): number {
  // The instructions are equal, if not the same.
  let same = leading;
  while (same < messages.length && messages[same] === kept.messages[same]) same += 1;
  return same;
}

/** The last mark that holds for so many messages. */
function lastMark<State extends LoweringState>({ marks }: KeptHistory<State>, same: number): Mark {
  return marks.findLast(({ needed }) => needed <= same) ?? beginning;
}

/** Cuts what is kept back to a mark. */
function goBack<State extends LoweringState>(kept: KeptHistory<State>, mark: Mark): void {
  kept.marks.length = kept.marks.indexOf(mark) + 1;
  kept.settled = kept.settled.slice(0, mark.characters);
  kept.callIds.cut(mark.calls);
  for (const [place, journal] of Object.values(kept.state).entries()) journal.cut(mark.sizes[place] ?? 0);
}

/** A message with the tool messages behind it. */
function segmentLength(messages: readonly ProviderMessage[], start: number): number {
  let end = start + 1;
  while (messages[end]?.role === "tool") end += 1;
  return end - start;
}

function sizesOf(journals: readonly Journal<unknown>[]): number[] {
  return journals.map(({ size }) => size);
}

/** Texts of items, joined by a comma. */
export function join(before: string, behind: string): string {
  return before === "" || behind === "" ? before + behind : `${before},${behind}`;
}
