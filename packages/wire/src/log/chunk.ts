import type { ErrorCode } from "../error-code.js";
import type { InputEntry } from "../input/input-entry.js";
import type { OpenUnion, ProviderMetadata } from "../json.js";
import type { Role, StepId } from "./ids.js";
import type { OutputInvalidEntry } from "./output.js";

/**
 * One ordered piece of a message: the unit that is stored, numbered and rendered. Told apart by `type`.
 *
 * A chunk says what was produced, not where it is kept: its seq is on the `StoredChunk` around it. Kinds may
 * be added; a client shows a placeholder for one it does not know.
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
  /** The file that `text` names, where the server does not have it as a file of its own. */
  readonly inline?: InlineFile;
  readonly providerMetadata?: ProviderMetadata;
}

/**
 * The model's reasoning. `text` may be empty when the provider only gives an opaque payload; that payload is
 * in `providerMetadata` and is replayed only to the provider and model that made it.
 */
export interface ThinkingChunk {
  readonly type: "thinking";
  readonly text: string;
  /** How long it took, from its first delta to its last, by the server's clock. Absent: not seen. */
  readonly durationMs?: number;
  readonly providerMetadata?: ProviderMetadata;
}

/** The model asks for a tool to be run. Durable before the tool starts. */
export interface ToolCallChunk {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  /** The arguments as a value, derived from `argumentsText`. */
  readonly input: unknown;
  /**
   * The arguments exactly as the model wrote them: key order, number spelling and white space kept, also when
   * it is not valid JSON. This is what is replayed to the model, so that a stored prefix lowers to the same
   * bytes. Always set on chunks that a turn produced.
   */
  readonly argumentsText?: string;
  /** The step that asked. Absent on chunks that no turn of ours produced (imports). */
  readonly stepId?: StepId;
  readonly providerMetadata?: ProviderMetadata;
}

/**
 * The outcome of a tool call. Every tool call of a sealed turn has exactly one result; if the tool was
 * stopped or lost, the runtime writes one that says so, with `isError` true.
 */
export interface ToolResultChunk {
  readonly type: "tool-result";
  readonly toolCallId: string;
  readonly toolName: string;
  /** The text that the model is shown, exactly. */
  readonly content: string;
  readonly isError: boolean;
  /** The step that asked: equal to the `stepId` of the call with the same `toolCallId`. */
  readonly stepId?: StepId;
  /** How long the tool took, from dispatch to result. */
  readonly durationMs?: number;
  /** The tool was stopped, or its node went away, before it had answered: `content` only says so. */
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

/** Text that the system put into the conversation, such as a compaction's summary. */
export interface SystemChunk {
  readonly type: "system";
  readonly text: string;
  /** On a compaction's summary: the seqs, both inclusive, that it stands for when the model is asked. */
  readonly covers?: { readonly firstSeq: number; readonly lastSeq: number };
  /** On an entry about input that a turn waits for: its data. `text` says the same for people. */
  readonly input?: InputEntry;
  /** On an entry about an answer that did not match the data to return: its data. `text` says the same for people. */
  readonly output?: OutputInvalidEntry;
  readonly providerMetadata?: ProviderMetadata;
}

/** A file that came into a log with its content, as from an import: its bytes in `data`, or its address in `url`. */
export interface InlineFile {
  readonly mediaType: string;
  readonly filename?: string;
  /** The bytes, base64. */
  readonly data?: string;
  readonly url?: string;
}

/**
 * A file whose bytes the server has, to be read at `GET /conversations/:id/files/:seq`. The hash tells equal files apart
 * from others; it gives no access.
 */
export interface FileReference {
  /** The seq of its chunk. Absent before the message has a place in its log. */
  readonly seq?: number;
  /** Tells several files of one chunk apart. Absent means 0. */
  readonly part?: number;
  readonly name?: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  /** SHA-256 of the bytes, in 64 lowercase hexadecimal digits. */
  readonly hash: string;
  /** Pixels of an image, where they are known. */
  readonly width?: number;
  readonly height?: number;
}

/** Something the answer rests on: a web page or a document. */
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
