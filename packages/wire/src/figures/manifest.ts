import type { ErrorCode } from "../error-code.js";
import type { OpenUnion } from "../json.js";
import type { Role, StepId } from "../log/ids.js";
import type { Cost, ModelPrices } from "./cost.js";
import type { Usage } from "./usage.js";

/** Content of a segment of a request. */
export type ContextSegmentKind = "instructions" | "tools" | "summary" | "messages";

/**
 * A section of a request, in the order in which the model reads it. Message segments name their seqs, so that
 * the exact content can be read from the log, which never changes.
 */
export interface ContextSegment {
  readonly kind: ContextSegmentKind;
  /** The role, if all messages of the segment have the same one. */
  readonly role?: Role;
  /** First seq of the segment. Absent for content that is not in the log: instructions and tools. */
  readonly firstSeq?: number;
  /** Last seq of the segment, inclusive. */
  readonly lastSeq?: number;
  readonly estimatedTokens: number;
  /** A hash of the request from its start through this segment. Equal hashes are equal bytes. */
  readonly hash?: string;
}

/** Kind of change made to messages between the log and the provider. */
export type ContextTransformKind =
  | "result-synthesized"
  | "orphan-removed"
  | "result-clipped"
  | "reasoning-dropped"
  | "reasoning-as-text"
  | "call-ids-rewritten"
  | "roles-merged"
  | "empty-removed"
  | "file-dropped";

/** One change between the log and the request. */
export interface ContextTransform {
  readonly kind: OpenUnion<ContextTransformKind>;
  readonly firstSeq?: number;
  readonly lastSeq?: number;
  /** Reason, for people. */
  readonly detail?: string;
}

/** Messages that the model was not shown. */
export interface DroppedRange {
  readonly firstSeq: number;
  /** Inclusive. */
  readonly lastSeq: number;
  /** `budget`: they did not fit. `compacted`: a summary replaces them. */
  readonly reason: "budget" | "compacted";
  readonly estimatedTokens?: number;
  /** The seq of the summary that replaces them, with `compacted`. */
  readonly summarySeq?: number;
}

/**
 * The first place at which a request differs from the one before it in the same conversation. A provider's
 * cache ends there.
 */
export interface PrefixBreak {
  /** `model` and `parameters` (effort, sampling) end the cache although no message changed. */
  readonly at: "model" | "parameters" | ContextSegmentKind;
  /** The first seq that differs, if the break is in the log's part. */
  readonly seq?: number;
  /** Reason, for people: "effort high -> low", "compaction", "window moved". */
  readonly detail?: string;
}

/** A file of a request, and the form in which the model was shown it. */
export interface ShownFile {
  /** Its place in the log, if it has one. */
  readonly seq?: number;
  readonly name: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  /**
   * `image` and `document`: as such. `text`: the text in it. `note`: a line with its name and why it is not
   * shown.
   */
  readonly as: "image" | "document" | "text" | "note";
  /** Reason, for people. */
  readonly detail?: string;
}

/**
 * The content of one provider call. Together with the log it shows what the model saw; together with the
 * call's usage it shows why the cache missed: `prefixBreak` is what changed, and a call that kept its prefix
 * and still read nothing from the cache is a miss on the provider's side.
 */
export interface ContextManifest {
  /** Hash of the instructions; their text is in the configuration or on the conversation, not in the log. */
  readonly instructionsHash?: string;
  /** Hash of the tool definitions. */
  readonly toolsHash?: string;
  /** All content that was sent, in order. */
  readonly segments: readonly ContextSegment[];
  /** All content that was omitted, by seq. */
  readonly dropped: readonly DroppedRange[];
  readonly transforms: readonly ContextTransform[];
  /** Every file of the request, in order. Absent if there are none. */
  readonly files?: readonly ShownFile[];
  /** The sum over all segments. */
  readonly estimatedTokens: number;
  /** The model's window as known at that time. */
  readonly contextWindow?: number;
  /** A hash of the whole request: the prefix that the next call should keep. */
  readonly prefixHash: string;
  /** True if the previous call's whole request is a prefix of this one. Absent on the first call. */
  readonly prefixKept?: boolean;
  /** Estimated tokens that this request has in common with the previous one, from the start. */
  readonly prefixKeptTokens?: number;
  /** Position of the prefix break. Present exactly if `prefixKept` is false. */
  readonly prefixBreak?: PrefixBreak;
}

/** One call to a provider, as stored with its turn. */
export interface ProviderCallInfo {
  readonly id: string;
  /** The step that made the call; for a compaction, the step before which it was made. */
  readonly stepId: StepId;
  /** Purpose of the call. Absent: the step itself. */
  readonly purpose?: "step" | "compaction";
  /** As `credential/model`. */
  readonly model: string;
  /** The provider that answered. */
  readonly provider: string;
  /** The model's name at the provider, as used in traces. */
  readonly providerModel?: string;
  /** The provider's own id of the request, for its support. */
  readonly providerRequestId?: string;
  /** Start of the request, in epoch milliseconds. */
  readonly startedAt?: number;
  /** Creation of the answer as reported by the provider, in epoch milliseconds. */
  readonly createdAt?: number;
  /** Number of attempts; retries happen only before the first visible output. */
  readonly attempts?: number;
  /** Absent if the provider did not report it, as after a cut stream. */
  readonly usage?: Usage;
  /** Absent if unknown, which is not 0. */
  readonly cost?: Cost;
  /** The model's prices when the call was made. Absent if they were unknown. */
  readonly prices?: ModelPrices;
  /** From the start of the stream to the first text or reasoning. */
  readonly ttftMs?: number;
  /** From the first text or reasoning to the end of the stream. */
  readonly decodeMs?: number;
  /** From the start of the stream to its end. */
  readonly genTotalMs?: number;
  readonly manifest?: ContextManifest;
  /** The failure of the call, if it failed. */
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  /** The provider's response, unchanged. Stored only if the server is configured to. */
  readonly raw?: unknown;
}
