import type { Clock } from "@parley/core";
import { isParleyError, ParleyError, type ParleyErrorOptions } from "@parley/core/errors";
import type { TokenUsage } from "@parley/core/messages";
import { argumentsFromText, type MessageContentPart, TextDelta, textOfValue } from "@parley/core/messages";
import type { ProviderFinishReason, ProviderStreamEvent, ProviderToolCall } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import type { ErrorCode } from "@parley/wire";
import type { Gate } from "../gate.js";

/**
 * Entries of a scripted call, in order: events as they are, or actions made by the builders below. After the last
 * entry the call succeeds, with the `done` that follows from its content. May be lazy, for long answers.
 */
export type Script = Iterable<ScriptEntry>;

export type ScriptEntry = ProviderStreamEvent | ScriptAction;

/** One action of a script. Write your own for what no builder does. */
export type ScriptAction = (context: ScriptContext) => void | Promise<void>;

/** Capabilities of an action. */
export interface ScriptContext {
  /** Passes an event to the reader; resolves when the reader is not too far behind. */
  emit(event: ProviderStreamEvent): Promise<void> | undefined;
  /** The content of the call so far, which its `done` will repeat. */
  readonly said: Said;
  /** Waits, and rejects with `canceled` if the call is aborted meanwhile (unless the provider ignores that). */
  wait(promise: Promise<void>): Promise<void>;
  readonly clock: Clock;
  /** Returns a new id for a tool call. */
  nextCallId(): string;
}

/** Thrown by `cut`: the stream then ends without a last event. */
export const cutOff = Symbol("cut off");

/** Emits text of the answer; with `size`, in pieces of that many characters. */
export function text(whole: string, options: { size?: number; index?: number } = {}): ScriptAction {
  return async (context) => {
    for (const piece of pieces(whole, options.size)) {
      const soFar = context.said.textSoFar + piece;
      await context.emit(new TextDelta(piece, soFar, options.index));
    }
  };
}

/** Emits reasoning of the model; with `size`, in pieces of that many characters. */
export function reasoning(whole: string, options: { size?: number; index?: number } = {}): ScriptAction {
  const place = options.index === undefined ? {} : { index: options.index };
  return async (context) => {
    for (const piece of pieces(whole, options.size)) {
      await context.emit({ type: "reasoning-delta", textDelta: piece, ...place });
    }
  };
}

/**
 * Emits a call of a tool. A string is used as the text that the model wrote, so it may be malformed; any other value
 * is written as JSON. With `progress`, the text is also shown while it grows.
 */
export function toolCall(
  name: string,
  args: unknown = {},
  options: { id?: string; index?: number; progress?: boolean } = {},
): ScriptAction {
  return async (context) => {
    const id = options.id ?? context.nextCallId();
    const argumentsText = textOfValue(args);
    if (options.progress) {
      for (const piece of pieces(argumentsText, 4)) {
        await context.emit({ type: "tool-input-delta", toolCallId: id, name, inputTextDelta: piece });
      }
    }
    await context.emit({
      type: "tool-call",
      toolCall: { id, name, arguments: argumentsFromText(argumentsText), argumentsText },
      ...omitUndefined({ index: options.index }),
    });
  };
}

/** Emits a complete part of any kind. */
export function part(content: MessageContentPart, index?: number): ProviderStreamEvent {
  return { type: "part", part: content, ...omitUndefined({ index }) };
}

/** Emits the usage that the call reports. */
export function usage(
  inputTokens: number,
  outputTokens: number,
  more: Omit<TokenUsage, "inputTokens" | "outputTokens"> = {},
): ProviderStreamEvent {
  return { type: "usage", usage: { inputTokens, outputTokens, ...more } };
}

/**
 * Sets the reason that the generation ended, if it is not the one that follows from the script (`tool-calls` or
 * `stop`).
 */
export function finish(reason: ProviderFinishReason): ScriptAction {
  return (context) => {
    context.said.finishReason = reason;
  };
}

/** Fails the call here, as an adapter reports it: an `error` event. */
export function fail(
  failure: ErrorCode | ParleyError,
  message?: string,
  options?: ParleyErrorOptions,
): ScriptAction {
  return (context) => {
    const error = isParleyError(failure) ? failure : new ParleyError(failure, message, options);
    void context.emit({ type: "error", error });
  };
}

/** Throws in the adapter here: any value may be thrown. */
export function crash(thrown: unknown = new Error("The script crashed")): ScriptAction {
  return () => {
    throw thrown;
  };
}

/** Refuses the call: `completeStream` itself rejects. Only as the first entry. */
export function refuse(failure: ErrorCode | Error): ScriptAction {
  const error = typeof failure === "string" ? new ParleyError(failure) : failure;
  const action: ScriptAction = () => {
    throw error;
  };
  refusals.set(action, error);
  return action;
}

const refusals = new WeakMap<ScriptAction, Error>();

/** Returns the error of an entry that `refuse` made. */
export function refusalOf(entry: ScriptEntry | undefined): Error | undefined {
  return typeof entry === "function" ? refusals.get(entry) : undefined;
}

/** Waits until the test opens the gate. */
export function pause(at: Gate): ScriptAction {
  return (context) => context.wait(at.wait());
}

/** Waits by the provider's clock. */
export function delay(ms: number): ScriptAction {
  return async (context) => {
    let cancel = () => {};
    const passed = new Promise<void>((resolve) => {
      cancel = context.clock.after(ms, resolve);
    });
    try {
      await context.wait(passed);
    } finally {
      cancel();
    }
  };
}

/** Ends the stream here, without `done` or `error`: as a careless adapter does when a connection is lost. */
export function cut(): ScriptAction {
  return () => {
    throw cutOff;
  };
}

/** Sends nothing more until the call is aborted. */
export function hang(): ScriptAction {
  return (context) => context.wait(new Promise<void>(() => {}));
}

/** The content of a call so far. */
export class Said {
  readonly #parts: MessageContentPart[] = [];
  readonly #byIndex = new Map<number, MessageContentPart>();
  readonly toolCalls: ProviderToolCall[] = [];
  textSoFar = "";
  usage: TokenUsage | undefined;
  finishReason: ProviderFinishReason | undefined;

  /** Records an event on its way to the reader. */
  note(event: ProviderStreamEvent): void {
    if (event.type === "delta") {
      const delta = event.textDelta ?? "";
      this.textSoFar += delta;
      this.#grow("text", delta, event.index);
    } else if (event.type === "reasoning-delta") {
      this.#grow("reasoning", event.textDelta, event.index);
    } else if (event.type === "part") {
      this.#put(event.part, event.index);
    } else if (event.type === "tool-call") {
      const { id, name, arguments: args, argumentsText } = event.toolCall;
      this.toolCalls.push(event.toolCall);
      const text = argumentsText ?? textOfValue(args);
      this.#put(
        { type: "tool-call", toolCallId: id, name, arguments: args, argumentsText: text },
        event.index,
      );
    } else if (event.type === "usage") {
      this.usage = event.usage;
    }
  }

  /** The parts in the order in which they were started. */
  get content(): MessageContentPart[] {
    return this.#parts.map((each) => ({ ...each }));
  }

  #grow(type: "text" | "reasoning", delta: string, index: number | undefined): void {
    const open = index === undefined ? this.#parts.at(-1) : this.#byIndex.get(index);
    if (open?.type === type) open.text += delta;
    else this.#put({ type, text: delta }, index);
  }

  #put(content: MessageContentPart, index: number | undefined): void {
    const own = { ...content };
    const open = index === undefined ? this.#parts.at(-1) : this.#byIndex.get(index);
    const grows = own.type === "text" || own.type === "reasoning";
    // A finished text replaces the text of its deltas.
    if (open !== undefined && grows && open.type === own.type) this.#parts[this.#parts.indexOf(open)] = own;
    else this.#parts.push(own);
    if (index !== undefined) this.#byIndex.set(index, own);
  }
}

function* pieces(whole: string, size: number | undefined): Iterable<string> {
  if (size === undefined || whole === "") {
    yield whole;
    return;
  }
  // By code points, because no provider splits a character.
  const characters = [...whole];
  for (let start = 0; start < characters.length; start += size) {
    yield characters.slice(start, start + size).join("");
  }
}
