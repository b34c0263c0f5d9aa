import type { ContextManifest, ContextSegmentKind, Usage } from "@parley/wire";
import { knownUsage } from "../figures/figures.js";
import { segmentKinds, tokensOfKind } from "./manifest-diff.js";

/** Input of a gauge. Everything may be unknown. */
export interface GaugeInput {
  /** Tokens in context after the newest turn, or after the newest step of a running one. */
  readonly contextSize?: number | undefined;
  readonly contextWindow?: number | undefined;
  /** The setting: tokens, 0 for by hand only, null for the default. Undefined: not read yet. */
  readonly compactThreshold?: number | null | undefined;
  /** The threshold that null means, in tokens. */
  readonly defaultThreshold?: number | undefined;
  /** The newest call that a step made. */
  readonly manifest?: ContextManifest | undefined;
  /** Usage that the call reported. */
  readonly usage?: Usage | undefined;
  /** A summary was written, or undone, after that call. */
  readonly changedSince?: boolean | undefined;
}

/** Kind of a part of the context. `answer`: output of the last step, which the next call reads. */
export type GaugePartKind = ContextSegmentKind | "answer" | "unsorted";

/** A part of the context. */
export interface GaugePart {
  readonly kind: GaugePartKind;
  readonly tokens: number;
  /** Share of what is used. */
  readonly share: number;
}

/** When the conversation is compacted automatically. */
export type CompactionOutlook =
  | { readonly kind: "unknown" }
  | { readonly kind: "manual" }
  /** `inTokens`: number of tokens until then. 0: before the next step. Absent: what is used is unknown. */
  | { readonly kind: "automatic"; readonly atTokens: number; readonly inTokens?: number };

/** The context, used and free. */
export interface Gauge {
  /** Absent: unknown, which is not 0. */
  readonly used?: number;
  /** `used` is an estimate: no provider has reported it. */
  readonly isEstimate: boolean;
  readonly limit?: number;
  /** Used of limit, at most 1. Absent when one of them is unknown. */
  readonly share?: number;
  /** Parts of what is used; empty if that is unknown. */
  readonly parts: readonly GaugePart[];
  readonly outlook: CompactionOutlook;
  /** `near`: at four fifths of the way to compaction, or of the window. `full`: past it. */
  readonly level: "unknown" | "calm" | "near" | "full";
  /** The known size is from before a compaction, or before it was undone: the next call reports the new one. */
  readonly isOutdated: boolean;
}

/** Computes what the gauge shows. Pure. */
export function composeGauge(input: GaugeInput): Gauge {
  const { manifest, contextWindow, changedSince = false } = input;
  const limit = contextWindow ?? manifest?.contextWindow;
  // The last call's input is not the input of the next one.
  const used = changedSince ? undefined : (input.contextSize ?? manifest?.estimatedTokens);
  const outlook = compactionOutlook(input, used);
  const mark = outlook.kind === "automatic" ? outlook.atTokens : limit;
  return {
    ...(used === undefined ? {} : { used }),
    isEstimate: input.contextSize === undefined && used !== undefined,
    ...(limit === undefined ? {} : { limit }),
    ...(used === undefined || limit === undefined ? {} : { share: Math.min(1, used / limit) }),
    parts: used === undefined ? [] : partsOf(input, used),
    outlook,
    level: levelOf(used, mark),
    isOutdated: changedSince,
  };
}

function levelOf(used: number | undefined, mark: number | undefined): Gauge["level"] {
  if (used === undefined || mark === undefined) return "unknown";
  if (used >= mark) return "full";
  return used >= mark * 0.8 ? "near" : "calm";
}

function compactionOutlook(
  { compactThreshold, defaultThreshold }: GaugeInput,
  used: number | undefined,
): CompactionOutlook {
  const atTokens = compactThreshold === null ? defaultThreshold : compactThreshold;
  if (atTokens === undefined) return { kind: "unknown" };
  if (atTokens === 0) return { kind: "manual" };
  return {
    kind: "automatic",
    atTokens,
    ...(used === undefined ? {} : { inTokens: Math.max(0, atTokens - used) }),
  };
}

/**
 * Returns the manifest's estimates, scaled so that they add up to what the provider counted: a part is as large as its
 * share of the request. Without estimates, the whole request is `unsorted`.
 */
function partsOf({ manifest, usage, contextSize }: GaugeInput, used: number): readonly GaugePart[] {
  const reported = contextSize === undefined ? undefined : knownUsage(usage);
  const answer = Math.min(used, reported?.outputTokens ?? 0);
  const sent = used - answer;
  const estimated = manifest?.estimatedTokens ?? 0;
  const parts: { kind: GaugePartKind; tokens: number }[] =
    manifest === undefined || estimated <= 0
      ? [{ kind: "unsorted", tokens: sent }]
      : segmentKinds.map((kind) => ({ kind, tokens: (tokensOfKind(manifest, kind) / estimated) * sent }));
  parts.push({ kind: "answer", tokens: answer });
  return parts
    .filter(({ tokens }) => tokens > 0)
    .map(({ kind, tokens }) => ({ kind, tokens, share: tokens / used }));
}
