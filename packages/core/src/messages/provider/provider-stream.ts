import { isParleyError, ParleyError, toParleyError } from "../../errors.js";
import type {
  ProviderAdapter,
  ProviderCallParams,
  ProviderCallResult,
  ProviderMessage,
  ProviderStream,
  ProviderStreamEvent,
} from "../../ports.js";
import { onAbort } from "../abort.js";
import { Channel } from "../channel.js";
import type { MessageContentPart } from "../part.js";

/** Number of events that a provider may be ahead of its reader before it has to wait. */
const highWater = 512;

/** Destination of an adapter's events. */
export interface ProviderStreamWriter {
  /**
   * Passes an event to the reader. A returned promise asks the writer to wait: the reader is behind. The first
   * `done` or `error` is the last event that counts.
   */
  write(event: ProviderStreamEvent): Promise<void> | undefined;
  /** Aborted when the reader leaves early or the caller's own signal aborts. */
  readonly signal: AbortSignal;
}

/**
 * Creates a `ProviderStream` over a function that writes events. The function starts with the first read of the
 * iteration or of `final`. In every case the reader sees exactly one `done` or `error` at the end: a throw becomes an
 * `error` event, and so does an end without either.
 */
export function createProviderStream(
  produce: (writer: ProviderStreamWriter) => Promise<void>,
  options: { signal?: AbortSignal | undefined } = {},
): ProviderStream {
  return new ProducedStream(produce, options.signal);
}

class ProducedStream implements ProviderStream {
  readonly #produce: (writer: ProviderStreamWriter) => Promise<void>;
  readonly #outerSignal: AbortSignal | undefined;
  readonly #abort = new AbortController();
  readonly #events: Channel<ProviderStreamEvent>;
  #started = false;
  #read = false;
  #settled = false;
  #settle:
    | { resolve: (result: ProviderCallResult) => void; reject: (error: ParleyError) => void }
    | undefined;
  readonly #final: Promise<ProviderCallResult>;

  constructor(produce: (writer: ProviderStreamWriter) => Promise<void>, signal: AbortSignal | undefined) {
    this.#produce = produce;
    this.#outerSignal = signal;
    this.#events = new Channel({ highWater, onLeave: () => this.#leave() });
    this.#final = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // A caller that only iterates has seen the error event and need not await `final` as well.
    this.#final.catch(() => {});
  }

  get final(): Promise<ProviderCallResult> {
    this.#start();
    return this.#final;
  }

  [Symbol.asyncIterator](): AsyncIterator<ProviderStreamEvent> {
    this.#read = true;
    this.#start();
    return this.#events;
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    const stopListening = onAbort(this.#outerSignal, () => this.#abort.abort());
    const writer: ProviderStreamWriter = {
      write: (event) => this.#write(event),
      signal: this.#abort.signal,
    };
    this.#produce(writer)
      .then(
        () => {
          if (this.#settled) return;
          const canceled = this.#abort.signal.aborted;
          this.#end(
            canceled
              ? new ParleyError("canceled")
              : new ParleyError("network", "The provider's stream ended before its last event"),
          );
        },
        (error: unknown) => this.#end(asStreamError(error, this.#abort.signal)),
      )
      .finally(stopListening);
  }

  #write(event: ProviderStreamEvent): Promise<void> | undefined {
    if (this.#settled) return undefined;
    if (event.type === "error") {
      this.#end(event.error);
      return undefined;
    }
    const wait = this.#events.push(event);
    if (event.type === "done") {
      this.#settled = true;
      this.#events.end();
      this.#settle?.resolve(event.result);
      return undefined;
    }
    // A caller that only awaits `final` reads no events, so waiting for it would never end.
    return this.#read ? wait : undefined;
  }

  #end(error: ParleyError): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#events.push({ type: "error", error });
    this.#events.end();
    this.#settle?.reject(error);
  }

  #leave(): void {
    this.#abort.abort();
    this.#end(new ParleyError("canceled", "The reader left the stream"));
  }
}

function asStreamError(error: unknown, signal: AbortSignal): ParleyError {
  if (isParleyError(error)) return error;
  if (signal.aborted) return new ParleyError("canceled", undefined, { cause: error });
  return toProviderFailure(error);
}

const longestMessage = 500;

/**
 * Converts an error that a provider threw: a `ParleyError` passes through, an abort becomes `canceled`, a
 * `TimeoutError` `timeout`, and anything else `provider_rejected`, with its message, shortened if it is very long.
 */
export function toProviderFailure(thrown: unknown): ParleyError {
  const isTimeout = thrown instanceof Error && thrown.name === "TimeoutError";
  const failure = toParleyError(thrown, isTimeout ? "timeout" : "provider_rejected");
  if (failure === thrown || failure.message.length <= longestMessage) return failure;
  const message = `${failure.message.slice(0, longestMessage)}…`;
  return new ParleyError(failure.code, message, { cause: thrown });
}

/** Reads a stream to its end and returns its result, or throws its error. */
export async function collect(stream: ProviderStream): Promise<ProviderCallResult> {
  try {
    return await stream.final;
  } catch (thrown) {
    throw toProviderFailure(thrown);
  }
}

/** Returns a finished call as a stream: its parts and calls, its usage, then `done`. */
export function streamOf(result: ProviderCallResult | Promise<ProviderCallResult>): ProviderStream {
  return createProviderStream(async ({ write }) => {
    const settled = await result;
    const said = new Set<string>();
    let text = "";
    for (const [index, raw] of settled.message.content.entries()) {
      const part = raw as MessageContentPart;
      if (part.type === "text") {
        text += part.text;
        await write({ type: "delta", delta: assistantText(text), textDelta: part.text, index });
      } else if (part.type === "reasoning" && part.text !== "") {
        await write({ type: "reasoning-delta", textDelta: part.text, index });
      }
      if (part.type === "tool-call" && part.toolCallId !== undefined) said.add(part.toolCallId);
      await write({ type: "part", part, index });
    }
    for (const toolCall of settled.toolCalls ?? []) {
      if (!said.has(toolCall.id)) await write({ type: "tool-call", toolCall });
    }
    if (settled.usage !== undefined) await write({ type: "usage", usage: settled.usage });
    await write({ type: "done", result: settled });
  });
}

/** Opens the stream of any adapter: its own, or its single answer as a stream of one. */
export async function openProviderStream(
  provider: ProviderAdapter,
  params: ProviderCallParams,
): Promise<ProviderStream> {
  try {
    if (provider.completeStream !== undefined) return await provider.completeStream(params);
    return streamOf(provider.complete(params));
  } catch (thrown) {
    throw toProviderFailure(thrown);
  }
}

function assistantText(text: string): ProviderMessage {
  return { role: "assistant", content: [{ type: "text", text }] };
}

/**
 * A text increment as a stream event. The message with the whole text so far is part of the published shape; it is
 * built only when it is read, so that a long answer costs no more per delta than a short one.
 */
export class TextDelta {
  readonly type = "delta";
  readonly textDelta: string;
  readonly index?: number;
  readonly #text: string;

  constructor(textDelta: string, textSoFar: string, index?: number) {
    this.textDelta = textDelta;
    this.#text = textSoFar;
    if (index !== undefined) this.index = index;
  }

  get delta(): ProviderMessage {
    return assistantText(this.#text);
  }
}
