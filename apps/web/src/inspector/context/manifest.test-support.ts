import type { ContextManifest, ContextSegment } from "@parley/wire";

/** Returns a manifest whose sums fit its segments. */
export function manifestOf(
  segments: readonly ContextSegment[],
  more: Partial<ContextManifest> = {},
): ContextManifest {
  return {
    segments,
    dropped: [],
    transforms: [],
    estimatedTokens: segments.reduce((sum, { estimatedTokens }) => sum + estimatedTokens, 0),
    prefixHash: segments.map(({ kind, firstSeq, lastSeq }) => `${kind}${firstSeq}${lastSeq}`).join("/"),
    ...more,
  };
}

/** Returns a segment of messages from one seq to another. */
export function messages(firstSeq: number, lastSeq: number, estimatedTokens: number): ContextSegment {
  return { kind: "messages", firstSeq, lastSeq, estimatedTokens };
}
