import type { MessageContentPart } from "@parley/core/messages";
import type { OutputItem, ResponsesEvent } from "./api-types.js";

/**
 * What has arrived of one item of an answer. Items may interleave; each is found by its `output_index`, which
 * is also its place in the answer.
 */
export interface OpenItem {
  readonly outputIndex: number;
  /** Empty until the item itself was announced. */
  type: string;
  id: string | undefined;
  phase: string | undefined;
  /** Complete: later deltas of it are echoes. */
  closed: boolean;
  /** The parts it makes, in order. */
  readonly slots: Slot[];
  call: OpenCall | undefined;
}

/** A part in the making. `index` is its name in the stream of events. */
export interface Slot {
  readonly index: number;
  /** Which part of the item it is. */
  readonly place: number;
  text: string;
  /** Lengths of the summaries that a reasoning text is made of. */
  lengths: number[] | undefined;
  /** The summary that the text ends with. */
  summary: number;
  refusal: boolean;
  part: MessageContentPart | undefined;
}

/** A function call in the making. */
export interface OpenCall {
  callId: string | undefined;
  name: string;
  namespace: string | undefined;
  argumentsText: string;
  /** How much of the text has been shown. */
  shown: number;
  /** Whether the text is whole. */
  whole: boolean;
}

/** The items of one answer, as far as they have come. */
export class OpenItems {
  readonly #items = new Map<number, OpenItem>();
  #slots = 0;

  /** The item of an event: by its place, else by its id, else the newest. */
  itemOf({ output_index: place, item_id: id, item }: ResponsesEvent): OpenItem {
    if (typeof place === "number") return this.#items.get(place) ?? this.#open(place);
    const wanted = id ?? item?.id;
    let newest: OpenItem | undefined;
    for (const open of this.#items.values()) {
      if (wanted !== undefined && open.id === wanted) return open;
      newest = open;
    }
    if (newest !== undefined && !newest.closed && wanted === undefined) return newest;
    const open = this.#open(this.#items.size);
    open.id = wanted;
    return open;
  }

  /** The item's part at a place, opened where it is the first to be heard of it. */
  slotOf(item: OpenItem, place: number): Slot {
    const known = item.slots.find((slot) => slot.place === place);
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
    return slot;
  }

  /** Adds a part that is complete; returns its name in the stream of events. */
  addPart(item: OpenItem, part: MessageContentPart): number {
    // A place of its own, which no event can name.
    const slot = this.slotOf(item, -1 - item.slots.length);
    slot.part = part;
    return slot.index;
  }

  /** In the order of the answer. */
  inOrder(): OpenItem[] {
    return [...this.#items.values()].sort((left, right) => left.outputIndex - right.outputIndex);
  }

  /** The items of the whole answer with those that were streamed; servers do not all number them alike. */
  matched(output: readonly OutputItem[]): [OpenItem, OutputItem][] {
    const streamed = this.inOrder();
    const inStep = streamed.length === output.length;
    return output.map((item, index) => {
      const same = inStep
        ? streamed[index]
        : (streamed.find(({ id }) => id !== undefined && id === item.id) ?? this.#items.get(index));
      return [same ?? this.#open(index), item];
    });
  }

  #open(outputIndex: number): OpenItem {
    const open: OpenItem = {
      outputIndex,
      type: "",
      id: undefined,
      phase: undefined,
      closed: false,
      slots: [],
      call: undefined,
    };
    this.#items.set(outputIndex, open);
    return open;
  }
}

/** The call of an item, opened where it is the first to be heard of it. */
export function callOf(item: OpenItem): OpenCall {
  item.call ??= {
    callId: undefined,
    name: "",
    namespace: undefined,
    argumentsText: "",
    shown: 0,
    whole: false,
  };
  return item.call;
}

/** Notes what an item says of itself. */
export function nameItem(open: OpenItem, item: OutputItem): void {
  if (item.type !== undefined) open.type = item.type;
  if (item.id) open.id = item.id;
  if (typeof item.phase === "string") open.phase = item.phase;
  if (open.type !== "function_call") return;
  const call = callOf(open);
  if (item.call_id) call.callId = item.call_id;
  if (item.name) call.name = item.name;
  if (item.namespace) call.namespace = item.namespace;
}
