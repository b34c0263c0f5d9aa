import type { ProviderMetadata } from "@parley/wire";

/**
 * Fields that every part may carry. `providerMetadata` is keyed by provider and opaque to core: it is stored with the
 * part and returned unchanged to the provider that made it.
 */
export interface PartExtras {
  providerMetadata?: ProviderMetadata;
}

/** Plain text of the user, the model or (in a system message) the host. */
export interface TextContentPart extends PartExtras {
  type: "text";
  text: string;
}

/** The model's reasoning. Replayed only to the provider and model that made it. */
export interface ReasoningContentPart extends PartExtras {
  type: "reasoning";
  /** Text that may be shown; empty if the provider hides it. */
  text: string;
  /** Duration from its first delta to its last. Not sent to providers. */
  durationMs?: number;
}

/**
 * A request of the model to run a tool. `argumentsText` is the text the model sent, and what a later
 * request repeats byte for byte; `arguments` is derived from it.
 */
export interface ToolCallContentPart extends PartExtras {
  type: "tool-call";
  /** Tool name or identifier. */
  name: string;
  /** The parsed arguments, or the raw text if it is not JSON. */
  arguments: unknown;
  argumentsText?: string;
  /** Pairs the call with its result. Always set by Parley. */
  toolCallId?: string;
  /** The step that produced the call. */
  stepId?: string;
}

/** A tool's result. `resultText` is the text a request carries; `result` is derived from it. */
export interface ToolResultContentPart extends PartExtras {
  type: "tool-result";
  /** Tool name or identifier. */
  name: string;
  /** The parsed result, or the text itself if it is not a JSON object or array. */
  result: unknown;
  resultText?: string;
  /** The call this answers. Always set by Parley. */
  toolCallId?: string;
  isError?: boolean;
  /** The step that produced the call. */
  stepId?: string;
  /** Duration of the tool's run. */
  durationMs?: number;
  /** The tool was stopped, or its node ended, before it had a result: the text only states that. */
  interrupted?: boolean;
}

/** Data beside the conversation, such as an opaque output of a provider. Never shown to a model as text. */
export interface MetadataContentPart extends PartExtras {
  type: "metadata";
  data: unknown;
}

/**
 * A file. Exactly one of three is set: `data` is base64, `url` is its address, or `hash` and `size` name bytes that
 * the store has.
 */
export interface FileContentPart extends PartExtras {
  type: "file";
  mediaType: string;
  data?: string;
  url?: string;
  /** SHA-256 of the bytes, in 64 lowercase hexadecimal digits. */
  hash?: string;
  /** Bytes. Set together with `hash`. */
  size?: number;
  filename?: string;
  /** Pixels of an image, if they are known. */
  width?: number;
  height?: number;
}

/** A file whose bytes are in the store. */
export type StoredFilePart = FileContentPart & { hash: string; size: number };

/** A source that the model cited. */
export interface SourceContentPart extends PartExtras {
  type: "source";
  id?: string;
  title?: string;
  url?: string;
}

/** A failure, kept in the log where it happened. Never sent to a model. */
export interface ErrorContentPart extends PartExtras {
  type: "error";
  message: string;
  code?: string;
}

/** The only content model: every envelope of Parley carries these parts. */
export type MessageContentPart =
  | TextContentPart
  | ReasoningContentPart
  | ToolCallContentPart
  | ToolResultContentPart
  | MetadataContentPart
  | FileContentPart
  | SourceContentPart
  | ErrorContentPart;

const hashForm = /^[0-9a-f]{64}$/;

/** Returns true for a part that refers to bytes in the store. */
export function isStoredFile(part: Readonly<Record<string, unknown>> | object): part is StoredFilePart {
  const { type, data, url, hash, size } = part as Readonly<Record<string, unknown>>;
  if (type !== "file" || (data !== undefined && data !== "") || url !== undefined) return false;
  return typeof hash === "string" && hashForm.test(hash) && Number.isSafeInteger(size) && Number(size) >= 0;
}

/**
 * Returns the value of a call's argument text: parsed JSON, `{}` for an empty text (some providers send that for "no
 * arguments"), and the text itself if it is not JSON.
 */
export function argumentsFromText(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Returns the value of a result's text: a JSON object or array parsed, any other text as it is. */
export function resultFromText(text: string): unknown {
  const first = text.trimStart()[0];
  if (first !== "{" && first !== "[") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Returns the text that a request carries for a value: strings as they are, everything else as JSON. */
export function textOfValue(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value) ?? "";
}

/** Returns the text of a call's arguments that a request carries. */
export function argumentsTextOf(part: ToolCallContentPart): string {
  return part.argumentsText ?? (part.arguments === undefined ? "{}" : textOfValue(part.arguments));
}

/** Returns the text of a tool's result that a request carries. */
export function resultTextOf(part: ToolResultContentPart): string {
  return part.resultText ?? textOfValue(part.result);
}
