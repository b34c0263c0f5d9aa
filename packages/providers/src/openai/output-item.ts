import type { MessageContentPart } from "@parley/core/messages";

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

export function createItem(outputIndex: number): OpenItem {
  return {
    outputIndex,
    type: "",
    id: undefined,
    phase: undefined,
    closed: false,
    slots: [],
    call: undefined,
  };
}

export function createSlot(index: number, place: number): Slot {
  return {
    index,
    place,
    text: "",
    lengths: undefined,
    summary: 0,
    refusal: false,
    part: undefined,
  };
}
