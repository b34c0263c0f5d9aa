import type { ErrorCode } from "../error-code.js";
import type { InputEntry } from "../input/input-entry.js";
import type { OpenUnion, ProviderMetadata } from "../json.js";
import type { Role, StepId } from "./ids.js";
import type { OutputInvalidEntry } from "./output.js";

/**
 * One ordered piece of a message: the unit that is stored, numbered and rendered. Discriminated by `type`.
 *
 * A chunk holds the content, not its position: its seq is on the `StoredChunk` around it. Types may be added;
 * a client shows a placeholder for one it does not know.
 */
export type Chunk =
  | TextChunk
  | ThinkingChunk
  | ToolCallChunk
  | ToolResultChunk
  | ErrorChunk
  | SystemChunk
  | SourceChunk
  | DataChunk;

/** Plain text, from the user or the assistant, or a placeholder for a file. */
export interface TextChunk {
  readonly type: "text";
  readonly text: string;
  /** The file that `text` names: a client that shows files shows it instead of the text. */
  readonly file?: FileReference;
  /** The file that `text` names, if the server does not store it as a separate file. */
  readonly inline?: InlineFile;
  readonly providerMetadata?: ProviderMetadata;
}

/**
 * The model's reasoning. `text` may be empty if the provider only sends an opaque payload; that payload is in
 * `providerMetadata` and is replayed only to the provider and model that created it.
 */
export interface ThinkingChunk {
  readonly type: "thinking";
  readonly text: string;
  /** Time from its first delta to its last, by the server's clock. Absent: not measured. */
  readonly durationMs?: number;
  readonly providerMetadata?: ProviderMetadata;
}

/** The model calls a tool. Durable before the tool starts. */
export interface ToolCallChunk {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  /** The arguments as a value, derived from `argumentsText`. */
  readonly input: unknown;
  /**
   * The arguments exactly as the model wrote them: key order, number format and white space kept, even if it
   * is not valid JSON. This text is replayed to the model, so that a stored prefix lowers to the same bytes.
   * Always set on chunks that a turn produced.
   */
  readonly argumentsText?: string;
  /** The step that made the call. Absent on chunks that no turn of ours produced (imports). */
  readonly stepId?: StepId;
  readonly providerMetadata?: ProviderMetadata;
}

/**
 * The result of a tool call. Every tool call of a sealed turn has exactly one result; if the tool was stopped
 * or lost, the runtime writes one that says so, with `isError` true.
 */
export interface ToolResultChunk {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  /** The exact text that the model is shown. */
  readonly content: string;
  readonly isError: boolean;
  /** The step that made the call: equal to the `stepId` of the call with the same `toolCallId`. */
  readonly stepId?: StepId;
  /** Duration of the tool call, from dispatch to result. */
  readonly durationMs?: number;
  /** True if the tool was stopped, or its node failed, before it had answered: `content` only says so. */
  readonly interrupted?: boolean;
  readonly providerMetadata?: ProviderMetadata;
}

/** A failure that is part of the conversation's history. */
export interface ErrorChunk {
  readonly type: "error";
  readonly message: string;
  readonly code?: OpenUnion<ErrorCode>;
  readonly providerMetadata?: ProviderMetadata;
}

/** Text that the system added to the conversation, such as a compaction's summary. */
export interface SystemChunk {
  readonly type: "system";
  readonly text: string;
  /** On a compaction's summary: the seqs, both inclusive, that it replaces in model calls. */
  readonly covers?: { readonly firstSeq: number; readonly lastSeq: number };
  /** On an entry about input that a turn waits for: its data. `text` contains the same for people. */
  readonly input?: InputEntry;
  /**
   * On an entry about an answer that did not match the data to return: its data. `text` contains the same for
   * people.
   */
  readonly output?: OutputInvalidEntry;
  readonly providerMetadata?: ProviderMetadata;
}

/**
 * A file that was added to a log with its content, as by an import: its bytes in `data`, or its address in
 * `url`.
 */
export interface InlineFile {
  readonly mediaType: string;
  readonly filename?: string;
  /** The bytes, base64. */
  readonly data?: string;
  readonly url?: string;
}

/**
 * A file whose bytes the server stores, readable at `GET /conversations/:id/files/:seq`. Equal files have
 * equal hashes; the hash gives no access.
 */
export interface FileReference {
  /** The seq of its chunk. Absent before the message is in its log. */
  readonly seq?: number;
  /** Distinguishes several files of one chunk. Absent means 0. */
  readonly part?: number;
  readonly name?: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of the bytes, in 64 lowercase hexadecimal digits. */
  readonly hash: string;
  /** Pixels of an image, if known. */
  readonly width?: number;
  readonly height?: number;
}

/** A source of the answer: a web page or a document. */
export interface SourceChunk {
  readonly type: "source";
  readonly id?: string;
  readonly title?: string;
  readonly url?: string;
  readonly providerMetadata?: ProviderMetadata;
}

/** Structured data beside the text, from an application or a provider. Never shown to the model as text. */
export interface DataChunk {
  readonly type: "data";
  readonly data: unknown;
  readonly providerMetadata?: ProviderMetadata;
}

/** A message: a role and its chunks, in order. */
export interface ChatMessage {
  readonly role: Role;
  readonly chunks: readonly Chunk[];
}
