import type { MessageContentPart, MessageOrigin } from "@parley/core/messages";
import { argumentsTextOf, omitUndefined, resultTextOf } from "@parley/core/messages";
import type { ProviderCallParams } from "@parley/core/ports";
import {
  type HistoryFold,
  type HistoryLowering,
  type LoweredHistories,
  type LoweringState,
  lowerHistory,
} from "../../call/lowered-history.js";
import type { PreparedMessage } from "../../call/prepare-messages.js";
import { withSettled } from "../../call/settled-body.js";
import { createToolNames, type ToolNames } from "../../call/tool-names.js";
import { wellFormed } from "../../call/well-formed.js";
import { fileForm } from "../file-content.js";
import { jsonSchemaFormat } from "../output-format.js";
import { functionParameters, withoutDoubles } from "../tool-definition.js";
import type {
  ChatAssistantMessage,
  ChatBody,
  ChatContentPart,
  ChatMessage,
  ChatToolCall,
} from "./chat-api-types.js";

/** Optional features of a server, beyond those that all of them support. */
export interface ChatDialect {
  readonly includeUsage: boolean;
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  readonly effortParams: (
    effort: NonNullable<ProviderCallParams["reasoningEffort"]>,
    model: string,
  ) => Record<string, unknown> | undefined;
  readonly replayReasoning: "reasoning_content" | "reasoning" | undefined;
  readonly sendsImages: boolean;
  readonly sendsFiles: boolean;
  readonly sendsCacheKey: boolean;
  readonly takesOutput: boolean;
}

export interface LoweredChat {
  readonly body: ChatBody;
  readonly names: ToolNames;
}

/**
 * Converts a call to the body of a chat completion. Pure and total, and written for the strictest templates
 * that local servers use: one system message, first; user and assistant alternating, results after their
 * calls; arguments that parse; no empty content.
 */
export function toChatRequest(
  params: ProviderCallParams,
  reader: MessageOrigin,
  dialect: ChatDialect,
  histories?: LoweredHistories<ChatMessage, LoweringState>,
): LoweredChat {
  const { model } = reader;
  const tools = withoutDoubles(params.tools ?? []);
  const names = createToolNames(tools.map(({ name }) => name));
  const { toolChoice, maxTokens, reasoningEffort, cacheKey, extraParams } = params;
  const hasTools = tools.length > 0 || extraParams?.tools !== undefined;
  const lowering = chatLowering({ names, reader, dialect });
  const { settled, items } =
    histories?.lower(params.messages, lowering) ?? lowerHistory(params.messages, lowering);
  return {
    names,
    body: withSettled(
      { field: "messages", settled, extra: extraParams },
      {
        model,
        messages: items,
        ...(tools.length === 0
          ? {}
          : {
              tools: tools.map(({ name, description, schema }) => ({
                type: "function",
                function: {
                  name: names.toSent(name),
                  ...omitUndefined({ description }),
                  parameters: functionParameters(schema),
                },
              })),
            }),
        ...(hasTools && toolChoice !== undefined ? { tool_choice: lowerToolChoice(toolChoice, names) } : {}),
        ...(maxTokens === undefined ? {} : { [dialect.maxTokensField]: Math.max(1, Math.floor(maxTokens)) }),
        ...(reasoningEffort === undefined ? {} : dialect.effortParams(reasoningEffort, model)),
        ...(dialect.sendsCacheKey && cacheKey !== undefined ? { prompt_cache_key: cacheKey } : {}),
        ...(dialect.takesOutput && params.output !== undefined
          ? { response_format: { type: "json_schema", json_schema: jsonSchemaFormat(params.output) } }
          : {}),
        stream: true,
        // Refused if nothing is streamed.
        ...(dialect.includeUsage && extraParams?.stream !== false
          ? { stream_options: { include_usage: true } }
          : {}),
        ...extraParams,
      },
    ),
  };
}

interface LowerChat {
  readonly names: ToolNames;
  readonly reader: MessageOrigin;
  readonly dialect: ChatDialect;
}

function chatLowering(how: LowerChat): HistoryLowering<ChatMessage, LoweringState> {
  const { reader, dialect } = how;
  return {
    key: JSON.stringify([reader, dialect.replayReasoning, dialect.sendsImages, dialect.sendsFiles]),
    createState: () => ({}),
    begin: (_, isContinued) => new ChatFold(how, isContinued),
  };
}

class ChatFold implements HistoryFold<ChatMessage> {
  readonly #how: LowerChat;
  readonly #lowered: ChatMessage[] = [];
  readonly #isContinued: boolean;
  #instructions: string[] | undefined;

  constructor(how: LowerChat, isContinued: boolean) {
    this.#how = how;
    this.#isContinued = isContinued;
    if (!isContinued) this.#instructions = [];
  }

  get count(): number {
    return this.#lowered.length;
  }

  push(message: PreparedMessage): void {
    if (message.role === "system") {
      const text = textOf(message.content);
      if (text === "") return;
      if (this.#instructions === undefined) addUser(this.#lowered, [{ type: "text", text }]);
      else this.#instructions.push(text);
      return;
    }
    this.#openInstructions();
    if (message.role === "assistant") this.#pushAssistant(message);
    else lowerInput(message, this.#how, this.#lowered);
  }

  end(): readonly ChatMessage[] {
    this.#openInstructions();
    const lowered = this.#lowered;
    if (!this.#isContinued && !lowered.some(({ role }) => role === "user")) addFirstUser(lowered);
    return lowered;
  }

  #openInstructions(): void {
    const instructions = this.#instructions;
    this.#instructions = undefined;
    // Templates accept a system message only at the start.
    if (instructions === undefined || instructions.length === 0) return;
    this.#lowered.push({ role: "system", content: instructions.join("\n\n") });
  }

  #pushAssistant(message: PreparedMessage): void {
    const lowered = this.#lowered;
    const said = toAssistant(message, this.#how);
    if (said === undefined) return;
    const last = lowered.at(-1);
    if (last?.role === "assistant" && last.tool_calls === undefined) {
      lowered[lowered.length - 1] = {
        ...last,
        ...said,
        content: [last.content, said.content].filter((each) => each !== null).join("\n\n") || null,
      };
      return;
    }
    const isFirst = last === undefined ? !this.#isContinued : last.role === "system";
    if (isFirst) lowered.push({ role: "user", content: "Continue." });
    lowered.push(said);
  }
}

/** Adds a first user message: templates need something to answer, and the user to start. */
function addFirstUser(lowered: ChatMessage[]): void {
  const at = lowered[0]?.role === "system" ? 1 : 0;
  lowered.splice(at, 0, { role: "user", content: "Continue." });
}

function textOf(content: readonly MessageContentPart[]): string {
  const texts = content.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : []));
  return wellFormed(texts.join("\n"));
}

function lowerInput(message: PreparedMessage, { dialect }: LowerChat, lowered: ChatMessage[]): void {
  const content: ChatContentPart[] = [];
  for (const part of message.content) {
    if (part.type === "tool-result") {
      const text = wellFormed(resultTextOf(part));
      const said = part.isError === true ? `Error: ${text}` : text;
      // Some servers treat an empty result as a missing one.
      lowered.push({
        role: "tool",
        tool_call_id: part.toolCallId ?? "",
        content: said === "" ? "(no output)" : said,
      });
    } else if (part.type === "text") {
      if (part.text !== "") content.push({ type: "text", text: wellFormed(part.text) });
    } else if (part.type === "file") {
      content.push(toFilePart(part, dialect));
    }
  }
  if (content.length > 0) addUser(lowered, content);
}

function toFilePart(
  file: Extract<MessageContentPart, { type: "file" }>,
  { sendsImages, sendsFiles }: ChatDialect,
): ChatContentPart {
  const form = fileForm(file);
  if (form.kind === "image" && sendsImages) return { type: "image_url", image_url: { url: form.url } };
  if (form.kind === "text") return { type: "text", text: wellFormed(form.text) };
  if (form.kind === "document" && sendsFiles) {
    return { type: "file", file: { filename: wellFormed(form.filename), file_data: form.data } };
  }
  const name = file.filename || (form.kind === "document-url" ? form.url : "document");
  return { type: "text", text: wellFormed(`[File ${name} (${file.mediaType}) cannot be shown]`) };
}

/** Adds the content to the last message if it is the user's, or as a new message. */
function addUser(lowered: ChatMessage[], content: readonly ChatContentPart[]): void {
  const last = lowered.at(-1);
  const before: readonly ChatContentPart[] =
    last?.role !== "user"
      ? []
      : typeof last.content === "string"
        ? [{ type: "text", text: last.content }]
        : last.content;
  const parts = [...before, ...content];
  // Every server accepts plain text.
  const plain = parts.every((part) => part.type === "text");
  const user: ChatMessage = {
    role: "user",
    content: plain ? parts.map(({ text }) => text).join("\n\n") : parts,
  };
  if (last?.role === "user") lowered[lowered.length - 1] = user;
  else lowered.push(user);
}

function toAssistant(
  message: PreparedMessage,
  { names, reader, dialect }: LowerChat,
): ChatAssistantMessage | undefined {
  const text = message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const calls = message.content.flatMap((part): ChatToolCall[] =>
    part.type === "tool-call"
      ? [
          {
            id: part.toolCallId ?? "",
            type: "function",
            function: {
              name: names.toSent(part.name),
              arguments: objectText(argumentsTextOf(part)),
            },
          },
        ]
      : [],
  );
  if (text === "" && calls.length === 0) return undefined;
  const own = message.origin?.provider === reader.provider && message.origin.model === reader.model;
  const reasoning = message.content
    .flatMap((part) => (part.type === "reasoning" ? [part.text] : []))
    .join("\n\n");
  return {
    role: "assistant",
    content: text === "" ? null : wellFormed(text),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(own && dialect.replayReasoning !== undefined && reasoning !== ""
      ? { [dialect.replayReasoning]: wellFormed(reasoning) }
      : {}),
  };
}

/**
 * Returns arguments as the text of a JSON object: templates parse them, and fail on a model's invalid JSON.
 */
function objectText(text: string): string {
  if (text.trim() === "") return "{}";
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return wellFormed(text);
  } catch {
    // The original text, inside a valid object.
  }
  return JSON.stringify({ arguments: wellFormed(text) });
}

function lowerToolChoice(choice: unknown, names: ToolNames): unknown {
  if (typeof choice !== "object" || choice === null) return choice;
  const { type, name, toolName, function: nested } = choice as Record<string, unknown>;
  if (type !== "function" && type !== "tool") return choice;
  const chosen = name ?? toolName ?? (nested as { name?: unknown } | undefined)?.name;
  return typeof chosen === "string" ? { type: "function", function: { name: names.toSent(chosen) } } : choice;
}
