import type { AgentEvent, TurnOutput, Usage } from "@parley/wire";
import { type ItemPlace, itemId } from "./ids.js";
import {
  approvalItem,
  type CallPart,
  functionCallItem,
  mcpCallItem,
  messageItem,
  type OutputItem,
  outputText,
  reasoningItem,
} from "./items.js";
import { addedNumber, closingNumber, deltaNumber, partNumber } from "./numbering.js";

/** An event of an item, with its number. */
export interface ItemEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [field: string]: unknown;
}

/** A delta: the most frequent event by far, written without building an object. */
export interface DeltaEvent {
  readonly kind: "text" | "reasoning";
  readonly itemId: string;
  readonly outputIndex: number;
  readonly delta: string;
  /** Offset of its end in the text of its item. */
  readonly end: number;
}

/** Receives the projection of a turn, in order. */
export interface ProjectionListener {
  onDelta(delta: DeltaEvent): void;
  onEvent(event: ItemEvent): void;
}

/** End of a stretch of a turn. */
export interface StretchEnd {
  /** The turn's reason; `waiting` if the turn continued, or will, in another response. */
  readonly reason: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly output?: TurnOutput;
  readonly durationMs?: number;
}

interface Call extends CallPart {
  readonly place: ItemPlace;
}

interface CallResult {
  readonly content: string;
  readonly isError: boolean;
}

interface Request {
  readonly requestId: string;
  readonly kind: string;
}

/** A text or reasoning of the model, as far as it is known. */
interface GrowingItem {
  readonly kind: "text" | "reasoning";
  readonly id: string;
  readonly place: ItemPlace;
  readonly outputIndex: number;
  text: string;
  isClosed: boolean;
}

/** A listener that ignores everything, if only the items are wanted. */
const silent: ProjectionListener = { onDelta: () => {}, onEvent: () => {} };

/**
 * Projects the events of a turn to the items of one response and to the events that stream them. Pure: the same
 * events, live or made from rows, coalesced or not, give the same items, and events of the same numbers.
 *
 * A response is a stretch of a turn. A stretch ends after the step that requests input: with the step's calls, and the
 * results of those that run here. The next one begins with the results of the calls that were decided.
 */
export class TurnProjection {
  readonly #wanted: number;
  readonly #listener: ProjectionListener;
  /** Text of a turn that may be repeated for its data is held back until the answer was checked. */
  readonly #holdsText: boolean;
  readonly #callerTools: ReadonlySet<string>;
  #stretch = 0;
  #items: (OutputItem | GrowingItem)[] = [];
  #growing: GrowingItem | undefined;
  readonly #byKey = new Map<string, GrowingItem>();
  #held: { kind: "text" | "reasoning"; place: ItemPlace; delta: string }[] = [];
  #stepId: string | undefined;
  #calls: Call[] = [];
  readonly #requests = new Map<string, Request>();
  readonly #results = new Map<string, CallResult>();
  /** Number of the step's calls that have been projected, and a flag for a started next one. */
  #projected = 0;
  #isBegun = false;
  /** True once the requests of the step are known: they come before everything else that follows its calls. */
  #isAsked = false;
  /** True once a stretch has ended after the calls of the step. */
  #isPassed = false;
  /** Decided calls of the step, to be projected first in the next stretch. */
  #decided: Call[] = [];
  #usage: Usage | undefined;
  #error: StretchEnd["error"];
  #durationMs: number | undefined;
  #reason = "stop";
  #end: StretchEnd | undefined;

  constructor(options: {
    readonly stretch: number;
    readonly holdsText?: boolean;
    /** Names of tools whose calls are left to the caller: of a turn that does not wait for them. */
    readonly callerTools?: readonly string[] | undefined;
    readonly listener?: ProjectionListener;
  }) {
    this.#wanted = options.stretch;
    this.#holdsText = options.holdsText ?? false;
    this.#callerTools = new Set(options.callerTools ?? []);
    this.#listener = options.listener ?? silent;
  }

  /** Set once the stretch is over: nothing more comes. */
  get end(): StretchEnd | undefined {
    return this.#end;
  }

  /** True once the turn has reached the stretch. */
  get hasBegun(): boolean {
    return this.#stretch >= this.#wanted;
  }

  get items(): readonly OutputItem[] {
    return this.#items.map((item) => ("isClosed" in item ? grown(item) : item));
  }

  /** Returns the sum over the stretch's steps. */
  get usage(): Usage | undefined {
    return this.#usage;
  }

  take(event: AgentEvent): void {
    if (this.#end !== undefined) return;
    switch (event.type) {
      case "text-delta":
      case "reasoning-delta": {
        this.#enterStep(event.stepId);
        const place = { messageId: event.messageId ?? event.stepId ?? "", partIndex: event.partIndex ?? 0 };
        const kind = event.type === "text-delta" ? "text" : "reasoning";
        if (this.#holdsText && kind === "text") this.#held.push({ kind, place, delta: event.delta });
        else this.#grow(kind, place, event.delta);
        return;
      }
      case "tool-call": {
        this.#enterStep(event.stepId);
        this.#release();
        const { toolCallId, toolName, argumentsText = JSON.stringify(event.input) ?? "{}" } = event;
        const place = { messageId: event.messageId ?? event.stepId, partIndex: event.partIndex ?? 0 };
        this.#calls.push({ toolCallId, toolName, argumentsText, place });
        return;
      }
      case "usage":
        if (this.#isHere) this.#usage = sum(this.#usage, event.usage);
        return;
      case "input-request": {
        const { requestId, kind, toolCallId } = event.input;
        this.#requests.set(toolCallId, { requestId, kind });
        return;
      }
      case "tool-result":
        this.#isAsked = true;
        this.#results.set(event.toolCallId, { content: event.content, isError: event.isError });
        this.#advance();
        return;
      case "input-response":
      case "tool-output":
        this.#isAsked = true;
        this.#advance();
        return;
      case "output-invalid":
        // The answer is not shown: another one follows.
        this.#held = [];
        return;
      case "error":
        this.#error = { code: event.code ?? "internal", message: event.message };
        return;
      case "done":
        this.#finishTurn(event.reason, event.durationMs);
        return;
      case "status":
        if (event.waiting !== undefined) this.#pause();
        return;
      case "turn-sealed":
        this.#seal(event.reason ?? this.#reason, event.output);
        return;
      default:
        return;
    }
  }

  get #isHere(): boolean {
    return this.#stretch === this.#wanted;
  }

  /** Ends a turn that is not kept, which nothing seals. */
  finish(): void {
    this.#seal(this.#reason, undefined);
  }

  #finishTurn(reason: string, durationMs: number | undefined): void {
    this.#reason = reason;
    this.#durationMs = durationMs;
    this.#release();
    this.#isAsked = true;
    this.#advance();
    if (reason === "tool-calls") this.#projectOpenCalls();
    this.#close();
  }

  #seal(reason: string, output: TurnOutput | undefined): void {
    this.#close();
    if (!this.#isHere) return;
    const { error, durationMs } = { error: this.#error, durationMs: this.#durationMs };
    this.#end = {
      reason,
      ...(error === undefined ? {} : { error }),
      ...(output === undefined ? {} : { output }),
      ...(durationMs === undefined ? {} : { durationMs }),
    };
  }

  /** Handles a waiting turn: its requests are known, and the calls that run here have run. */
  #pause(): void {
    this.#release();
    this.#isAsked = true;
    this.#advance();
    if (this.#asks() && !this.#isPassed) this.#endStretch();
  }

  /** Returns true if the step requests input. */
  #asks(): boolean {
    return this.#calls.some(({ toolCallId }) => this.#requests.has(toolCallId));
  }

  #enterStep(stepId: string | undefined): void {
    if (stepId === this.#stepId) return;
    if (this.#stepId !== undefined) {
      this.#release();
      this.#isAsked = true;
      this.#advance();
      this.#pass();
      this.#close();
    }
    this.#stepId = stepId;
    this.#calls = [];
    this.#decided = [];
    this.#projected = 0;
    this.#isBegun = false;
    this.#isAsked = false;
    this.#isPassed = false;
  }

  /** Projects the known part of the step's calls, in their order. */
  #advance(): void {
    if (!this.#isAsked) return;
    while (this.#projected < this.#calls.length) {
      const call = this.#calls[this.#projected] as Call;
      const request = this.#requests.get(call.toolCallId);
      const result = this.#results.get(call.toolCallId);
      if (request !== undefined) this.#projectRequest(call, request);
      else if (!this.#projectOwn(call, result)) return;
      this.#projected += 1;
      this.#isBegun = false;
    }
    const isDecided = ({ toolCallId }: Call) =>
      this.#requests.has(toolCallId) && this.#results.has(toolCallId);
    if (this.#calls.some(isDecided)) this.#pass();
    this.#projectDecided();
  }

  /** Ends the stretch after the step, if it requests input. */
  #pass(): void {
    if (this.#isPassed || !this.#asks()) return;
    this.#isPassed = true;
    this.#endStretch();
    this.#stretch += 1;
    this.#decided = this.#calls.filter(({ toolCallId }) => this.#requests.has(toolCallId));
    this.#projectDecided();
  }

  #projectRequest(call: Call, { requestId, kind }: Request): void {
    if (kind === "tool-output") this.#projectFunctionCall(call);
    else this.#projectWhole(approvalItem(requestId, call));
  }

  /** Projects a call that runs here. Returns false while it has no result. */
  #projectOwn(call: Call, result: CallResult | undefined): boolean {
    if (result === undefined && this.#callerTools.has(call.toolName)) return false;
    if (!this.#isBegun) this.#beginOwn(call);
    this.#isBegun = true;
    if (result === undefined) return false;
    this.#endOwn(mcpCallItem(call.place, call, result));
    return true;
  }

  #beginOwn(call: Call, approvalId?: string): void {
    const index = this.#add(mcpCallItem(call.place, { ...call, argumentsText: "" }, undefined, approvalId));
    if (index === undefined) return;
    const id = itemId("mcp", call.place);
    const of = { item_id: id, output_index: index };
    const { argumentsText } = call;
    const number = deltaNumber(index, argumentsText.length);
    this.#event("response.mcp_call_arguments.delta", number, { ...of, delta: argumentsText });
    const done = closingNumber(index, "inProgress") - 1;
    this.#event("response.mcp_call_arguments.done", done, { ...of, arguments: argumentsText });
    this.#event("response.mcp_call.in_progress", closingNumber(index, "inProgress"), of);
    this.#items[index] = mcpCallItem(call.place, call, undefined, approvalId);
  }

  #endOwn(item: ReturnType<typeof mcpCallItem>): void {
    const index = this.#items.findIndex((each) => "id" in each && each.id === item.id);
    if (!this.#isHere || index < 0) return;
    this.#items[index] = item;
    const type = item.status === "failed" ? "response.mcp_call.failed" : "response.mcp_call.completed";
    this.#event(type, closingNumber(index, "completed"), { item_id: item.id, output_index: index });
    this.#event("response.output_item.done", closingNumber(index, "itemDone"), { output_index: index, item });
  }

  /** Projects the calls that were decided, in their order, as far as they have results. */
  #projectDecided(): void {
    while (this.#decided.length > 0) {
      const [call] = this.#decided as [Call];
      const result = this.#results.get(call.toolCallId);
      if (result === undefined) return;
      this.#decided.shift();
      const request = this.#requests.get(call.toolCallId);
      // The caller's outputs are the input of this stretch.
      if (request === undefined || request.kind === "tool-output") continue;
      const approvalId = `mcpr_${request.requestId}`;
      this.#beginOwn(call, approvalId);
      this.#endOwn(mcpCallItem(call.place, call, result, approvalId));
    }
  }

  /** Projects the calls that are not run here, of a turn that ended with them. */
  #projectOpenCalls(): void {
    for (const call of this.#calls.slice(this.#projected)) {
      const result = this.#results.get(call.toolCallId);
      if (result === undefined) this.#projectFunctionCall(call);
      else this.#projectOwn(call, result);
      this.#isBegun = false;
    }
    this.#projected = this.#calls.length;
  }

  #projectFunctionCall(call: Call): void {
    const index = this.#add(functionCallItem(call.place, call, "in_progress"));
    if (index === undefined) return;
    const item = functionCallItem(call.place, call);
    const of = { item_id: item.id, output_index: index };
    const { argumentsText, toolName } = call;
    const number = deltaNumber(index, argumentsText.length);
    this.#event("response.function_call_arguments.delta", number, { ...of, delta: argumentsText });
    const done = closingNumber(index, "partDone");
    const whole = { ...of, arguments: argumentsText, name: toolName };
    this.#event("response.function_call_arguments.done", done, whole);
    this.#finishItem(index, item);
  }

  #projectWhole(item: OutputItem): void {
    const index = this.#add(item);
    if (index !== undefined) this.#finishItem(index, item);
  }

  #finishItem(index: number, item: OutputItem): void {
    this.#items[index] = item;
    this.#event("response.output_item.done", closingNumber(index, "itemDone"), { output_index: index, item });
  }

  /** Adds an item after the others. Undefined if the stretch is not the wanted one. */
  #add(item: OutputItem): number | undefined {
    this.#close();
    if (!this.#isHere) return undefined;
    const index = this.#items.push(item) - 1;
    this.#event("response.output_item.added", addedNumber(index), { output_index: index, item });
    return index;
  }

  #grow(kind: "text" | "reasoning", place: ItemPlace, delta: string): void {
    if (delta === "" || !this.#isHere) return;
    const item = this.#itemAt(kind, place);
    item.text += delta;
    // A part that continues after another one is complete in the response: its events are over.
    if (item.isClosed) return;
    const { outputIndex, text, id } = item;
    this.#listener.onDelta({ kind, itemId: id, outputIndex, delta, end: text.length });
  }

  /** Returns the item that a delta belongs to: almost always the one that grows. */
  #itemAt(kind: "text" | "reasoning", place: ItemPlace): GrowingItem {
    const growing = this.#growing;
    const { messageId, partIndex } = place;
    if (growing?.place.messageId === messageId && growing.place.partIndex === partIndex) return growing;
    const key = itemId("msg", place);
    return this.#byKey.get(key) ?? this.#open(kind, place, key);
  }

  #open(kind: "text" | "reasoning", place: ItemPlace, key: string): GrowingItem {
    this.#close();
    const outputIndex = this.#items.length;
    const id = itemId(kind === "text" ? "msg" : "rs", place);
    const item: GrowingItem = { kind, id, place, outputIndex, text: "", isClosed: false };
    this.#items.push(item);
    this.#byKey.set(key, item);
    this.#growing = item;
    const empty = kind === "text" ? messageItem(place, "", "in_progress") : reasoningItem(place, "");
    this.#event("response.output_item.added", addedNumber(outputIndex), {
      output_index: outputIndex,
      item: empty,
    });
    const of = { item_id: empty.id, output_index: outputIndex };
    if (kind === "text") {
      const part = { ...of, content_index: 0, part: outputText("") };
      this.#event("response.content_part.added", partNumber(outputIndex), part);
    } else {
      const part = { ...of, summary_index: 0, part: { type: "summary_text", text: "" } };
      this.#event("response.reasoning_summary_part.added", partNumber(outputIndex), part);
    }
    return item;
  }

  /** Ends the text that grows. */
  #close(): void {
    const growing = this.#growing;
    this.#growing = undefined;
    if (growing === undefined || growing.isClosed) return;
    growing.isClosed = true;
    const { outputIndex: index, text } = growing;
    const item = grown(growing);
    const of = { item_id: item.id, output_index: index };
    const done = closingNumber(index, "textDone");
    const partDone = closingNumber(index, "partDone");
    if (growing.kind === "text") {
      const at = { ...of, content_index: 0 };
      this.#event("response.output_text.done", done, { ...at, text, logprobs: [] });
      this.#event("response.content_part.done", partDone, { ...at, part: outputText(text) });
    } else {
      const at = { ...of, summary_index: 0 };
      this.#event("response.reasoning_summary_text.done", done, { ...at, text });
      const part = { type: "summary_text", text };
      this.#event("response.reasoning_summary_part.done", partDone, { ...at, part });
    }
    this.#event("response.output_item.done", closingNumber(index, "itemDone"), { output_index: index, item });
  }

  /** Releases text that was held back: it is the answer, or precedes calls. */
  #release(): void {
    const held = this.#held;
    this.#held = [];
    for (const { kind, place, delta } of held) this.#grow(kind, place, delta);
  }

  #endStretch(): void {
    this.#close();
    if (this.#isHere) this.#end = { reason: "waiting" };
  }

  #event(type: string, number: number, fields: Readonly<Record<string, unknown>>): void {
    if (this.#end === undefined) this.#listener.onEvent({ type, sequence_number: number, ...fields });
  }
}

function grown({ kind, place, text }: GrowingItem): OutputItem {
  return kind === "text" ? messageItem(place, text) : reasoningItem(place, text);
}

function sum(before: Usage | undefined, usage: Usage): Usage {
  if (before === undefined) return usage;
  const total: { -readonly [Key in keyof Usage]: Usage[Key] } = { ...before };
  for (const key of Object.keys(usage) as (keyof Usage)[])
    total[key] = (before[key] ?? 0) + (usage[key] ?? 0);
  return total;
}
