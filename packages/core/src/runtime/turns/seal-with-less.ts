import { omitUndefined } from "@parley/fold";
import type { TurnMetrics, TurnReason, Usage } from "@parley/wire";
import { type ParleyError, toParleyError } from "../../errors.js";
import type { ConversationMessage } from "../../messages/message.js";
import type { MessageContentPart } from "../../messages/part.js";
import type { SealInput, SealResult } from "../../ports/log-store.js";
import { isGone } from "../nodes/is-gone.js";
import { cutMessages, missingResult, sizeOf } from "./cut-messages.js";

/** Id and time for the message in the log about the refusal. */
interface NewMessage {
  readonly id: () => string;
  readonly now: () => number;
}

/** Number of times a cut is halved before the answer is given up. */
const cuts = 6;

/**
 * Seals a turn, and if the store refuses that permanently, with less and less: no conversation stays open because of
 * what its turn wants to write. Parts that are too large are cut, then the figures are dropped, then the messages. If
 * the log loses something, an error in it says so. Rejects only with an error that is not a refusal, or if even an
 * empty seal is refused.
 */
export async function sealWithLess(
  input: SealInput,
  make: NewMessage,
  seal: (input: SealInput) => Promise<SealResult>,
  onRefused: (error: ParleyError) => void,
): Promise<{ readonly input: SealInput; readonly sealed: SealResult }> {
  let refusal: ParleyError;
  try {
    return { input, sealed: await seal(input) };
  } catch (thrown) {
    refusal = refusalOf(thrown);
  }
  onRefused(refusal);
  for (const lesser of lesserSeals(input, refusal, make)) {
    try {
      return { input: lesser, sealed: await seal(lesser) };
    } catch (thrown) {
      refusal = refusalOf(thrown);
    }
  }
  throw refusal;
}

/** Returns the error, if the very same seal would be refused again. Throws all others. */
function refusalOf(thrown: unknown): ParleyError {
  const error = toParleyError(thrown);
  if (isGone(error) || error.retryable) throw thrown;
  return error;
}

function* lesserSeals(input: SealInput, refusal: ParleyError, make: NewMessage): Iterable<SealInput> {
  const lost = (from: SealInput, messages: readonly ConversationMessage[], what: string): SealInput =>
    losing(from, messages, refusal, what, make);
  const bare: SealInput = { ...input, metrics: leastMetrics(input.metrics), providerCalls: [] };
  if (refusal.code === "too_large") {
    const { maxBytes } = refusal.details ?? {};
    const largest = Math.max(0, ...input.messages.map(sizeOf));
    const limit = typeof maxBytes === "number" ? maxBytes : largest / 2;
    // A message within the limit was not the reason for the refusal: then the figures are dropped first.
    if (largest > limit) yield* cutSeals(input, limit, lost);
    yield { ...input, providerCalls: [] };
    yield bare;
    yield* cutSeals(bare, limit, lost);
  } else {
    yield { ...input, providerCalls: [] };
    yield bare;
  }
  yield lost(bare, withoutAnswer(input.messages), "what had not been committed is not kept");
  yield lost(bare, [], "what had not been committed is not kept");
  yield { ...lost(bare, [], ""), messages: [] };
}

function* cutSeals(
  input: SealInput,
  limit: number,
  lost: (from: SealInput, messages: readonly ConversationMessage[], what: string) => SealInput,
): Iterable<SealInput> {
  // Less than the limit: a row holds a little more than its message.
  for (let cut = 0, bytes = limit * 0.9; cut < cuts; cut += 1, bytes /= 2) {
    const messages = cutMessages(input.messages, bytes);
    if (messages !== input.messages) yield lost(input, messages, "what was too long is cut");
  }
}

/** Returns the same seal with other messages, for a turn that now has failed, unless it had been stopped before. */
function losing(
  input: SealInput,
  messages: readonly ConversationMessage[],
  refusal: ParleyError,
  what: string,
  make: NewMessage,
): SealInput {
  const wasCutShort = input.reason === "aborted" || input.reason === "interrupted";
  const reason: TurnReason = wasCutShort ? input.reason : "error";
  // A turn ends with one error: an earlier failure comes first.
  const before = input.messages.flatMap(({ content }) => content).find((part) => part.type === "error");
  const refused = `The store refused the end of this turn (${refusal.message}): ${what}`;
  const notice: ConversationMessage = {
    id: make.id(),
    conversationId: input.conversationId,
    role: "assistant",
    createdAt: new Date(make.now()),
    content: [
      {
        type: "error",
        code: before?.code ?? refusal.code,
        message: before === undefined ? refused : `${before.message.slice(0, 1_000)}. ${refused}`,
      },
    ],
  };
  const others = messages.filter(({ content }) => content.every((part) => part.type !== "error"));
  return {
    ...input,
    messages: [...others, notice],
    reason,
    metrics: { ...metricsWithout(input.metrics), reason },
    next: { ...input.next, pauseQueue: input.next.pauseQueue || reason === "error" },
  };
}

/**
 * Returns one result for each call that was committed before, and nothing else: no row of the log is left unanswered.
 */
function withoutAnswer(messages: readonly ConversationMessage[]): ConversationMessage[] {
  const made = new Set<string | undefined>();
  for (const { content } of messages) {
    for (const part of content) if (part.type === "tool-call") made.add(part.toolCallId);
  }
  return messages.flatMap((message) => {
    if (message.role !== "tool") return [];
    const content = message.content.flatMap((part): MessageContentPart[] => {
      if (part.type !== "tool-result" || made.has(part.toolCallId)) return [];
      const { type, name, toolCallId, stepId } = part;
      const call = {
        ...omitUndefined({ toolCallId, stepId }),
      };
      return [{ type, name, ...call, ...missingResult }];
    });
    const { metadata: _, ...envelope } = message;
    return content.length === 0 ? [] : [{ ...envelope, content }];
  });
}

/** Returns the figures of a turn that lost its answer: the data that it had to return is lost with it. */
function metricsWithout(metrics: TurnMetrics): TurnMetrics {
  const { output } = metrics;
  if (output === undefined) return metrics;
  const errors = ["the answer could not be stored"];
  return { ...metrics, output: { valid: false, attempts: output.attempts, errors } };
}

/** Returns the figures of a turn that no store can refuse. */
function leastMetrics(metrics: TurnMetrics): TurnMetrics {
  const { turnId, durationMs, contextSize, reason, model, output, cost } = metrics;
  const steps = metrics.steps.map(({ stepId, usage }) => ({ stepId, usage: leastUsage(usage) }));
  return {
    turnId,
    usage: {
      inputTokens: steps.reduce((sum, { usage }) => sum + usage.inputTokens, 0),
      outputTokens: steps.reduce((sum, { usage }) => sum + usage.outputTokens, 0),
    },
    steps,
    ...(isFigure(durationMs) ? { durationMs } : {}),
    ...(isFigure(contextSize) ? { contextSize } : {}),
    ...omitUndefined({ reason, output, cost }),
    ...(typeof model === "string" ? { model } : {}),
  };
}

function leastUsage({ inputTokens, outputTokens }: Usage): Usage {
  return {
    inputTokens: isFigure(inputTokens) ? inputTokens : 0,
    outputTokens: isFigure(outputTokens) ? outputTokens : 0,
  };
}

function isFigure(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value >= 0;
}
