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
 * One line of an exported conversation. The first is `conversation`; then all chunks by seq, a fork's inherited ones
 * included; then the sealed turns. Lines of a kind that an importer does not know are refused, not dropped.
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
  /** The last seq: an importer refuses a file that was cut short. */
  readonly lastSeq: number;
}

/** One chunk of the log. */
export interface ExportedChunk extends StoredChunk {
  readonly type: "chunk";
  /** On a compaction's summary that was taken out of force. */
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

/** `POST /import`: takes the lines of one export. */
export interface ImportQuery {
  /** Under which id. Absent: the id in the file. */
  readonly id?: string | undefined;
}

/** What was imported. The same file again is answered with `created: false`; another one under that id is refused. */
export interface ImportResponse {
  readonly conversation: ConversationMeta;
  readonly created: boolean;
  readonly messages: number;
  readonly turns: number;
}
