import type { MessageContentPart } from "@parley/core/messages";
import type { OutputItem, ResponsesEvent } from "./api-types.js";

/**
 * The received data of one item of an answer. Items may interleave; each is found by its `output_index`,
 * which is also its place in the answer.
 */
export interface OpenItem {
  readonly outputIndex: number;
  /** Empty until the item itself was announced. */
  type: string;
  id: string | undefined;
  phase: string | undefined;
  /** True if complete: later deltas of it are repetitions. */
  closed: boolean;
  /** Its parts, in order, and by their place. */
  readonly slots: Slot[];
  readonly slotsByPlace: Map<number, Slot>;
  call: OpenCall | undefined;
}

/** An unfinished part. `index` identifies it in the stream of events. */
export interface Slot {
  readonly index: number;
  /** Number of the part within the item. */
  readonly place: number;
  text: string;
  /** Lengths of the summaries that a reasoning text consists of. */
  lengths: number[] | undefined;
  /** The summary that the text ends with. */
  summary: number;
  refusal: boolean;
  part: MessageContentPart | undefined;
}

/** An unfinished function call. */
export interface OpenCall {
  callId: string | undefined;
  name: string;
  namespace: string | undefined;
  argumentsText: string;
  /** The end of the text that was not emitted yet. */
  unshown: string;
  /** True if the text is complete. */
  whole: boolean;
}

/** The items of one answer, as far as they have arrived. */
export class OpenItems {
  readonly #items = new Map<number, OpenItem>();
  readonly #byId = new Map<string, OpenItem>();
  #newest: OpenItem | undefined;
  #slots = 0;

  /** Number of items and parts. */
  get size(): number {
    return Math.max(this.#items.size, this.#slots);
  }

  /** Returns the item of an event: by its place, else by its id, else the newest. */
  itemOf({ output_index: place, item_id: id, item }: ResponsesEvent): OpenItem {
    if (typeof place === "number") return this.#items.get(place) ?? this.#open(place);
    const wanted = id ?? item?.id;
    const known = wanted === undefined ? undefined : this.#byId.get(wanted);
    if (known !== undefined && known.id === wanted) return known;
    const newest = this.#newest;
    if (newest !== undefined && !newest.closed && wanted === undefined) return newest;
    const open = this.#open(this.#items.size);
    if (wanted !== undefined) this.#setId(open, wanted);
    return open;
  }

  /** Returns the item's part at a place, creating it on first use. */
  slotOf(item: OpenItem, place: number): Slot {
    const known = item.slotsByPlace.get(place);
    if (known !== undefined) return known;
    const slot: Slot = {
      index: this.#slots++,
      place,
      text: "",
      lengths: undefined,
      summary: 0,
      refusal: false,
      part: undefined,
    };
    item.slots.push(slot);
    item.slotsByPlace.set(place, slot);
    return slot;
  }

  /** Adds a complete part; returns its index in the stream of events. */
  addPart(item: OpenItem, part: MessageContentPart): number {
    // A separate place, which no event can name.
    const slot = this.slotOf(item, -1 - item.slots.length);
    slot.part = part;
    return slot.index;
  }

  /** Returns the items in the order of the answer. */
  inOrder(): OpenItem[] {
    return [...this.#items.values()].sort((left, right) => left.outputIndex - right.outputIndex);
  }

  /** Pairs the items of the whole answer with those that were streamed; servers number them differently. */
  matched(output: readonly OutputItem[]): [OpenItem, OutputItem][] {
    const streamed = this.inOrder();
    const inStep = streamed.length === output.length;
    const byId = new Map<string | undefined, OpenItem>();
    for (const open of streamed) if (open.id !== undefined && !byId.has(open.id)) byId.set(open.id, open);
    return output.map((item, index) => {
      const same = inStep ? streamed[index] : (byId.get(item.id) ?? this.#items.get(index));
      return [same ?? this.#open(index), item];
    });
  }

  /** Records the type, id and other fields of an item. */
  name(open: OpenItem, item: OutputItem): void {
    if (item.type !== undefined) open.type = item.type;
    if (item.id) this.#setId(open, item.id);
    if (typeof item.phase === "string") open.phase = item.phase;
    if (open.type !== "function_call") return;
    const call = callOf(open);
    if (item.call_id) call.callId = item.call_id;
    if (item.name) call.name = item.name;
    if (item.namespace) call.namespace = item.namespace;
  }

  #setId(open: OpenItem, id: string): void {
    open.id = id;
    // The first item with an id is the one that is found by it.
    if (this.#byId.get(id)?.id !== id) this.#byId.set(id, open);
  }

  #open(outputIndex: number): OpenItem {
    const open: OpenItem = {
      outputIndex,
      type: "",
      id: undefined,
      phase: undefined,
      closed: false,
      slots: [],
      slotsByPlace: new Map(),
      call: undefined,
    };
    // An item that reuses another one's number also takes its place in the order.
    if (!this.#items.has(outputIndex)) this.#newest = open;
    this.#items.set(outputIndex, open);
    return open;
  }
}

/** Returns the call of an item, creating it on first use. */
export function callOf(item: OpenItem): OpenCall {
  item.call ??= {
    callId: undefined,
    name: "",
    namespace: undefined,
    argumentsText: "",
    unshown: "",
    whole: false,
  };
  return item.call;
}

/** Sets the whole text of a call's arguments; the part that the deltas lacked is still to be emitted. */
export function setArguments(call: OpenCall, text: string): void {
  if (text.length > call.argumentsText.length) call.unshown += text.slice(call.argumentsText.length);
  call.argumentsText = text;
}
