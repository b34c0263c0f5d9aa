import type { ContextManifest, ContextSegment, PrefixBreak, ProviderCallInfo } from "@parley/wire";
import { formatTokens } from "../figures/figures.js";

/** Providers cache from about this length on; below it a miss means nothing. */
const shortestCached = 1_024;
/** Caches work in pieces of some hundred tokens, so that the end of a kept prefix is not read from the cache. */
const mostOfIt = 0.5;

/**
 * Outcome of a call with respect to the provider's cache.
 *
 * - `first`: there was no call before it.
 * - `held`: it started with the whole previous request, and the provider read that from its cache.
 * - `partial`: it did, but the provider read less than half of it.
 * - `missed`: it did, and the provider read nothing: the miss is the provider's.
 * - `short`: it did, but that is too short to be cached.
 * - `unreported`: it did; the provider does not report what it read.
 * - `broken`: it differs from the previous request, and the cache ends there.
 * - `unknown`: the call has no manifest.
 */
export type CacheOutcome =
  | "first"
  | "held"
  | "partial"
  | "missed"
  | "short"
  | "unreported"
  | "broken"
  | "unknown";

/** The cache's effect on a call, and its possible effect. */
export interface CacheVerdict {
  readonly outcome: CacheOutcome;
  /** Estimated tokens that could have come from the cache. Absent: unknown. */
  readonly expectedTokens?: number;
  /** Tokens that did. Absent: the provider does not report it. */
  readonly readTokens?: number;
  readonly break?: PrefixBreak;
}

/** Judges one call by its manifest and its usage. Pure. */
export function judgeCache(call: Pick<ProviderCallInfo, "manifest" | "usage">): CacheVerdict {
  const { manifest, usage } = call;
  const readTokens = usage?.cacheReadTokens;
  const read = readTokens === undefined ? {} : { readTokens };
  if (manifest === undefined) return { outcome: "unknown", ...read };
  if (manifest.prefixKept === undefined) return { outcome: "first", ...read };
  if (!manifest.prefixKept) {
    const at = manifest.prefixBreak;
    const isWhole = at?.at === "model" || at?.at === "parameters";
    return {
      outcome: "broken",
      expectedTokens: isWhole ? 0 : (manifest.prefixKeptTokens ?? 0),
      ...read,
      ...(at === undefined ? {} : { break: at }),
    };
  }
  const expectedTokens = manifest.prefixKeptTokens;
  const expected = expectedTokens === undefined ? {} : { expectedTokens };
  return { outcome: keptOutcome(readTokens, expectedTokens ?? 0), ...expected, ...read };
}

function keptOutcome(read: number | undefined, expected: number): CacheOutcome {
  if (read === undefined) return "unreported";
  if (read > 0) return read >= expected * mostOfIt ? "held" : "partial";
  return expected < shortestCached ? "short" : "missed";
}

/** Returns the verdict in a few words, for a badge. */
export function cacheTitle(verdict: CacheVerdict): string {
  switch (verdict.outcome) {
    case "first":
      return "First call";
    case "held":
      return "Cache held";
    case "partial":
      return "Cache held in part";
    case "missed":
      return "Cache missed";
    case "short":
      return "Too short to cache";
    case "unreported":
      return "Prefix kept";
    case "broken":
      return "Prefix broken";
    case "unknown":
      return "Not recorded";
  }
}

/** Returns the verdict in sentences. */
export function cacheExplanation(verdict: CacheVerdict): string {
  const read = verdict.readTokens;
  const expected = formatTokens(verdict.expectedTokens);
  switch (verdict.outcome) {
    case "first":
      return read === undefined || read === 0
        ? "No request came before this one, so there was nothing to reuse."
        : `No request of this conversation came before this one, but the provider knew ${formatTokens(read)} tokens from another.`;
    case "held":
      return `It begins with the whole request before it, about ${expected} tokens; the provider read ${formatTokens(read)} from its cache.`;
    case "partial":
      return `It begins with the whole request before it, about ${expected} tokens, but the provider read only ${formatTokens(read)} from its cache.`;
    case "missed":
      return `It begins with the whole request before it, about ${expected} tokens, and the provider still read nothing from its cache: it may have expired.`;
    case "short":
      return `It begins with the whole request before it, but about ${expected} tokens are fewer than providers keep.`;
    case "unreported":
      return `It begins with the whole request before it, about ${expected} tokens. The provider does not say what it read from its cache.`;
    case "broken":
      return `${breakSentence(verdict.break)} ${restSentence(verdict)}`;
    case "unknown":
      return "What this call sent was not recorded.";
  }
}

function breakSentence(at: PrefixBreak | undefined): string {
  if (at === undefined) return "It differs from the request before it.";
  const detail = at.detail === undefined ? "" : ` (${at.detail})`;
  switch (at.at) {
    case "model":
      return `Another model was asked${detail}; a cache belongs to one model.`;
    case "parameters":
      return `The parameters changed${detail}, which ends the cache although no message changed.`;
    case "instructions":
      return `The instructions changed${detail}.`;
    case "tools":
      return `The tools changed${detail}.`;
    case "summary":
      return `The summary changed${detail}${placeText(at.seq)}.`;
    case "messages":
      return `The messages differ${detail}${placeText(at.seq)}.`;
  }
}

function placeText(seq: number | undefined): string {
  return seq === undefined ? "" : `, from seq ${seq} on`;
}

function restSentence({ expectedTokens, readTokens }: CacheVerdict): string {
  const could =
    expectedTokens === undefined || expectedTokens === 0
      ? "Nothing could be reused"
      : `About ${formatTokens(expectedTokens)} tokens before that could be reused`;
  return readTokens === undefined
    ? `${could}.`
    : `${could}; the provider read ${formatTokens(readTokens)} from its cache.`;
}

/** Relation of a segment to the previous request: all of it is the same, its start is, or nothing is. */
export type SegmentReuse = "kept" | "partly" | "new";

/**
 * Returns which segments the request shares with the previous one, in order. The segment in which they diverge is
 * shared in part.
 */
export function segmentReuse(manifest: ContextManifest): readonly SegmentReuse[] {
  const breakAt = manifest.prefixBreak?.at;
  const isReused = breakAt !== "model" && breakAt !== "parameters";
  const kept = isReused ? (manifest.prefixKeptTokens ?? 0) : 0;
  let end = 0;
  return manifest.segments.map((segment: ContextSegment) => {
    const start = end;
    end += segment.estimatedTokens;
    // Sums of estimates may differ in the last digits.
    if (end <= kept + 0.5 && kept > 0) return "kept";
    return start + 0.5 < kept ? "partly" : "new";
  });
}
