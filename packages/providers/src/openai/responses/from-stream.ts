import {
  argumentsFromText,
  grownText,
  type MessageContentPart,
  type MessageOrigin,
  omitUndefined,
  TextDelta,
} from "@parley/core/messages";
import type { ProviderStreamEvent, ProviderToolCall } from "@parley/core/ports";
import { toStreamError } from "../../call/http-failure.js";
import { keepShape } from "../../call/keep-shape.js";
import type { StreamFold } from "../../call/stream-call.js";
import { createToolNames, type ToolNames } from "../../call/tool-names.js";
import { billedAmount } from "../billed-amount.js";
import { readOpenAIFailure } from "../failure.js";
import { toTokenUsage } from "../token-usage.js";
import {
  finishReasonOf,
  isEmpty,
  marked,
  opaquePart,
  sourceParts,
  textsOf,
  toolCallOf,
} from "./answer-parts.js";
import type { Annotation, OutputItem, OutputPart, ResponseBody, ResponsesEvent } from "./api-types.js";
import { keep, summarySeparator } from "./kept-item.js";
import { callOf, type OpenItem, OpenItems, type Slot, setArguments } from "./open-items.js";

/** Information about the call that the fold needs. */
export interface FoldResponse {
  readonly provider: string;
  readonly origin: MessageOrigin;
  readonly names: ToolNames;
  /** Mark the answer with its id, so that a chain can determine what the API has seen. */
  readonly markResponse: boolean;
  /** The date of an answer that has none. */
  readonly startedAt: Date;
}

/** Events emitted to the reader of the stream. */
type Said = readonly ProviderStreamEvent[];

const nothing: Said = [];

/**
 * Folds the events of a Responses stream. No I/O and no clock: the same events give the same result.
 *
 * Deltas are emitted as they arrive. A finished item's own content replaces them, and the last event's
 * content replaces that of an item that never finished: so events that arrived twice, too late or not at all
 * change what could be watched, but not what is kept.
 */
export function createResponsesFold(call: FoldResponse): StreamFold<ResponsesEvent> {
  keepShapes();
  return new ResponsesFold(call);
}

let shapesKept = false;

function keepShapes(): void {
  if (shapesKept) return;
  shapesKept = true;
  // Written as the API sends it: the order of the keys is part of the shape.
  const event = JSON.parse(
    '{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_0","output_index":0,' +
      '"content_index":0,"delta":"a","logprobs":[],"obfuscation":"a"}',
  ) as ResponsesEvent;
  const fold = new ResponsesFold({
    provider: "",
    origin: { provider: "", model: "" },
    names: createToolNames([]),
    markResponse: false,
    startedAt: new Date(0),
  });
  keepShape(event);
  keepShape(fold);
  for (const said of fold.push(event)) keepShape(said);
}

class ResponsesFold implements StreamFold<ResponsesEvent> {
  readonly #call: FoldResponse;
  readonly #items = new OpenItems();
  /** The part of the last delta: almost always that of the next one too. */
  #textItem: OpenItem | undefined;
  #textSlot: Slot | undefined;
  #text = "";
  #lastSequence = -1;
  #numbered = false;
  #refused = false;

  constructor(call: FoldResponse) {
    this.#call = call;
  }

  get parts(): number {
    return this.#items.size;
  }

  push(event: ResponsesEvent): Said {
    if (this.#isEcho(event.sequence_number)) return nothing;
    switch (event.type) {
      case "response.output_text.delta":
        return this.#textDelta(event, event.delta, false);
      case "response.refusal.delta":
        return this.#textDelta(event, event.delta, true);
      case "response.output_text.done":
        return this.#textDone(event, event.text, false);
      case "response.refusal.done":
        return this.#textDone(event, event.refusal, true);
      case "response.reasoning_summary_text.delta":
        return this.#reasoningDelta(event, event.summary_index ?? 0, event.delta);
      case "response.reasoning_text.delta":
        return this.#reasoningDelta(event, event.content_index ?? 0, event.delta);
      case "response.function_call_arguments.delta":
        return this.#argumentsDelta(event);
      case "response.function_call_arguments.done":
        return this.#argumentsDone(event);
      case "response.output_item.added":
        return this.#itemAdded(event);
      case "response.output_item.done":
        return event.item === undefined ? nothing : this.#closeItem(this.#items.itemOf(event), event.item);
      case "response.completed":
      case "response.incomplete":
      case "response.done":
        return this.#finish(event.response ?? {}, event.type);
      case "response.failed":
      case "response.cancelled":
        return this.#fail(event.response?.error ?? { message: `the response ended as ${event.type}` });
      case "error":
        return this.#fail(event);
      default:
        // Lifecycle, progress of hosted tools, and parts whose content the item repeats when it is done.
        return nothing;
    }
  }

  /** Returns nothing: a complete stream always has a last event; without it the answer is incomplete. */
  end(): Said {
    return nothing;
  }

  /**
   * Returns true for a repeated event. Numbers count only once they were seen to ascend: some servers always
   * send the same.
   */
  #isEcho(sequence: number | undefined): boolean {
    if (typeof sequence !== "number") return false;
    if (sequence <= this.#lastSequence) return this.#numbered;
    this.#numbered = this.#lastSequence >= 0;
    this.#lastSequence = sequence;
    return false;
  }

  #textDelta(event: ResponsesEvent, delta: string | undefined, refusal: boolean): Said {
    if (typeof delta !== "string" || delta === "") return nothing;
    let slot = this.#textSlot;
    if (
      slot === undefined ||
      slot.place !== (event.content_index ?? 0) ||
      this.#textItem?.outputIndex !== event.output_index
    ) {
      const item = this.#items.itemOf(event);
      slot = this.#items.slotOf(item, event.content_index ?? 0);
      this.#textItem = item;
      this.#textSlot = slot;
    }
    if (slot.part !== undefined) return nothing;
    if (refusal) slot.refusal = true;
    this.#grow(slot, delta);
    return [new TextDelta(delta, this.#text, slot.index)];
  }

  #textDone(event: ResponsesEvent, text: string | undefined, refusal: boolean): Said {
    const slot = this.#items.slotOf(this.#items.itemOf(event), event.content_index ?? 0);
    if (slot.part !== undefined || typeof text !== "string") return nothing;
    if (refusal) slot.refusal = true;
    return this.#showRest(slot, text);
  }

  /** Emits the end of a text that no delta contained. The text itself is corrected when its item is done. */
  #showRest(slot: Slot, text: string): Said {
    if (text.length <= slot.text.length || !text.startsWith(slot.text)) return nothing;
    const rest = text.slice(slot.text.length);
    this.#grow(slot, rest);
    return [new TextDelta(rest, this.#text, slot.index)];
  }

  /**
   * Appends to a part's text and to the whole text. Usually one text is the whole answer: then it is stored
   * once.
   */
  #grow(slot: Slot, delta: string): void {
    const isAll = slot.text.length === this.#text.length;
    slot.text = grownText(slot.text, delta);
    this.#text = isAll ? slot.text : grownText(this.#text, delta);
  }

  #reasoningDelta(event: ResponsesEvent, summary: number, delta: string | undefined): Said {
    if (typeof delta !== "string" || delta === "") return nothing;
    const item = this.#items.itemOf(event);
    const slot = this.#items.slotOf(item, 0);
    if (item.closed) return nothing;
    let shown = delta;
    slot.lengths ??= [0];
    if (summary !== slot.summary && slot.text !== "") {
      shown = summarySeparator + delta;
      slot.lengths.push(0);
    }
    slot.summary = summary;
    slot.text = grownText(slot.text, shown);
    slot.lengths[slot.lengths.length - 1] = (slot.lengths.at(-1) ?? 0) + delta.length;
    return [{ type: "reasoning-delta", textDelta: shown, index: slot.index }];
  }

  #itemAdded(event: ResponsesEvent): Said {
    const { item } = event;
    if (item === undefined) return nothing;
    const open = this.#items.itemOf(event);
    if (open.closed) return nothing;
    this.#items.name(open, item);
    // The part gets its place when it is announced, so that places follow the order of the answer.
    if (item.type === "message" || item.type === "reasoning") this.#items.slotOf(open, 0);
    if (item.type !== "function_call") return nothing;
    this.#items.slotOf(open, 0);
    return this.#showArguments(open);
  }

  #argumentsDelta(event: ResponsesEvent): Said {
    if (typeof event.delta !== "string") return nothing;
    const item = this.#items.itemOf(event);
    if (item.closed) return nothing;
    const call = callOf(item);
    if (call.whole) return nothing;
    call.argumentsText = grownText(call.argumentsText, event.delta);
    call.unshown += event.delta;
    return this.#showArguments(item);
  }

  #argumentsDone(event: ResponsesEvent): Said {
    const item = this.#items.itemOf(event);
    if (item.closed) return nothing;
    const call = callOf(item);
    if (typeof event.arguments === "string") setArguments(call, event.arguments);
    call.whole = true;
    return this.#showArguments(item);
  }

  /** Emits the arguments of a call that were not emitted yet, once its id is known. */
  #showArguments(item: OpenItem): Said {
    const { call } = item;
    if (call?.callId === undefined || call.unshown === "") return nothing;
    const inputTextDelta = call.unshown;
    call.unshown = "";
    return [
      {
        type: "tool-input-delta",
        toolCallId: call.callId,
        name: this.#call.names.fromSent(call.name),
        inputTextDelta,
      },
    ];
  }

  #closeItem(open: OpenItem, item: OutputItem): Said {
    if (open.closed) return nothing;
    this.#items.name(open, item);
    open.closed = true;
    switch (open.type) {
      case "message":
        return this.#closeMessage(open, item.content ?? []);
      case "reasoning":
        return this.#closeReasoning(open, item);
      case "function_call":
        // Cut by the token limit: incomplete arguments must not be run.
        return item.status === "incomplete" ? nothing : this.#closeCall(open, item);
      default:
        return [this.#addPart(open, opaquePart(item, open.type))];
    }
  }

  #closeMessage(open: OpenItem, content: readonly OutputPart[]): Said {
    const events: ProviderStreamEvent[] = [];
    const annotations: Annotation[] = [];
    for (const [place, said] of content.entries()) {
      const text = said.refusal ?? said.text;
      if (typeof text !== "string") continue;
      const slot = this.#items.slotOf(open, place);
      if (said.refusal !== undefined) slot.refusal = true;
      events.push(...this.#showRest(slot, text));
      slot.text = text;
      annotations.push(...(said.annotations ?? []));
    }
    for (const slot of open.slots) {
      this.#refused ||= slot.refusal;
      slot.part = {
        type: "text",
        text: slot.text,
        ...keep({
          id: open.id,
          phase: open.phase,
          ...(slot.refusal ? { refusal: true } : {}),
        }),
      };
      if (slot.text !== "") events.push({ type: "part", part: slot.part, index: slot.index });
    }
    for (const part of sourceParts(annotations)) events.push(this.#addPart(open, part));
    return events;
  }

  #closeReasoning(open: OpenItem, item: OutputItem): Said {
    const slot = this.#items.slotOf(open, 0);
    const events: ProviderStreamEvent[] = [];
    const texts = textsOf(item.summary);
    const whole = (texts.length > 0 ? texts : textsOf(item.content)).join(summarySeparator);
    if (whole !== slot.text && whole !== "") {
      if (slot.text === "") events.push({ type: "reasoning-delta", textDelta: whole, index: slot.index });
      // Reasoning that was streamed as well as summarized stays as it was emitted.
      if (slot.text === "" || whole.startsWith(slot.text)) {
        if (slot.text !== "") {
          const rest = whole.slice(slot.text.length);
          events.push({ type: "reasoning-delta", textDelta: rest, index: slot.index });
        }
        slot.text = whole;
        slot.lengths = texts.map((text) => text.length);
      }
    }
    const encryptedContent = item.encrypted_content ?? undefined;
    slot.part = {
      type: "reasoning",
      text: slot.text,
      ...keep({
        id: open.id,
        encryptedContent,
        // Without encrypted content the item is never sent back, and one summary needs no lengths.
        summaryLengths:
          encryptedContent !== undefined && (slot.lengths?.length ?? 0) > 1 ? slot.lengths : undefined,
      }),
    };
    if (slot.text !== "" || encryptedContent !== undefined) {
      events.push({ type: "part", part: slot.part, index: slot.index });
    }
    return events;
  }

  #closeCall(open: OpenItem, item: OutputItem): Said {
    const call = callOf(open);
    if (typeof item.arguments === "string") setArguments(call, item.arguments);
    call.callId ??= `call_${open.outputIndex}`;
    const events = [...this.#showArguments(open)];
    const slot = this.#items.slotOf(open, 0);
    const { callId, argumentsText, namespace } = call;
    const name = this.#call.names.fromSent(call.name);
    const parsed = argumentsFromText(argumentsText);
    slot.part = {
      type: "tool-call",
      toolCallId: callId,
      name,
      arguments: parsed,
      argumentsText,
      ...keep({ namespace }),
    };
    const toolCall: ProviderToolCall = { id: callId, name, arguments: parsed, argumentsText };
    events.push({ type: "tool-call", toolCall, index: slot.index });
    return events;
  }

  #addPart(open: OpenItem, part: MessageContentPart): ProviderStreamEvent {
    return { type: "part", part, index: this.#items.addPart(open, part) };
  }

  #finish(response: ResponseBody, type: string): Said {
    const said = response.status ?? "completed";
    const failed = said === "failed" || said === "cancelled";
    if (failed || (response.error !== undefined && response.error !== null)) {
      return this.#fail(response.error ?? { message: `the response ended as ${said}` });
    }
    const status = type === "response.incomplete" ? "incomplete" : said;
    const events: ProviderStreamEvent[] = [];
    for (const [open, item] of this.#items.matched(response.output ?? []))
      events.push(...this.#closeItem(open, item));
    const items = this.#items.inOrder();
    for (const open of items) if (!open.closed) events.push(...this.#closeUnfinished(open, status));

    const content = items.flatMap(({ slots }) =>
      slots.flatMap(({ part }) => (part === undefined || isEmpty(part) ? [] : [part])),
    );
    const toolCalls = content.flatMap((part) => (part.type === "tool-call" ? [toolCallOf(part)] : []));
    const usage = toTokenUsage(response.usage);
    const billed = billedAmount(response.usage);
    if (usage !== undefined) events.push({ type: "usage", usage, ...omitUndefined({ billed }) });
    events.push({
      type: "done",
      result: {
        id: response.id ?? "response",
        createdAt:
          typeof response.created_at === "number"
            ? new Date(response.created_at * 1000)
            : this.#call.startedAt,
        message: {
          role: "assistant",
          content: this.#call.markResponse ? marked(content, response.id) : content,
          origin: this.#call.origin,
        },
        ...(toolCalls.length === 0 ? {} : { toolCalls }),
        ...omitUndefined({ usage, billed }),
        finishReason: finishReasonOf(response, { status, calls: toolCalls.length, refused: this.#refused }),
        raw: response,
      },
    });
    return events;
  }

  /** Closes an item that started and never ended, in an answer that did end. */
  #closeUnfinished(open: OpenItem, status: string): Said {
    if (open.call !== undefined && status !== "completed" && !open.call.whole) return nothing;
    const type = open.type || (open.call === undefined ? "message" : "function_call");
    if (type === "message" || type === "reasoning" || type === "function_call") {
      return this.#closeItem(open, { type });
    }
    return nothing;
  }

  #fail(payload: unknown): Said {
    return [{ type: "error", error: toStreamError(payload, this.#call.provider, readOpenAIFailure) }];
  }
}
