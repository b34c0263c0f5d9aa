import {
  argumentsTextOf,
  type MessageContentPart,
  type MessageOrigin,
  resultTextOf,
  type ToolCallContentPart,
  type ToolResultContentPart,
} from "@parley/core/messages";
import { Journal } from "../../call/journal.js";
import type { HistoryFold, HistoryLowering, LoweringState } from "../../call/lowered-history.js";
import type { PreparedMessage } from "../../call/prepare-messages.js";
import type { ToolNames } from "../../call/tool-names.js";
import { wellFormed } from "../../call/well-formed.js";
import type {
  AssistantBlock,
  MessageParam,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from "../api-types.js";
import { replayedBlock, replayedThinking, withoutHalves } from "../kept-block.js";
import { isBlank } from "./blank-text.js";
import { fileBlock, fileNote } from "./file-content.js";
import { sendableValue } from "./sendable-value.js";

/**
 * A call whose arguments could not be sent as the model wrote them: the API accepts only objects. The text is
 * sent anyway, in an object with one field (`rawArgumentsField`).
 */
export interface UnsendableArguments {
  readonly kind: "malformed-arguments" | "arguments-not-an-object";
  readonly toolCallId: string;
  readonly toolName: string;
  /** The text as the model wrote it. */
  readonly argumentsText: string;
}

/** The field that holds argument text which is not an object. */
export const rawArgumentsField = "_raw";

/** The parts of a request other than messages that a history is lowered to. */
export interface MessagesState extends LoweringState {
  /** The instructions before the conversation. */
  readonly system: Journal<TextBlock>;
  readonly unsendable: Journal<UnsendableArguments>;
  /** The names of tools that were called. */
  readonly called: Journal<string>;
}

/** Inserted before an answer that starts the conversation: the API requires the user to start. */
const opening: TextBlock = { type: "text", text: "[The conversation begins here.]" };

/**
 * Lowers messages for the API. Adjacent messages of one side are merged; results, which follow their calls
 * directly, come first in the message that they are merged into. Blank texts are omitted. Reasoning and
 * blocks that only the API understands are sent only to the provider and model that made them. System
 * messages at the start are instructions; later ones stay in place and are marked, because only the user's
 * messages can hold them.
 */
export function messagesLowering(how: LowerMessages): HistoryLowering<MessageParam, MessagesState> {
  return {
    key: JSON.stringify(how.reader),
    createState: () => ({ system: new Journal(), unsendable: new Journal(), called: new Journal() }),
    begin: (state, isContinued) => new MessagesFold(how, state, isContinued),
  };
}

/** Options for lowering messages. */
export interface LowerMessages {
  readonly names: ToolNames;
  readonly reader: MessageOrigin | undefined;
}

class MessagesFold implements HistoryFold<MessageParam> {
  readonly #how: LowerMessages;
  readonly #state: MessagesState;
  /** Alternating, starting with the user. Empty if nothing can be sent. */
  readonly #sides: Side[] = [];
  readonly #isContinued: boolean;
  #isLeading: boolean;

  constructor(how: LowerMessages, state: MessagesState, isContinued: boolean) {
    this.#how = how;
    this.#state = state;
    this.#isContinued = isContinued;
    this.#isLeading = !isContinued;
  }

  get count(): number {
    return this.#sides.length;
  }

  push(message: PreparedMessage): void {
    this.#isLeading &&= message.role === "system";
    const sides = this.#sides;
    if (this.#isLeading) {
      for (const block of message.content.flatMap(instructionBlock)) this.#state.system.add(block);
    } else if (message.role === "assistant") {
      const content = assistantBlocks(message, this.#how, this.#state);
      if (content.length === 0) return;
      if (sides.length === 0 && !this.#isContinued) sideOf(sides, "user").content.push(opening);
      sideOf(sides, "assistant").content.push(...content);
    } else {
      const content = userBlocks(message);
      if (content.length > 0) sideOf(sides, "user").content.push(...content);
    }
  }

  end(): readonly MessageParam[] {
    return this.#sides.map(toMessageParam);
  }
}

type Side =
  | { readonly role: "user"; readonly content: UserBlock[] }
  | { readonly role: "assistant"; readonly content: AssistantBlock[] };

function sideOf<Role extends Side["role"]>(sides: Side[], role: Role): Extract<Side, { role: Role }> {
  const last = sides.at(-1);
  if (last?.role === role) return last as Extract<Side, { role: Role }>;
  const next: Side = { role, content: [] };
  sides.push(next);
  return next as Extract<Side, { role: Role }>;
}

function toMessageParam(side: Side): MessageParam {
  if (side.role === "user") return side;
  // Merged answers may use an id twice.
  return { role: "assistant", content: withoutLastThoughts(withoutHalves(side.content)) };
}

function instructionBlock(part: MessageContentPart): TextBlock[] {
  if (part.type === "text") return textBlock(part.text);
  return part.type === "file" ? [fileNote(part)] : [];
}

function userBlocks({ role, content }: PreparedMessage): UserBlock[] {
  return content.flatMap((part): UserBlock[] => {
    switch (part.type) {
      case "text":
        if (role !== "system" || isBlank(part.text)) return textBlock(part.text);
        return textBlock(`<system>\n${part.text}\n</system>`);
      case "file":
        return [fileBlock(part)];
      case "tool-result":
        return [toolResult(part)];
      default:
        return [];
    }
  });
}

function assistantBlocks(
  { content, origin }: PreparedMessage,
  { names, reader }: LowerMessages,
  state: MessagesState,
): AssistantBlock[] {
  const isOwn = reader !== undefined && origin?.provider === reader.provider && origin.model === reader.model;
  const blocks = content.flatMap((part): AssistantBlock[] => {
    switch (part.type) {
      case "text":
        return textBlock(part.text);
      case "file":
        // An answer must not contain files; a line says that there was one.
        return [fileNote(part)];
      case "tool-call":
        return [toolUse(part, names, state)];
      case "reasoning":
        return asList(isOwn ? replayedThinking(part) : undefined);
      case "metadata":
        return asList(isOwn ? replayedBlock(part) : undefined);
      default:
        return [];
    }
  });
  return withoutLastThoughts(withoutHalves(blocks));
}

/**
 * Removes thinking from the end of an answer that was cut during it: the API refuses an answer that ends with
 * thinking.
 */
function withoutLastThoughts(blocks: readonly AssistantBlock[]): AssistantBlock[] {
  const last = blocks.findLastIndex(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  return blocks.slice(0, last + 1);
}

function toolUse(
  part: ToolCallContentPart,
  names: ToolNames,
  { unsendable, called }: MessagesState,
): ToolUseBlock {
  const argumentsText = argumentsTextOf(part);
  const { input, problem } = inputOf(argumentsText);
  const toolCallId = part.toolCallId ?? "";
  if (problem !== undefined)
    unsendable.add({ kind: problem, toolCallId, toolName: part.name, argumentsText });
  const name = names.toSent(part.name);
  called.add(name);
  return { type: "tool_use", id: toolCallId, name, input };
}

function inputOf(text: string): {
  input: Readonly<Record<string, unknown>>;
  problem?: UnsendableArguments["kind"];
} {
  // Some providers send nothing at all for "no arguments".
  if (text.trim() === "") return { input: {} };
  const raw = { [rawArgumentsField]: wellFormed(text) };
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return { input: raw, problem: "arguments-not-an-object" };
    }
    return { input: sendableValue(value) as Readonly<Record<string, unknown>> };
  } catch {
    return { input: raw, problem: "malformed-arguments" };
  }
}

function toolResult(part: ToolResultContentPart): ToolResultBlock {
  const text = wellFormed(resultTextOf(part));
  const result = { type: "tool_result", tool_use_id: part.toolCallId ?? "" } as const;
  if (part.isError !== true) return { ...result, content: text };
  // An error with an empty text is refused.
  return { ...result, content: isBlank(text) ? "The tool failed." : text, is_error: true };
}

function textBlock(text: string): TextBlock[] {
  return isBlank(text) ? [] : [{ type: "text", text: wellFormed(text) }];
}

function asList<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
