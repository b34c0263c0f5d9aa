import { type Clock, systemClock } from "@parley/core";
import { ParleyError } from "@parley/core/errors";
import type { TokenUsage } from "@parley/core/messages";
import { createProviderStream, type IdFactory, type ProviderStreamWriter } from "@parley/core/messages";
import type {
  ProviderAdapter,
  ProviderCallParams,
  ProviderCallResult,
  ProviderStream,
  ProviderStreamEvent,
} from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import { createCountingIds } from "../counting-ids.js";
import { cutOff, delay, refusalOf, Said, type Script, type ScriptContext } from "./script.js";

/** One script for every call, one per call in order, or one made from the call's parameters. */
export type ScriptSource =
  | Script
  | readonly Script[]
  | ((params: ProviderCallParams, callIndex: number) => Script);

export interface ScriptedProviderOptions {
  /** For `delay` and `delayMs`. Default: the machine's. */
  readonly clock?: Clock;
  /** Ids of calls and tool calls. Default: `call1`, `call2`, ... */
  readonly ids?: IdFactory;
  /** Waits this long before each entry. */
  readonly delayMs?: number;
  /** Reported by calls whose script reports none. */
  readonly usage?: TokenUsage;
  /** True if the provider has only `complete`. */
  readonly onlyComplete?: boolean;
  /** True if the provider continues although its call was aborted, as a careless one does. */
  readonly ignoreSignal?: boolean;
}

/** One call that was made. */
export interface ScriptedCall {
  readonly params: ProviderCallParams;
  /** `open` until the script has ended, in any way. */
  readonly state: "open" | "done" | "failed" | "canceled";
}

type Call = { -readonly [Key in keyof ScriptedCall]: ScriptedCall[Key] };

/** A provider that follows its script, and records its calls. */
export interface ScriptedProvider extends ProviderAdapter {
  /** Every call so far, in order. */
  readonly calls: readonly ScriptedCall[];
  /** Resolves when the provider has been called that many times. */
  called(times: number): Promise<void>;
}

/**
 * Creates a provider for tests:
 *
 * ```ts
 * const answer = gate();
 * const provider = createScriptedProvider([
 * [reasoning("Let me look."), toolCall("weather", { city: "Oslo" }), usage(20, 8)],
 * [text("It is "), pause(answer), text("cold."), usage(40, 4)],
 * ]);
 * ```
 *
 * A list of lists gives the calls their scripts in order, and a call beyond the last one fails; a plain list serves
 * every call. A script made for one call may also be a generator. Each stream keeps the contract of `ProviderStream`,
 * except if `cut`, `crash` or `ignoreSignal` ask
 * for what careless adapters do. Nothing happens by real time unless `delay` is used with the machine's clock.
 */
export function createScriptedProvider(
  source: ScriptSource,
  options: ScriptedProviderOptions = {},
): ScriptedProvider {
  const ids = options.ids ?? createCountingIds("call");
  const calls: Call[] = [];
  const waiting: { times: number; resolve: () => void }[] = [];

  const completeStream = async (params: ProviderCallParams): Promise<ProviderStream> => {
    const call: Call = { params: { ...params, messages: [...params.messages] }, state: "open" };
    calls.push(call);
    for (const each of waiting) if (calls.length >= each.times) each.resolve();
    const script = scriptFor(source, params, calls.length - 1);
    const refusal = Array.isArray(script) ? refusalOf(script[0]) : undefined;
    if (refusal === undefined) return openStream(script, call, ids, options);
    call.state = "failed";
    throw refusal;
  };
  return {
    calls,
    called(times) {
      if (calls.length >= times) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.push({ times, resolve });
      });
    },
    complete: async (params) => (await completeStream(params)).final,
    ...(options.onlyComplete ? {} : { completeStream }),
  };
}

function scriptFor(source: ScriptSource, params: ProviderCallParams, index: number): Script {
  if (typeof source === "function") return source(params, index);
  if (!isListOfScripts(source)) return source;
  const script = source[index];
  if (script !== undefined) return script;
  throw new ParleyError("internal", `The script has no answer for call ${index + 1}`);
}

function isListOfScripts(source: Script | readonly Script[]): source is readonly Script[] {
  if (!Array.isArray(source) || source.length === 0) return false;
  const first: unknown = source[0];
  return typeof first === "object" && first !== null && Symbol.iterator in first;
}

function openStream(
  script: Script,
  call: Call,
  ids: IdFactory,
  options: ScriptedProviderOptions,
): ProviderStream {
  const { signal } = call.params;
  const cutError = new ParleyError("network", "The script cut the stream off");
  const perform = async (writer: ProviderStreamWriter) => {
    const context = new ProviderScriptContext(writer, ids, options);
    for (const entry of script) {
      if (options.delayMs !== undefined) await delay(options.delayMs)(context);
      if (context.canceled) throw new ParleyError("canceled");
      const wait = typeof entry === "function" ? entry(context) : context.emit(entry);
      if (wait !== undefined) await wait;
      if (context.over) return;
    }
    if (context.canceled) throw new ParleyError("canceled");
    context.succeed(ids.next());
  };
  const stream = createProviderStream(
    async (writer) => {
      try {
        await perform(writer);
      } catch (thrown) {
        throw thrown === cutOff ? cutError : thrown;
      }
    },
    options.ignoreSignal ? {} : { signal },
  );
  return new ScriptedStream(stream, call, cutError);
}

class ProviderScriptContext implements ScriptContext {
  readonly said = new Said();
  readonly clock: Clock;
  readonly #writer: ProviderStreamWriter;
  readonly #ids: IdFactory;
  readonly #options: ScriptedProviderOptions;
  over = false;

  constructor(writer: ProviderStreamWriter, ids: IdFactory, options: ScriptedProviderOptions) {
    this.#writer = writer;
    this.#ids = ids;
    this.#options = options;
    this.clock = options.clock ?? systemClock;
  }

  get canceled(): boolean {
    return this.#writer.signal.aborted && this.#options.ignoreSignal !== true;
  }

  nextCallId(): string {
    return this.#ids.next();
  }

  emit(event: ProviderStreamEvent): Promise<void> | undefined {
    if (this.over) return undefined;
    this.over = event.type === "done" || event.type === "error";
    this.said.note(event);
    return this.#writer.write(event);
  }

  async wait(promise: Promise<void>): Promise<void> {
    if (this.#options.ignoreSignal) return promise;
    const { signal } = this.#writer;
    let onAbort = () => {};
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(new ParleyError("canceled"));
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
    });
    try {
      await Promise.race([promise, aborted]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Ends the call with the result that follows from its content. */
  succeed(id: string): void {
    const { said } = this;
    if (said.usage === undefined && this.#options.usage !== undefined) {
      void this.emit({ type: "usage", usage: this.#options.usage });
    }
    const result: ProviderCallResult = {
      id,
      createdAt: new Date(this.clock.now()),
      message: { role: "assistant", content: said.content },
      finishReason: said.finishReason ?? (said.toolCalls.length > 0 ? "tool-calls" : "stop"),
      ...(said.toolCalls.length > 0 ? { toolCalls: said.toolCalls } : {}),
      ...omitUndefined({ usage: said.usage }),
    };
    void this.emit({ type: "done", result });
  }
}

/** Keeps the call's state, and hides the last event of a stream that was cut. */
class ScriptedStream implements ProviderStream {
  readonly #inner: ProviderStream;
  readonly #call: Call;
  readonly #cutError: ParleyError;

  constructor(inner: ProviderStream, call: Call, cutError: ParleyError) {
    this.#inner = inner;
    this.#call = call;
    this.#cutError = cutError;
  }

  get final(): Promise<ProviderCallResult> {
    return this.#watched();
  }

  [Symbol.asyncIterator](): AsyncIterator<ProviderStreamEvent> {
    const inner = this.#inner[Symbol.asyncIterator]();
    void this.#watched();
    return {
      next: async () => {
        const result = await inner.next();
        const cut = !result.done && result.value.type === "error" && result.value.error === this.#cutError;
        return cut ? { value: undefined, done: true } : result;
      },
      return: async () => (await inner.return?.()) ?? { value: undefined, done: true },
    };
  }

  #watched(): Promise<ProviderCallResult> {
    const { final } = this.#inner;
    final.then(
      () => {
        this.#call.state = "done";
      },
      (error: ParleyError) => {
        this.#call.state = error.code === "canceled" ? "canceled" : "failed";
      },
    );
    return final;
  }
}
