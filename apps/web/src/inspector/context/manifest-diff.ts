import type { ContextManifest, ContextSegmentKind, ContextTransform, DroppedRange } from "@parley/wire";
import { joinRanges, type SeqRange, subtractRanges } from "./seq-ranges.js";

/** Kinds in the order in which a model reads them. */
export const segmentKinds: readonly ContextSegmentKind[] = ["instructions", "tools", "summary", "messages"];

/** Change of something that has no place in the log. */
export type Change = "same" | "changed" | "added" | "removed" | "none";

/** Tokens of one kind in two requests. */
export interface KindChange {
  readonly kind: ContextSegmentKind;
  readonly before: number;
  readonly after: number;
}

/** Differences of a request from the previous one. */
export interface ManifestDiff {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Only kinds that at least one of the two has. */
  readonly kinds: readonly KindChange[];
  readonly instructions: Change;
  readonly tools: Change;
  /** Sent now, not sent before. */
  readonly added: readonly SeqRange[];
  /** Sent before, not sent now. */
  readonly removed: readonly SeqRange[];
  /** Left out now, and not left out before. */
  readonly newlyDropped: readonly DroppedRange[];
  /** Changes that the previous request did not have. */
  readonly newTransforms: readonly ContextTransform[];
}

/** Compares two requests of a conversation. Pure. */
export function diffManifests(before: ContextManifest, after: ContextManifest): ManifestDiff {
  const sentBefore = sentRanges(before);
  const sentAfter = sentRanges(after);
  const known = new Set(before.transforms.map(transformKey));
  return {
    tokensBefore: before.estimatedTokens,
    tokensAfter: after.estimatedTokens,
    kinds: segmentKinds
      .map((kind) => ({ kind, before: tokensOfKind(before, kind), after: tokensOfKind(after, kind) }))
      .filter((change) => change.before > 0 || change.after > 0),
    instructions: changeOf(before.instructionsHash, after.instructionsHash),
    tools: changeOf(before.toolsHash, after.toolsHash),
    added: subtractRanges(sentAfter, sentBefore),
    removed: subtractRanges(sentBefore, sentAfter),
    newlyDropped: after.dropped.filter(
      (range) => subtractRanges([range], sameReason(before.dropped, range.reason)).length > 0,
    ),
    newTransforms: after.transforms.filter((transform) => !known.has(transformKey(transform))),
  };
}

/** Returns true if two requests show the model the same, as far as their manifests record it. */
export function isSameContext(diff: ManifestDiff): boolean {
  return (
    (diff.instructions === "same" || diff.instructions === "none") &&
    (diff.tools === "same" || diff.tools === "none") &&
    diff.added.length === 0 &&
    diff.removed.length === 0 &&
    diff.newTransforms.length === 0
  );
}

/** Returns the seqs that a request shows, including summaries. */
export function sentRanges(manifest: ContextManifest): readonly SeqRange[] {
  return joinRanges(
    manifest.segments.flatMap(({ firstSeq, lastSeq }) =>
      firstSeq === undefined || lastSeq === undefined ? [] : [{ firstSeq, lastSeq }],
    ),
  );
}

/** Returns the estimated tokens that a request uses for one kind. */
export function tokensOfKind(manifest: ContextManifest, kind: ContextSegmentKind): number {
  return manifest.segments.reduce(
    (sum, segment) => (segment.kind === kind ? sum + segment.estimatedTokens : sum),
    0,
  );
}

function changeOf(before: string | undefined, after: string | undefined): Change {
  if (before === undefined) return after === undefined ? "none" : "added";
  if (after === undefined) return "removed";
  return before === after ? "same" : "changed";
}

function sameReason(
  ranges: readonly DroppedRange[],
  reason: DroppedRange["reason"],
): readonly DroppedRange[] {
  return ranges.filter((range) => range.reason === reason);
}

function transformKey({ kind, firstSeq, lastSeq, detail }: ContextTransform): string {
  return JSON.stringify([kind, firstSeq, lastSeq, detail]);
}
