import {
  argumentsTextOf,
  type CanonicalMessage,
  fromCanonical,
  type MessageContentPart,
  type MessageOrigin,
  resultTextOf,
  type ToolCallContentPart,
  type ToolResultContentPart,
  toProviderMessages,
} from "@parley/core/messages";
import type {
  AssistantModelMessage,
  JSONValue,
  ModelMessage,
  TextPart,
  ToolCallPart,
  ToolModelMessage,
  ToolResultPart,
  UserContent,
} from "ai";
import { isBlank } from "../../anthropic/request/blank-text.js";
import { sendableValue } from "../../anthropic/request/sendable-value.js";
import { type PreparedMessage, prepareMessages } from "../../call/prepare-messages.js";
import { createToolNames, type ToolNames } from "../../call/tool-names.js";
import { isWellFormed, wellFormed } from "../../call/well-formed.js";
import type { ModelFamily } from "../model-family.js";
import { isFields, type ProviderFields, toProviderFields } from "../provider-options.js";
import { readProviderTool } from "../provider-tool.js";
import { fileNote, filePart } from "./file-part.js";
import { type AssistantPart, replayable } from "./replayable-content.js";

/**
 * Argument text that is not an object is sent in an object with this single field: models and APIs require
 * objects.
 */
const rawArgumentsField = "_raw";

/** Options for lowering messages. */
export interface LowerModelMessages {
  readonly names: ToolNames;
  readonly family: ModelFamily;
  /** The key of the reader's options. */
  readonly key: string;
  /**
   * The model that will read the messages: data that only it understands is sent if it made it. Undefined:
   * everything is sent.
   */
  readonly reader?: MessageOrigin | undefined;
  /** True if the provider stores its answers. */
  readonly stored?: boolean;
  /** True to send only text, calls and results, to a reader that could not process the rest. */
  readonly plain?: boolean;
}

/** Options of `toAiSdkMessages`. */
export interface ToAiSdkMessagesOptions {
  /**
   * The model that will read the messages. With it, reasoning, ids and other data that only one model
   * understands are sent to that model alone; without it they are always sent.
   */
  reader?: MessageOrigin;
}

/**
 * Converts stored messages to messages of the AI SDK. Total: the result is valid for the SDK whatever the
 * history is. Each call has exactly one result, right after it (a missing one is replaced by one that says
 * the call was interrupted); unfinished calls, errors, data and empty content are omitted; a part's
 * `providerMetadata` becomes its `providerOptions`, unchanged. Messages that other writers merged (a call
 * with its result) are split.
 */
export function toAiSdkMessages(
  messages: readonly CanonicalMessage[],
  options: ToAiSdkMessagesOptions = {},
): ModelMessage[] {
  const prepared = prepareMessages(toProviderMessages(messages.flatMap(fromCanonical)));
  return toModelMessages(prepared, {
    names: createToolNames([]),
    family: "other",
    key: "",
    reader: options.reader,
  });
}

/**
 * Converts prepared messages to messages of the AI SDK, by the rules of `toAiSdkMessages` and of the reader's
 * family.
 */
export function toModelMessages(
  prepared: readonly PreparedMessage[],
  how: LowerModelMessages,
): ModelMessage[] {
  const lowered: ModelMessage[] = [];
  const usedIds = new Set<string>();
  let leading = true;
  for (const message of prepared) {
    leading &&= message.role === "system";
    switch (message.role) {
      case "system":
        if (leading || how.family === "openai") push(lowered, systemMessage(message));
        else push(lowered, userMessage(message, how));
        break;
      case "user":
        push(lowered, userMessage(message, how));
        break;
      case "assistant":
        push(lowered, assistantMessage(message, how, usedIds));
        break;
      default:
        pushResults(lowered, message, how);
    }
  }
  return lowered;
}

function push(messages: ModelMessage[], message: ModelMessage | undefined): void {
  if (message !== undefined) messages.push(message);
}

function systemMessage(message: PreparedMessage): ModelMessage | undefined {
  const text = message.content
    .flatMap((part) => {
      if (part.type === "text") return isBlank(part.text) ? [] : [wellFormed(part.text)];
      return part.type === "file" ? [fileNote(part).text] : [];
    })
    .join("\n\n");
  return text === "" ? undefined : { role: "system", content: text, ...messageOptions(message) };
}

function userMessage(message: PreparedMessage, how: LowerModelMessages): ModelMessage | undefined {
  const content: Exclude<UserContent, string> = [];
  for (const part of message.content) {
    if (part.type === "text" && !isBlank(part.text)) {
      // Most models accept instructions only at the start of a conversation, so later ones are marked.
      const text = message.role === "system" ? `<system>\n${part.text}\n</system>` : part.text;
      content.push({ type: "text", text: wellFormed(text), ...partOptions(part, how) });
    } else if (part.type === "file") {
      const file = filePart(part);
      const sent = how.plain && file.type === "file" ? fileNote(part) : file;
      if (sent.type === "file" || !isBlank(sent.text)) content.push({ ...sent, ...partOptions(part, how) });
    }
  }
  if (content.length === 0) return undefined;
  return { role: "user", content, ...(how.plain ? {} : messageOptions(message)) };
}

function assistantMessage(
  message: PreparedMessage,
  how: LowerModelMessages,
  usedIds: Set<string>,
): AssistantModelMessage | undefined {
  const { reader, plain = false } = how;
  const { origin } = message;
  const isOwn =
    !plain &&
    (reader === undefined || (origin?.provider === reader.provider && origin.model === reader.model));
  const parts = message.content.flatMap((part): AssistantPart[] => assistantPart(part, how, isOwn));
  const content = replayable(
    parts,
    { family: how.family, key: how.key, stored: how.stored ?? false },
    usedIds,
  );
  if (content.length === 0) return undefined;
  return { role: "assistant", content, ...(isOwn ? messageOptions(message) : {}) };
}

function assistantPart(part: MessageContentPart, how: LowerModelMessages, isOwn: boolean): AssistantPart[] {
  const options = isOwn ? optionsOf(part) : {};
  switch (part.type) {
    case "text":
      return isBlank(part.text) ? [] : [{ type: "text", text: wellFormed(part.text), ...options }];
    case "reasoning":
      return isOwn && (part.text !== "" || "providerOptions" in options)
        ? [{ type: "reasoning", text: wellFormed(part.text), ...options }]
        : [];
    case "tool-call":
      return [toolCall(part, how.names, options)];
    case "metadata": {
      const kept = isOwn ? readProviderTool(part) : undefined;
      return kept === undefined ? [] : [kept];
    }
    case "file": {
      const file: AssistantPart = filePart(part);
      // These families do not accept files in an answer.
      if (!isOwn || file.type !== "file" || how.family !== "other") return [answeredFile(part, file)];
      return [{ ...file, ...options }];
    }
    default:
      return [];
  }
}

function answeredFile(part: MessageContentPart & { type: "file" }, lowered: AssistantPart): TextPart {
  return lowered.type === "text" && !isBlank(lowered.text) ? lowered : fileNote(part);
}

function toolCall(part: ToolCallContentPart, names: ToolNames, options: Options): ToolCallPart {
  return {
    type: "tool-call",
    toolCallId: part.toolCallId ?? "",
    toolName: names.toSent(part.name),
    input: inputOf(argumentsTextOf(part)),
    ...options,
  };
}

function inputOf(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    const value = JSON.parse(text) as unknown;
    if (isFields(value)) return sendableValue(value);
  } catch {
    // Malformed: the model is shown the text it wrote.
  }
  return { [rawArgumentsField]: wellFormed(text) };
}

/** Adds the results of one step as one message. */
function pushResults(messages: ModelMessage[], message: PreparedMessage, how: LowerModelMessages): void {
  const content = message.content.flatMap((part) =>
    part.type === "tool-result" ? [toolResult(part, how)] : [],
  );
  if (content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === "tool") last.content.push(...content);
  else messages.push({ role: "tool", content } satisfies ToolModelMessage);
}

function toolResult(part: ToolResultContentPart, how: LowerModelMessages): ToolResultPart {
  return {
    type: "tool-result",
    toolCallId: part.toolCallId ?? "",
    toolName: how.names.toSent(part.name),
    output: outputOf(part),
    ...partOptions(part, how),
  };
}

function outputOf(part: ToolResultContentPart): ToolResultPart["output"] {
  const text = resultTextOf(part);
  if (part.isError === true) {
    // An error with an empty text is refused.
    return { type: "error-text", value: isBlank(text) ? "The tool failed." : wellFormed(text) };
  }
  const value = typeof part.result === "object" ? (part.result as JSONValue) : undefined;
  // As a value only if it serializes to the same text: providers serialize it themselves.
  if (value !== undefined && isWellFormed(value) && JSON.stringify(value) === text) {
    return { type: "json", value };
  }
  return { type: "text", value: wellFormed(text) };
}

interface Options {
  readonly providerOptions?: ProviderFields;
}

function optionsOf(part: MessageContentPart): Options {
  const providerOptions = toProviderFields(part.providerMetadata);
  return providerOptions === undefined || !isWellFormed(providerOptions) ? {} : { providerOptions };
}

/** Returns the options that the host set on its own part, such as where a cache may end. */
function partOptions(part: MessageContentPart, how: LowerModelMessages): Options {
  return how.plain ? {} : optionsOf(part);
}

function messageOptions(message: PreparedMessage): Options {
  const providerOptions = toProviderFields(message.metadata?.providerMetadata);
  return providerOptions === undefined || !isWellFormed(providerOptions) ? {} : { providerOptions };
}
