import type { MessageContentPart, MessageOrigin } from "@parley/core/messages";
import { argumentsTextOf, resultTextOf } from "@parley/core/messages";
import { Journal } from "../../call/journal.js";
import type { HistoryLowering, LoweringState } from "../../call/lowered-history.js";
import type { PreparedMessage } from "../../call/prepare-messages.js";
import type { ToolNames } from "../../call/tool-names.js";
import { wellFormed } from "../../call/well-formed.js";
import { fileForm } from "../file-content.js";
import type { AssistantItem, InputContent, InputItem, OutputContent } from "./api-types.js";
import { type KeptItem, readKept, replayedItem, replayedReasoning } from "./kept-item.js";
import { blockOf, isItem, type NativeBlocks } from "./native-block.js";

/** Options for lowering messages. */
export interface LowerInput {
  readonly names: ToolNames;
  /** The role of instructions without a role hint. */
  readonly instructionRole: "system" | "developer";
  /**
   * The model that will read the messages: data that only this provider and model can read is sent if they
   * wrote it.
   */
  readonly reader: MessageOrigin | undefined;
  /** Blocks that the caller passed in the API's own form. */
  readonly blocks: NativeBlocks;
}

/** The state that the items of later messages depend on. */
export interface InputState extends LoweringState {
  /** The ids of items that were sent back. */
  readonly usedIds: Journal<string>;
}

/** Lowers messages to items of the Responses API, as `toInputItems` does. */
export function inputLowering(how: LowerInput): HistoryLowering<InputItem, InputState> {
  return {
    key: JSON.stringify([how.reader, how.instructionRole]),
    createState: () => ({ usedIds: new Journal() }),
    begin: ({ usedIds }) => {
      const items: InputItem[] = [];
      return {
        get count() {
          return items.length;
        },
        push: (message) => lowerMessage(message, how, items, usedIds),
        end: () => items,
      };
    },
  };
}

/**
 * Converts prepared messages to items of the Responses API. Never empty, never refused for its shape: empty
 * texts are omitted, foreign reasoning and ids are dropped, and content that a role does not allow is moved
 * to one that does.
 */
export function toInputItems(messages: readonly PreparedMessage[], how: LowerInput): InputItem[] {
  const items: InputItem[] = [];
  const usedIds = new Journal<string>();
  for (const message of messages) lowerMessage(message, how, items, usedIds);
  return items;
}

function lowerMessage(
  message: PreparedMessage,
  how: LowerInput,
  items: InputItem[],
  usedIds: Journal<string>,
): void {
  switch (message.role) {
    case "system":
      lowerInstruction(message, how, items);
      break;
    case "assistant":
      lowerAssistant(message, how, items, usedIds);
      break;
    default:
      lowerInput(message, how, items);
  }
}

function lowerInstruction(message: PreparedMessage, how: LowerInput, items: InputItem[]): void {
  const role = message.metadata?.role === "developer" ? "developer" : how.instructionRole;
  const texts = message.content.flatMap((part) => (part.type === "text" && part.text ? [part.text] : []));
  const blocks = message.content.flatMap((part) => blockOf(part, how.blocks) ?? []);
  const parts = blocks.filter((block) => !isItem(block));
  const text = wellFormed(texts.join("\n"));
  if (parts.length > 0) {
    const spoken: InputContent[] = texts.length === 0 ? [] : [{ type: "input_text", text }];
    items.push({ role, content: [...spoken, ...(parts as unknown as InputContent[])] });
  } else if (text !== "") {
    items.push({ role, content: text });
  }
  for (const block of blocks) if (isItem(block)) items.push(block);
}

/** Lowers user and tool messages: results and items as such, everything else as user messages after them. */
function lowerInput(message: PreparedMessage, how: LowerInput, items: InputItem[]): void {
  let content: InputContent[] = [];
  const flush = () => {
    if (content.length > 0) items.push({ role: "user", content });
    content = [];
  };
  for (const part of message.content) {
    const block = blockOf(part, how.blocks);
    if (part.type === "tool-result") {
      const text = resultTextOf(part);
      items.push(
        block ?? {
          type: "function_call_output",
          call_id: wellFormed(part.toolCallId ?? ""),
          // The API has no error field, and a model should be able to distinguish a failure from a result.
          output: wellFormed(part.isError === true ? `Error: ${text}` : text),
        },
      );
    } else if (block !== undefined && isItem(block)) {
      // Its place within the message is the caller's choice.
      flush();
      items.push(block);
    } else {
      const lowered = block ?? toInputContent(part);
      if (lowered !== undefined) content.push(lowered as InputContent);
    }
  }
  flush();
}

function toInputContent(part: MessageContentPart): InputContent | undefined {
  if (part.type === "text") {
    return part.text === "" ? undefined : { type: "input_text", text: wellFormed(part.text) };
  }
  if (part.type !== "file") return undefined;
  const form = fileForm(part);
  switch (form.kind) {
    case "image":
      return { type: "input_image", image_url: form.url, detail: "auto" };
    case "document":
      return { type: "input_file", filename: wellFormed(form.filename), file_data: form.data };
    case "document-url":
      return { type: "input_file", file_url: form.url };
    default:
      return { type: "input_text", text: wellFormed(form.text) };
  }
}

/**
 * Lowers an assistant's message, unit by unit: a unit is reasoning and what followed it. The API requires
 * reasoning back with exactly that, or not at all, and then without the ids that refer to it.
 */
function lowerAssistant(
  message: PreparedMessage,
  how: LowerInput,
  items: InputItem[],
  usedIds: Journal<string>,
): void {
  const own =
    how.reader !== undefined &&
    message.origin?.provider === how.reader.provider &&
    message.origin.model === how.reader.model;
  for (const unit of unitsOf(message.content)) {
    const whole = own ? lowerWhole(unit, how) : undefined;
    const lowered = whole !== undefined && areNew(whole, usedIds) ? whole : lowerPlainly(unit, how, own);
    for (const item of lowered) items.push(item);
  }
}

/**
 * Records the ids of items; returns false, recording nothing, if one was used before: the API refuses a
 * repeated id.
 */
function areNew(items: readonly InputItem[], usedIds: Journal<string>): boolean {
  const ids = items.flatMap((item) => ("id" in item && typeof item.id === "string" ? [item.id] : []));
  if (new Set(ids).size < ids.length || ids.some((id) => usedIds.has(id))) return false;
  for (const id of ids) usedIds.add(id);
  return true;
}

type Unit = MessageContentPart[];

function unitsOf(content: readonly MessageContentPart[]): Unit[] {
  const units: Unit[] = [];
  let following = false;
  for (const part of content) {
    const last = units.at(-1);
    if (last === undefined || (part.type === "reasoning" && following)) units.push([part]);
    else last.push(part);
    following = part.type !== "reasoning";
  }
  return units;
}

/**
 * Lowers the unit with its reasoning and ids; returns undefined if anything that belongs to it is missing.
 */
function lowerWhole(unit: Unit, how: LowerInput): InputItem[] | undefined {
  const items: InputItem[] = [];
  let reasoned = false;
  let followed = false;
  for (const part of unit) {
    if (part.type === "reasoning") {
      const item = replayedReasoning(part);
      if (item === undefined) return undefined;
      reasoned = true;
      items.push(item);
      continue;
    }
    const kept = readKept(part);
    // Only these two represent a whole item; a text or a call would have more content than the item.
    if (kept?.item !== undefined && (part.type === "metadata" || part.type === "file")) {
      const item = replayedItem(part, kept.item);
      if (item === undefined) return undefined;
      items.push(item);
      followed = true;
    } else if (lowerSpoken(part, kept, how, items, reasoned)) {
      followed = true;
    }
  }
  return reasoned && !followed ? undefined : items;
}

/** Lowers text and calls alone, without ids; with the metadata if the reader wrote them. */
function lowerPlainly(unit: Unit, how: LowerInput, own: boolean): InputItem[] {
  const items: InputItem[] = [];
  for (const part of unit) lowerSpoken(part, own ? readKept(part) : undefined, how, items, false);
  return items;
}

/**
 * Adds the item for a text, a call or a native block; returns false for parts that are not sent to the model.
 */
function lowerSpoken(
  part: MessageContentPart,
  kept: KeptItem | undefined,
  how: LowerInput,
  items: InputItem[],
  withId: boolean,
): boolean {
  const block = blockOf(part, how.blocks);
  if (block !== undefined) {
    items.push(isItem(block) ? block : { role: "assistant", content: [block as unknown as OutputContent] });
    return true;
  }
  if (part.type === "tool-call") {
    const argumentsText = argumentsTextOf(part);
    items.push({
      type: "function_call",
      call_id: part.toolCallId ?? "",
      name: how.names.toSent(part.name),
      arguments: argumentsText.trim() === "" ? "{}" : wellFormed(argumentsText),
      ...(kept?.namespace === undefined ? {} : { namespace: kept.namespace }),
    });
    return true;
  }
  if (part.type !== "text" || part.text === "") return false;
  const text = wellFormed(part.text);
  const content: OutputContent =
    kept?.refusal === true ? { type: "refusal", refusal: text } : { type: "output_text", text };
  const last = items.at(-1) as AssistantItem | undefined;
  // Parts of one message of the API stay one message.
  if (withId && kept?.id !== undefined && last?.role === "assistant" && last.id === kept.id) {
    items[items.length - 1] = { ...last, content: [...last.content, content] };
    return true;
  }
  items.push({
    role: "assistant",
    ...(withId && kept?.id !== undefined ? { id: kept.id } : {}),
    ...(kept?.phase === undefined ? {} : { phase: kept.phase }),
    content: [content],
  });
  return true;
}
