import type { ConversationMeta } from "../conversation.js";
import type { ProviderCallInfo } from "../figures/manifest.js";
import type { TurnMetrics } from "../figures/metrics.js";
import type { JsonObject } from "../json.js";
import type { StoredChunk } from "../log/stored-chunk.js";

/** `GET /conversations/:id/export`. */
export interface ExportQuery {
  /** `jsonl` can be imported again; `markdown` is for reading. Absent: `jsonl`. */
  readonly format?: "jsonl" | "markdown" | undefined;
}

/**
 * One line of an exported conversation. The first is `conversation`; then all chunks by seq, including those
 * inherited by a fork; then the sealed turns. Lines of a type that an importer does not know are refused, not
 * dropped.
 */
export type ExportLine = ExportedConversation | ExportedChunk | ExportedTurn;

/** The conversation itself. */
export interface ExportedConversation {
  readonly type: "conversation";
  readonly format: "parley.conversation.1";
  readonly conversation: ConversationMeta;
  readonly instructions?: string;
  readonly compactThreshold?: number;
  readonly metadata?: JsonObject;
  /** The last seq: an importer refuses a truncated file. */
  readonly lastSeq: number;
}

/** One chunk of the log. */
export interface ExportedChunk extends StoredChunk {
  readonly type: "chunk";
  /** On a compaction's summary that was undone. */
  readonly undone?: true;
}

/** One sealed turn. */
export interface ExportedTurn {
  readonly type: "turn";
  readonly turnId: string;
  readonly startedAt: number;
  readonly sealedAt?: number;
  readonly metrics: TurnMetrics;
  readonly providerCalls: readonly ProviderCallInfo[];
}

/** `POST /import`: accepts the lines of one export. */
export interface ImportQuery {
  /** Id of the new conversation. Absent: the id in the file. */
  readonly id?: string | undefined;
}

/**
 * Result of an import. Importing the same file again returns `created: false`; another one under that id is
 * refused.
 */
export interface ImportResponse {
  readonly conversation: ConversationMeta;
  readonly created: boolean;
  readonly messages: number;
  readonly turns: number;
}
