import { omitUndefined } from "@parley/fold";
import type { SourceChunk, StepId, StepMetrics } from "@parley/wire";
import type { Clock } from "../clock.js";
import { ParleyError, toParleyError } from "../errors.js";
import { WorkSlices } from "../event-loop.js";
import type { ConversationMessage, TokenUsage } from "../messages/message.js";
import type { MessageContentPart, ToolCallContentPart } from "../messages/part.js";
import type { AnswerLimits } from "../ports/answer-limits.js";
import type { TurnOutputChoice } from "../ports/conversation-record.js";
import type {
  ProviderCallParams,
  ProviderCallRecord,
  ProviderFinishReason,
  ProviderOutput,
} from "../ports.js";
import { Assembly, type VisibleDelta } from "./answer/assemble.js";
import { callCost } from "./answer/call-cost.js";
import { callTimes } from "./answer/call-times.js";
import { keptRaw, plainParts } from "./answer/plain-parts.js";
import { readAnswer } from "./answer/read-answer.js";
import { ReasoningTimes } from "./answer/reasoning-times.js";
import { wireUsage } from "./call-usage.js";
import { outputProvider } from "./output/final-tool.js";
import type { StepContext, TurnListener, TurnSetup } from "./turn.js";

/** Result of one model call. */
export interface StepResult {
  /** The assistant message, whole or partial; undefined if nothing arrived. */
  readonly message: ConversationMessage | undefined;
  readonly calls: readonly ToolCallContentPart[];
  readonly finishReason: ProviderFinishReason | undefined;
  /** Error of a failed call. `canceled` if the turn was stopped. */
  readonly error: ParleyError | undefined;
  readonly record: ProviderCallRecord;
  readonly metrics: StepMetrics;
  readonly usage: TokenUsage | undefined;
}

/** One call of the model, and its input. */
interface Step {
  readonly index: number;
  readonly context: StepContext;
  readonly params: Omit<ProviderCallParams, "messages">;
  readonly messageId: string;
  readonly limits: AnswerLimits;
  readonly clock: Clock;
}

/** Durations of a call. */
type Timing = Pick<StepMetrics, "ttftMs" | "decodeMs" | "genTotalMs">;

/** Returns the id of a turn's step, by its 0-based index. */
export function stepIdOf(turnId: string, stepIndex: number): StepId {
  return `${turnId}.${stepIndex}` as StepId;
}

/**
 * Makes one round trip to the model: emits what is visible while it streams, then the calls, the usage and the
 * timing. Never throws: a failure, an abort and a provider that ignores the abort all end in a result that keeps what
 * had arrived.
 */
export async function runStep(setup: TurnSetup, step: Step, emit: TurnListener): Promise<StepResult> {
  const { conversationId, turnId } = setup;
  const { clock, messageId } = step;
  const stepId = stepIdOf(turnId, step.index);
  const startedAt = new Date(clock.now());
  const start = clock.monotonic();
  let firstToken: number | undefined;
  let error: ParleyError | undefined;
  const assembly = new Assembly(step.limits);
  const reasoned = new ReasoningTimes();

  const show = (visible: VisibleDelta): Promise<void> | undefined => {
    firstToken ??= clock.monotonic();
    if (visible.kind === "reasoning") reasoned.note(visible.partIndex, clock.monotonic());
    return emit({
      type: visible.kind === "text" ? "text-delta" : "reasoning-delta",
      conversationId,
      turnId,
      stepId,
      messageId,
      partIndex: visible.partIndex,
      delta: visible.delta,
    });
  };
  try {
    const { provider, signal } = setup;
    const params = callParams(setup, step);
    await readAnswer(
      { provider: outputProvider(provider, params), params, limits: step.limits, clock, signal },
      assembly,
      show,
    );
  } catch (thrown) {
    error = setup.signal?.aborted
      ? new ParleyError("canceled", undefined, { cause: thrown })
      : toParleyError(thrown);
  }
  error ??= faultOf(assembly);

  const end = clock.monotonic();
  const said = finish(assembly);
  error ??= said.error;
  const kept = await storedParts(setup, stampCalls(reasoned.stamp(said.parts), stepId));
  error ??= kept.error;
  const { parts } = kept;
  const slices = new WorkSlices();
  for (const [partIndex, part] of parts.entries()) {
    if (part.type !== "tool-call") continue;
    await slices.next();
    await emit({
      type: "tool-call",
      conversationId,
      turnId,
      stepId,
      messageId,
      partIndex,
      toolCallId: part.toolCallId ?? "",
      toolName: part.name,
      input: part.arguments,
      ...omitUndefined({ argumentsText: part.argumentsText }),
    });
  }
  const usage = assembly.usage;
  if (usage !== undefined) {
    await emit({ type: "usage", conversationId, turnId, stepId, usage: wireUsage(usage) });
  }
  const timing: Timing = {
    ...(firstToken === undefined ? {} : { ttftMs: firstToken - start, decodeMs: end - firstToken }),
    genTotalMs: firstToken === undefined ? end - start : firstToken - start + (end - firstToken),
  };
  const sources = sourcesIn(parts);
  await emit({
    type: "step-complete",
    conversationId,
    turnId,
    stepId,
    ...timing,
    ...(sources.length === 0 ? {} : { sources }),
  });

  return {
    message: parts.length === 0 ? undefined : messageOf(setup, step, startedAt, parts),
    calls: parts.filter((part) => part.type === "tool-call"),
    finishReason: assembly.result?.finishReason,
    error,
    usage,
    metrics: {
      stepId,
      usage: wireUsage(usage ?? { inputTokens: 0, outputTokens: 0 }),
      ...timing,
      model: setup.model ?? step.params.metadata.model,
    },
    record: recordOf(setup, step, startedAt, timing, assembly),
  };
}

/** Returns the sources that an answer names, without data that is for its provider alone. */
function sourcesIn(parts: readonly MessageContentPart[]): SourceChunk[] {
  return parts.flatMap((part): SourceChunk[] => {
    if (part.type !== "source") return [];
    const { id, title, url } = part;
    return [{ type: "source", ...omitUndefined({ id, title, url }) }];
  });
}

function callParams(setup: TurnSetup, { params, context }: Step): ProviderCallParams {
  const { output, onRetry } = setup;
  return {
    ...params,
    ...(onRetry === undefined ? {} : { onRetry: (retry) => setup.onRetry?.(retry) }),
    messages: context.messages,
    ...omitUndefined({ maxTokens: context.maxTokens }),
    ...(output === undefined ? {} : { output: providerOutput(output) }),
  };
}

function providerOutput({ name, description, schema }: TurnOutputChoice): ProviderOutput {
  return { name, schema, ...omitUndefined({ description }) };
}

/** Returns the fault of an answer that ended without an error of its own. */
function faultOf({ result }: Assembly): ParleyError | undefined {
  if (result === undefined) {
    return new ParleyError("network", "The provider's stream ended before its last event");
  }
  if (result.finishReason !== "error") return undefined;
  return new ParleyError("provider_rejected", "The provider ended its answer with an error");
}

function messageOf(
  { conversationId }: TurnSetup,
  { messageId, params }: Step,
  createdAt: Date,
  content: MessageContentPart[],
): ConversationMessage {
  const { provider, model } = params.metadata;
  const metadata = { origin: { provider, model } };
  return { id: messageId, conversationId, role: "assistant", createdAt, content, metadata };
}

/** Returns the record of the call beside its message. */
function recordOf(
  setup: TurnSetup,
  { index, messageId, params, context }: Step,
  startedAt: Date,
  timing: Timing,
  { result, usage, billed }: Assembly,
): ProviderCallRecord {
  return {
    id: result?.id ?? messageId,
    ...callTimes(startedAt, result),
    metadata: params.metadata,
    ...omitUndefined({ modelName: setup.model }),
    stepId: stepIdOf(setup.turnId, index),
    ...timing,
    ...(usage === undefined ? {} : { usage }),
    ...callCost({ usage, billed, prices: setup.prices }),
    ...(context.manifest === undefined ? {} : { manifest: context.manifest }),
    ...(result?.finishReason === undefined ? {} : { finishReason: result.finishReason }),
    ...(setup.keepRaw ? keptRaw(result?.raw) : {}),
  };
}

/** Returns the finished parts; for a result that cannot be read, the parts streamed before it. */
function finish(assembly: Assembly): { parts: MessageContentPart[]; error?: ParleyError } {
  try {
    return { parts: plainParts(assembly.finish()) };
  } catch (thrown) {
    const error = new ParleyError("provider_rejected", "The provider's answer is not plain data", {
      cause: thrown,
    });
    return { parts: plainParts(assembly.partial()), error };
  }
}

/** Returns the parts with their files stored. A file that cannot be stored is left out, and the step fails. */
async function storedParts(
  { storeFiles }: TurnSetup,
  parts: MessageContentPart[],
): Promise<{ parts: MessageContentPart[]; error?: ParleyError }> {
  if (storeFiles === undefined || !parts.some(({ type }) => type === "file")) return { parts };
  try {
    return { parts: [...(await storeFiles(parts))] };
  } catch (thrown) {
    return { parts: parts.filter(({ type }) => type !== "file"), error: toParleyError(thrown) };
  }
}

/** Sets the step of calls, and an id if an adapter gave none or the same one twice. */
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
