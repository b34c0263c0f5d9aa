import {
  argumentsFromText,
  argumentsTextOf,
  type ConversationMessage,
  type MessageContentPart,
  type MessageOrigin,
  omitUndefined,
  type Repair,
  type RepairedHistory,
  repairHistory,
  resultFromText,
  resultTextOf,
  textOf,
} from "@parley/core/messages";
import type { AssistantBlock, MessageParam, UserBlock } from "../anthropic/api-types.js";
import { withoutTrailingSpace } from "../anthropic/request/blank-text.js";
import { messagesLowering, type UnsendableArguments } from "../anthropic/request/lower-messages.js";
import { lowerHistory } from "../call/lowered-history.js";
import { createToolNames } from "../call/tool-names.js";
import { wellFormed } from "../call/well-formed.js";
import type { TranscriptMessage } from "./transcript-message.js";

/** A message of OpenAI's chat API. */
export interface OpenAIMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: "function";
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

/** A message of Anthropic's API: a single text, or a list of blocks. */
export type AnthropicMessage =
  | { readonly role: "user"; readonly content: string | readonly UserBlock[] }
  | { readonly role: "assistant"; readonly content: string | readonly AssistantBlock[] };

/**
 * Content that could not be passed on unchanged: arguments that are not a JSON object, and calls and results
 * that did not belong together. A repair refers to its message by its place in the transcript.
 */
export type TranscriptProblem = UnsendableArguments | Repair;

/** A transcript in the form of Anthropic's API, where instructions are separate from the messages. */
export interface AnthropicMessages {
  readonly system: string | undefined;
  readonly messages: readonly AnthropicMessage[];
  /** Empty if everything was passed on unchanged. */
  readonly problems: readonly TranscriptProblem[];
}

/**
 * Converts a transcript to messages of OpenAI's chat API, one for each. Exactly one result follows each call;
 * a result that answers no call is omitted, a call without one gets one that says so.
 */
export function toOpenAIMessages(messages: readonly TranscriptMessage[]): OpenAIMessage[] {
  return repaired(messages).messages.flatMap((message): OpenAIMessage[] => {
    if (message.role === "tool") {
      return message.content.flatMap((part) =>
        part.type === "tool-result"
          ? [{ role: "tool", content: wellFormed(resultTextOf(part)), tool_call_id: part.toolCallId ?? "" }]
          : [],
      );
    }
    const text = wellFormed(textOf(message));
    const calls = message.content.filter((part) => part.type === "tool-call");
    // Only a message with calls may lack content.
    const content = text === "" && calls.length > 0 ? {} : { content: text };
    if (calls.length === 0) return [{ role: message.role, ...content }];
    const toolCalls = calls.map((call) => ({
      id: call.toolCallId ?? "",
      type: "function" as const,
      function: { name: call.name, arguments: wellFormed(argumentsTextOf(call)) },
    }));
    return [{ role: message.role, ...content, tool_calls: toolCalls }];
  });
}

/**
 * Converts a transcript to messages of Anthropic's API, by the rules of its provider. `reader` is the model
 * that reads them: reasoning is sent only to its author. A last message of the assistant stays, to be
 * continued.
 */
export function toAnthropicMessages(
  messages: readonly TranscriptMessage[],
  reader?: MessageOrigin,
): AnthropicMessages {
  const { messages: healthy, repairs } = repaired(messages);
  const lowered = lowerHistory(
    healthy.map(({ role, content, metadata }) => ({
      role,
      content,
      ...(metadata?.origin === undefined ? {} : { origin: metadata.origin as MessageOrigin }),
    })),
    messagesLowering({ names: createToolNames([]), reader }),
  );
  const system = lowered.state.system.values.map(({ text }) => text).join("\n\n");
  return {
    system: system === "" ? undefined : system,
    messages: withCleanEnd(lowered.items).map(asText),
    problems: [...repairs, ...lowered.state.unsendable.values],
  };
}

function repaired(messages: readonly TranscriptMessage[]): RepairedHistory {
  return repairHistory(messages.map(toConversationMessage));
}

const anyDate = new Date(0);

function toConversationMessage(message: TranscriptMessage, place: number): ConversationMessage {
  const { role, origin } = message;
  return {
    id: String(place),
    conversationId: "",
    role,
    createdAt: anyDate,
    content: contentOf(message),
    ...(origin === undefined ? {} : { metadata: { origin } }),
  };
}

function contentOf(message: TranscriptMessage): MessageContentPart[] {
  const { role, content, toolCalls, toolCallId, toolName, isError, parts } = message;
  if (parts !== undefined) return [...parts];
  if (role === "tool") {
    return [
      {
        type: "tool-result",
        name: toolName ?? "",
        result: resultFromText(content),
        resultText: content,
        ...omitUndefined({ toolCallId }),
        isError,
      },
    ];
  }
  const calls = toolCalls.map(
    (call): MessageContentPart => ({
      type: "tool-call",
      name: call.name,
      arguments: argumentsFromText(call.arguments),
      argumentsText: call.arguments,
      toolCallId: call.id,
    }),
  );
  return content === "" && calls.length > 0 ? calls : [{ type: "text", text: content }, ...calls];
}

/** Removes white space at the end of an answer that is to be continued, which is refused. */
function withCleanEnd(messages: readonly MessageParam[]): readonly MessageParam[] {
  const last = messages.at(-1);
  const end = last?.content.at(-1);
  if (last?.role !== "assistant" || end?.type !== "text" || typeof end.text !== "string") return messages;
  const clean = { ...end, type: "text", text: withoutTrailingSpace(end.text) } as const;
  return [...messages.slice(0, -1), { role: "assistant", content: [...last.content.slice(0, -1), clean] }];
}

function asText(message: MessageParam): AnthropicMessage {
  const [only, ...more] = message.content;
  if (only?.type !== "text" || more.length > 0 || typeof only.text !== "string") return message;
  return { role: message.role, content: only.text };
}
