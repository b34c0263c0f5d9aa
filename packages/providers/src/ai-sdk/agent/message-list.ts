import {
  type CanonicalMessage,
  type ConversationMessage,
  createUuidV7Factory,
  type IdFactory,
  type MessageContentPart,
  type MessageOrigin,
  omitUndefined,
  resultFromText,
  type ToolResultContentPart,
  toCanonical,
  withToolValues,
} from "@parley/core/messages";
import type { TextStreamPart, ToolSet } from "ai";
import { AnswerFold, failureText, resultTextFor, type StreamPart } from "../answer/from-stream-part.js";
import { toCallError } from "../failure.js";
import { modelFamily } from "../model-family.js";
import { asMetadata, toProviderFields } from "../provider-options.js";

/** Settings that the messages of a stream share. */
export interface MessageListOptions {
  threadId: string;
  resourceId?: string;
  /**
   * The answering model: stored with its messages, so that data that only it understands is sent back to it
   * alone.
   */
  origin?: MessageOrigin;
  /** Creates message ids. Default: UUIDv7. */
  ids?: IdFactory;
  /** Returns the time of messages. Default: now. */
  now?: () => Date;
}

/**
 * The messages that a stream has produced so far: complete ones, and the answer that still grows. Created by
 * `createMessageListState`, updated by `updateFromStreamPart`, emptied by `flushToCanonical`.
 */
export interface MessageListState {
  readonly options: MessageListOptions;
  readonly ids: IdFactory;
  readonly now: () => Date;
  /** Complete messages, oldest first. */
  readonly complete: ConversationMessage[];
  /** The growing answer; undefined between two answers. */
  answer: { readonly fold: AnswerFold; readonly createdAt: Date } | undefined;
  /** The calls that have a result: a second result is not kept. */
  readonly answered: Set<string>;
  /** Calls that the SDK refused (an unknown tool, bad input): it answers them itself, at once. */
  readonly refused: Set<string>;
  /**
   * Results of calls that the SDK refused before the model's message was complete: they follow that message.
   */
  readonly held: ToolResultContentPart[];
}

/** Creates a state for one call of `streamText`, with any number of steps. */
export function createMessageListState(options: MessageListOptions): MessageListState {
  return {
    options,
    ids: options.ids ?? createUuidV7Factory(),
    now: options.now ?? (() => new Date()),
    complete: [],
    answer: undefined,
    answered: new Set(),
    refused: new Set(),
    held: [],
  };
}

/**
 * Adds one part of `streamText`'s `fullStream`. The answer of a step is one assistant message; a tool's
 * result is a separate tool message after it. A message becomes complete at a logical boundary: the end of a
 * step or of the stream, a tool's result, an abort, an error. Preliminary results are not kept; a failure is
 * kept as a separate message, which no model is shown.
 */
export function updateFromStreamPart<Tools extends ToolSet>(
  streamPart: TextStreamPart<Tools>,
  state: MessageListState,
): void {
  // The tool set determines the types of inputs and outputs; here they are treated as unknown values.
  const part = streamPart as StreamPart;
  if (part.type === "start" || part.type === "start-step") return;
  const result = resultIn(part);
  if (result !== undefined) {
    if (result.text !== undefined) addResult(state, result.of, result.text, result.isError);
    return;
  }
  state.answer ??= { fold: new AnswerFold(), createdAt: state.now() };
  state.answer.fold.push(part, () => {});
  // Some models reuse their ids in a later step.
  if (part.type === "tool-call") {
    state.answered.delete(part.toolCallId);
    if (part.invalid === true) state.refused.add(part.toolCallId);
  }
  if (part.type === "finish-step" || part.type === "finish") completeAnswer(state, true);
  else if (part.type === "abort") completeAnswer(state, false);
  else if (part.type === "error") {
    completeAnswer(state, false);
    addError(state, part.error);
  }
}

/**
 * Returns the oldest complete message that was not returned yet, or null; call it until it returns null. With
 * `ended`, the stream is over, however it ended, and the rest of its last answer counts as complete.
 */
export function flushToCanonical(
  state: MessageListState,
  { ended = false }: { ended?: boolean } = {},
): CanonicalMessage | null {
  if (ended) completeAnswer(state, false);
  const message = state.complete.shift();
  return message === undefined ? null : withToolValues(toCanonical(message));
}

/** Returns the call that a part answers, with the text of the result if it is the final one. */
function resultIn(
  part: StreamPart,
): { readonly of: AnsweredCall; readonly text?: string; readonly isError: boolean } | undefined {
  if (part.type === "tool-output-denied") return { of: part, text: "The call was denied.", isError: true };
  if (part.type !== "tool-result" && part.type !== "tool-error") return undefined;
  // Results of the provider's own tools are part of its message.
  if (part.providerExecuted === true) return undefined;
  if (part.type === "tool-error") return { of: part, text: failureText(part.error), isError: true };
  const isLast = part.preliminary !== true;
  return { of: part, isError: false, ...(isLast ? { text: resultTextFor(part.output) } : {}) };
}

interface AnsweredCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly providerMetadata?: unknown;
}

function completeAnswer(state: MessageListState, whole: boolean): void {
  const { answer } = state;
  state.answer = undefined;
  const content = answer?.fold.content(whole) ?? [];
  const { origin } = state.options;
  if (answer !== undefined && content.length > 0) {
    addMessage(state, "assistant", content, {
      createdAt: answer.createdAt,
      ...(origin === undefined ? {} : { metadata: { origin } }),
    });
  }
  for (const part of state.held.splice(0)) addMessage(state, "tool", [part]);
}

function addResult(
  state: MessageListState,
  answered: AnsweredCall,
  resultText: string,
  isError: boolean,
): void {
  const { toolCallId, toolName } = answered;
  if (state.answered.has(toolCallId)) return;
  state.answered.add(toolCallId);
  const part: ToolResultContentPart = {
    type: "tool-result",
    name: toolName,
    toolCallId,
    result: resultFromText(resultText),
    resultText,
    isError,
    ...asMetadata(toProviderFields(answered.providerMetadata)),
  };
  if (state.refused.delete(toolCallId)) {
    state.held.push(part);
    return;
  }
  // Tools run after the model's answer, so its message is complete.
  completeAnswer(state, false);
  addMessage(state, "tool", [part]);
}

function addError(state: MessageListState, error: unknown): void {
  const provider = state.options.origin?.provider ?? "provider";
  const { code, message } = toCallError(error, { provider, family: modelFamily(provider) });
  addMessage(state, "assistant", [{ type: "error", message, code }]);
}

function addMessage(
  state: MessageListState,
  role: "assistant" | "tool",
  content: MessageContentPart[],
  rest: Partial<ConversationMessage> = {},
): void {
  const { threadId, resourceId } = state.options;
  state.complete.push({
    id: state.ids.next(),
    conversationId: threadId,
    role,
    createdAt: state.now(),
    content,
    ...omitUndefined({ resourceId }),
    ...rest,
  });
}
