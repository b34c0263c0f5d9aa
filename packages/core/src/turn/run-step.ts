import type { AgentEvent, StepId, StepMetrics, Usage } from "@parley/wire";
import type { Clock } from "../clock.js";
import { ParleyError, toParleyError } from "../errors.js";
import type { ConversationMessage, TokenUsage } from "../messages/message.js";
import type { MessageContentPart, ToolCallContentPart } from "../messages/part.js";
import { openProviderStream } from "../messages/provider-stream.js";
import type {
  ProviderCallParams,
  ProviderCallRecord,
  ProviderFinishReason,
  ProviderStreamEvent,
} from "../ports.js";
import { Assembly } from "./assemble.js";
import type { StepContext, TurnSetup } from "./turn.js";

/** What one model call left behind. */
export interface StepResult {
  /** The assistant message, whole or partial; undefined when nothing came. */
  readonly message: ConversationMessage | undefined;
  readonly calls: readonly ToolCallContentPart[];
  readonly finishReason: ProviderFinishReason | undefined;
  /** Why the call failed. `canceled` when the turn was stopped. */
  readonly error: ParleyError | undefined;
  readonly record: ProviderCallRecord;
  readonly metrics: StepMetrics;
  readonly usage: TokenUsage | undefined;
}

/** The id of a turn's step, by its 0-based index. */
export function stepIdOf(turnId: string, stepIndex: number): StepId {
  return `${turnId}.${stepIndex}` as StepId;
}

/**
 * One round trip to the model: yields what can be seen while it streams, then the calls, the usage and the
 * timing. Never throws: a failure, an abort and a provider that ignores the abort all end in a result that
 * keeps what had arrived.
 */
export async function* runStep(
  setup: TurnSetup,
  step: {
    readonly index: number;
    readonly context: StepContext;
    readonly params: Omit<ProviderCallParams, "messages">;
    readonly messageId: string;
    readonly clock: Clock;
  },
): AsyncGenerator<AgentEvent, StepResult, undefined> {
  const { conversationId, turnId } = setup;
  const { clock, messageId } = step;
  const stepId = stepIdOf(turnId, step.index);
  const startedAt = new Date(clock.now());
  const start = clock.monotonic();
  let firstToken: number | undefined;
  let error: ParleyError | undefined;
  const assembly = new Assembly();

  const params: ProviderCallParams = {
    ...step.params,
    messages: step.context.messages,
    ...(setup.signal === undefined ? {} : { signal: setup.signal }),
  };
  try {
    setup.signal?.throwIfAborted();
    const stream = await untilAborted(openProviderStream(setup.provider, params), setup.signal);
    for await (const event of abortable(stream, setup.signal)) {
      if (event.type === "error") {
        error = event.error;
        break;
      }
      const visible = assembly.apply(event);
      if (visible === undefined) continue;
      firstToken ??= clock.monotonic();
      yield {
        type: visible.kind === "text" ? "text-delta" : "reasoning-delta",
        conversationId,
        turnId,
        stepId,
        messageId,
        partIndex: visible.partIndex,
        delta: visible.delta,
      };
    }
  } catch (thrown) {
    error = setup.signal?.aborted
      ? new ParleyError("canceled", undefined, { cause: thrown })
      : toParleyError(thrown);
  }
  if (error === undefined && assembly.result === undefined) {
    error = new ParleyError("network", "The provider's stream ended before its last event");
  }

  const end = clock.monotonic();
  const { provider, model } = step.params.metadata;
  const parts = stampCalls(error === undefined ? assembly.finish() : assembly.partial(), stepId);
  const calls = parts.filter((part) => part.type === "tool-call");
  for (const [partIndex, part] of parts.entries()) {
    if (part.type !== "tool-call") continue;
    yield {
      type: "tool-call",
      conversationId,
      turnId,
      stepId,
      messageId,
      partIndex,
      toolCallId: part.toolCallId ?? "",
      toolName: part.name,
      input: part.arguments,
      ...(part.argumentsText === undefined ? {} : { argumentsText: part.argumentsText }),
    };
  }
  const usage = assembly.usage;
  if (usage !== undefined) {
    yield { type: "usage", conversationId, turnId, stepId, usage: wireUsage(usage) };
  }
  const timing = {
    ...(firstToken === undefined ? {} : { ttftMs: firstToken - start, decodeMs: end - firstToken }),
    genTotalMs: firstToken === undefined ? end - start : firstToken - start + (end - firstToken),
  };
  yield { type: "step-complete", conversationId, turnId, stepId, ...timing };

  const message: ConversationMessage | undefined =
    parts.length === 0
      ? undefined
      : {
          id: messageId,
          conversationId,
          role: "assistant",
          createdAt: startedAt,
          content: parts,
          metadata: { origin: { provider, model } },
        };
  const result = assembly.result;
  return {
    message,
    calls,
    finishReason: result?.finishReason,
    error,
    usage,
    metrics: {
      stepId,
      usage: wireUsage(usage ?? { inputTokens: 0, outputTokens: 0 }),
      ...timing,
      model: setup.model ?? model,
    },
    record: {
      id: result?.id ?? messageId,
      createdAt: startedAt,
      metadata: step.params.metadata,
      stepId,
      ...timing,
      ...(usage === undefined ? {} : { usage }),
      ...(step.context.manifest === undefined ? {} : { manifest: step.context.manifest }),
      ...(result?.finishReason === undefined ? {} : { finishReason: result.finishReason }),
      ...(setup.keepRaw && result?.raw !== undefined ? { raw: result.raw } : {}),
    },
  };
}

/** Calls get their step, and an id where an adapter gave none or the same one twice. */
function stampCalls(parts: MessageContentPart[], stepId: string): MessageContentPart[] {
  const seen = new Set<string>();
  return parts.map((part, index) => {
    if (part.type !== "tool-call") return part;
    const given = part.toolCallId;
    const toolCallId = given === undefined || given === "" || seen.has(given) ? `${stepId}.${index}` : given;
    seen.add(toolCallId);
    return { ...part, toolCallId, stepId };
  });
}

/** The counters that travel: the wire has no total, which is input + output. */
export function wireUsage(usage: TokenUsage): Usage {
  const { totalTokens: _, ...counters } = usage;
  return counters;
}

async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(new ParleyError("canceled"));
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * The events, until the signal aborts: then the pending read rejects at once, whether or not the provider
 * obeys, and the provider's iteration is told to end.
 */
function abortable(
  source: AsyncIterable<ProviderStreamEvent>,
  signal: AbortSignal | undefined,
): AsyncIterable<ProviderStreamEvent> {
  if (signal === undefined) return source;
  return {
    [Symbol.asyncIterator]() {
      const inner = source[Symbol.asyncIterator]();
      let reject: ((error: ParleyError) => void) | undefined;
      const onAbort = () => reject?.(new ParleyError("canceled"));
      signal.addEventListener("abort", onAbort, { once: true });
      const leave = () => signal.removeEventListener("abort", onAbort);
      return {
        next() {
          return new Promise((resolve, rejectNext) => {
            if (signal.aborted) {
              void inner.return?.()?.then(undefined, () => {});
              leave();
              rejectNext(new ParleyError("canceled"));
              return;
            }
            reject = (error) => {
              void inner.return?.()?.then(undefined, () => {});
              rejectNext(error);
            };
            inner.next().then((result) => {
              if (result.done) leave();
              resolve(result);
            }, rejectNext);
          });
        },
        async return() {
          leave();
          await inner.return?.();
          return { value: undefined, done: true };
        },
      };
    },
  };
}
