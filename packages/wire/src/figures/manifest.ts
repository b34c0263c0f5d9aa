import type { ErrorCode } from "../error-code.js";
import type { OpenUnion } from "../json.js";
import type { Role, StepId } from "../log/ids.js";
import type { Cost, ModelPrices } from "./cost.js";
import type { Usage } from "./usage.js";

/** What a segment of a request is made of. */
export type ContextSegmentKind = "instructions" | "tools" | "summary" | "messages";

/**
 * A stretch of a request, in the order in which the model reads it. Message segments name their seqs, so that
 * the exact content can be read from the log, which never changes.
 */
export interface ContextSegment {
  readonly kind: ContextSegmentKind;
  /** The role, where all messages of the segment have the same one. */
  readonly role?: Role;
  /** First seq of the segment. Absent for what is not in the log: instructions and tools. */
  readonly firstSeq?: number;
  /** Last seq of the segment, inclusive. */
  readonly lastSeq?: number;
  readonly estimatedTokens: number;
  /** A hash of the request from its start through this segment. Equal hashes are equal bytes. */
  readonly hash?: string;
}

/** What was done to messages on their way from the log to the provider. */
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
  /** Why, for people. */
  readonly detail?: string;
}

/** Messages that the model was not shown. */
export interface DroppedRange {
  readonly firstSeq: number;
  /** Inclusive. */
  readonly lastSeq: number;
  /** `budget`: they did not fit. `compacted`: a summary stands in for them. */
  readonly reason: "budget" | "compacted";
  readonly estimatedTokens?: number;
  /** The seq of the summary that stands in, with `compacted`. */
  readonly summarySeq?: number;
}

/**
 * The first place at which a request differs from the one before it in the same conversation. A provider's
 * cache ends there.
 */
export interface PrefixBreak {
  /** `model` and `parameters` (effort, sampling) end the cache although no message changed. */
  readonly at: "model" | "parameters" | ContextSegmentKind;
  /** The first seq that differs, where the break is in the log's part. */
  readonly seq?: number;
  /** Why, for people: "effort high -> low", "compaction", "window moved". */
  readonly detail?: string;
}

/** A file of a request, and what the model was shown of it. */
export interface ShownFile {
  /** Its place in the log, where it has one. */
  readonly seq?: number;
  readonly name: string;
  readonly mediaType: string;
  /** Bytes. */
  readonly size: number;
  /** `image` and `document`: as such. `text`: the text in it. `note`: a line that names it and says why it is not shown. */
  readonly as: "image" | "document" | "text" | "note";
  /** Why, for people. */
  readonly detail?: string;
}

/**
 * What one provider call was made of. With the log it answers what the model saw; with the call's usage it
 * answers why the cache missed: `prefixBreak` says what changed, and a call that kept its prefix and still
 * read nothing from the cache was missed by the provider.
 */
export interface ContextManifest {
  /** Hash of the instructions; their text is in the configuration or on the conversation, not in the log. */
  readonly instructionsHash?: string;
  /** Hash of the tool definitions. */
  readonly toolsHash?: string;
  /** Everything that was sent, in order. */
  readonly segments: readonly ContextSegment[];
  /** Everything that was left out, by seq. */
  readonly dropped: readonly DroppedRange[];
  readonly transforms: readonly ContextTransform[];
  /** Every file of the request, in order. Absent where there are none. */
  readonly files?: readonly ShownFile[];
  /** The sum over all segments. */
  readonly estimatedTokens: number;
  /** The model's window as it was known then. */
  readonly contextWindow?: number;
  /** A hash of the whole request: the prefix that the next call should keep. */
  readonly prefixHash: string;
  /** Whether the previous call's whole request is a prefix of this one. Absent on the first call. */
  readonly prefixKept?: boolean;
  /** Estimated tokens that this request has in common with the previous one, from the start. */
  readonly prefixKeptTokens?: number;
  /** Where the prefix broke. Present exactly if `prefixKept` is false. */
  readonly prefixBreak?: PrefixBreak;
}

/** One call to a provider, as it is kept with its turn. */
export interface ProviderCallInfo {
  readonly id: string;
  /** The step that called; for a compaction, the step before which it was made. */
  readonly stepId: StepId;
  /** What the call was for. Absent: the step itself. */
  readonly purpose?: "step" | "compaction";
  /** As `credential/model`. */
  readonly model: string;
  /** The provider that answered. */
  readonly provider: string;
  /** The model's name at the provider, as traces have it. */
  readonly providerModel?: string;
  /** The provider's own name for the request, for its support. */
  readonly providerRequestId?: string;
  /** When the request was made. Epoch milliseconds. */
  readonly startedAt?: number;
  /** When the answer was made, by the provider's word. Epoch milliseconds. */
  readonly createdAt?: number;
  /** How many attempts it took; retries happen only before the first visible output. */
  readonly attempts?: number;
  /** Absent when the provider did not report it, as after a cut stream. */
  readonly usage?: Usage;
  /** Absent where it is unknown, which is not 0. */
  readonly cost?: Cost;
  /** The model's prices when the call was made. Absent where they were unknown. */
  readonly prices?: ModelPrices;
  /** From the start of the stream to the first text or reasoning. */
  readonly ttftMs?: number;
  /** From the first text or reasoning to the end of the stream. */
  readonly decodeMs?: number;
  /** From the start of the stream to its end. */
  readonly genTotalMs?: number;
  readonly manifest?: ContextManifest;
  /** How the call failed, if it did. */
  readonly error?: { readonly code: ErrorCode; readonly message: string };
  /** The provider's response as it came. Kept only when the server is told to. */
  readonly raw?: unknown;
}
