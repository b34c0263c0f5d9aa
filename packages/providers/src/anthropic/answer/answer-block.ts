import type {
  MessageContentPart,
  ReasoningContentPart,
  TextContentPart,
  ToolCallContentPart,
} from "@parley/core/messages";
import { argumentsFromText } from "@parley/core/messages";
import type { ToolNames } from "../../call/tool-names.js";
import type { AssistantBlock, BlockDelta, Citation, OpaqueBlock, StartedBlock } from "../api-types.js";
import { keepBlock, keepRedacted, keepSignature } from "../kept-block.js";

/** A block of an answer while it streams. `index` is its place in the message. */
export type AnswerBlock = TextAnswer | ThinkingAnswer | RedactedAnswer | CallAnswer | OpaqueAnswer;

interface TextAnswer {
  readonly kind: "text";
  readonly index: number;
  text: string;
  readonly citations: Citation[];
  closed: boolean;
}

interface ThinkingAnswer {
  readonly kind: "thinking";
  readonly index: number;
  text: string;
  signature: string;
  closed: boolean;
}

interface RedactedAnswer {
  readonly kind: "redacted";
  readonly index: number;
  readonly data: string;
  closed: boolean;
}

interface CallAnswer {
  readonly kind: "call";
  readonly index: number;
  readonly id: string;
  /** The name in the API's answer. */
  readonly sentName: string;
  readonly name: string;
  argumentsText: string;
  /** The input in the block's start event: all of it, from servers that do not stream arguments. */
  readonly started: unknown;
  closed: boolean;
}

interface OpaqueAnswer {
  readonly kind: "opaque";
  readonly index: number;
  readonly fields: Record<string, unknown>;
  inputText: string;
  closed: boolean;
}

/** Creates a block from its start event. */
export function startBlock(started: StartedBlock, index: number, names: ToolNames): AnswerBlock {
  const closed = false;
  switch (started.type) {
    case "text":
      return { kind: "text", index, text: textIn(started.text), citations: [], closed };
    case "thinking": {
      const signature = textIn(started.signature);
      return { kind: "thinking", index, text: textIn(started.thinking), signature, closed };
    }
    case "redacted_thinking":
      return { kind: "redacted", index, data: textIn(started.data), closed };
    case "tool_use": {
      const sentName = textIn(started.name);
      return {
        kind: "call",
        index,
        id: textIn(started.id) || `call_${index}`,
        sentName,
        name: names.fromSent(sentName),
        argumentsText: "",
        started: started.input,
        closed,
      };
    }
    default:
      return { kind: "opaque", index, fields: { ...started }, inputText: "", closed };
  }
}

/** Creates the block for a delta without a start event; undefined if its kind cannot be determined. */
export function blockForDelta(delta: BlockDelta, index: number): AnswerBlock | undefined {
  if (delta.type === "text_delta") return { kind: "text", index, text: "", citations: [], closed: false };
  if (delta.type !== "thinking_delta" && delta.type !== "signature_delta") return undefined;
  return { kind: "thinking", index, text: "", signature: "", closed: false };
}

/**
 * Adds a delta of any kind to a block that only the API understands: strings grow, other values are replaced.
 */
export function growOpaque(block: OpaqueAnswer, delta: BlockDelta): void {
  if (delta.type === "input_json_delta") {
    block.inputText += textIn(delta.partial_json);
    return;
  }
  const { type: _, ...grown } = delta;
  for (const [field, value] of Object.entries(grown)) {
    const before = block.fields[field];
    block.fields[field] = typeof before === "string" && typeof value === "string" ? before + value : value;
  }
}

/** Returns the whole argument text of a call. A call without arguments streams none. */
export function argumentsOf(call: CallAnswer): string {
  if (call.argumentsText !== "") return call.argumentsText;
  const { started } = call;
  return typeof started === "object" && started !== null ? JSON.stringify(started) : "{}";
}

/** Returns the part for a block; undefined if it is empty. */
export function partOf(block: AnswerBlock): MessageContentPart | undefined {
  switch (block.kind) {
    case "text":
      return block.text === "" ? undefined : ({ type: "text", text: block.text } satisfies TextContentPart);
    case "thinking": {
      const { text, signature } = block;
      if (text === "" && signature === "") return undefined;
      return { type: "reasoning", text, ...keepSignature(signature) } satisfies ReasoningContentPart;
    }
    case "redacted":
      return block.data === "" ? undefined : { type: "reasoning", text: "", ...keepRedacted(block.data) };
    case "call": {
      const argumentsText = argumentsOf(block);
      return {
        type: "tool-call",
        toolCallId: block.id,
        name: block.name,
        arguments: argumentsFromText(argumentsText),
        argumentsText,
      } satisfies ToolCallContentPart;
    }
    case "opaque": {
      const whole = opaqueOf(block);
      return { type: "metadata", data: { type: whole.type }, ...keepBlock(whole) };
    }
    default:
      return block satisfies never;
  }
}

/**
 * Returns the block in the API's own form, unchanged, to let the API continue an answer; undefined if it is
 * empty.
 */
export function blockOf(block: AnswerBlock): AssistantBlock | undefined {
  switch (block.kind) {
    case "text":
      if (block.text === "") return undefined;
      return {
        type: "text",
        text: block.text,
        ...(block.citations.length === 0 ? {} : { citations: block.citations }),
      };
    case "thinking":
      return { type: "thinking", thinking: block.text, signature: block.signature };
    case "redacted":
      return { type: "redacted_thinking", data: block.data };
    case "call": {
      const input = argumentsFromText(argumentsOf(block)) as Readonly<Record<string, unknown>>;
      return { type: "tool_use", id: block.id, name: block.sentName, input };
    }
    case "opaque":
      return opaqueOf(block);
    default:
      return block satisfies never;
  }
}

function opaqueOf({ fields, inputText }: OpaqueAnswer): OpaqueBlock {
  const type = typeof fields.type === "string" ? fields.type : "unknown";
  return { ...fields, type, ...(inputText === "" ? {} : { input: argumentsFromText(inputText) }) };
}

/** Returns the string, or an empty one for any other value. */
export function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
