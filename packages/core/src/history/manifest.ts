import { omitUndefined } from "@parley/fold";
import type { ContextManifest, ContextSegment, ContextTransform, PrefixBreak } from "@parley/wire";
import type { WorkSlices } from "../event-loop.js";
import { hashText } from "../messages/text/hash.js";
import type { HistoryEntry, ProviderMessage, ProviderToolDefinition } from "../ports.js";
import type { WindowSelection } from "./choose-window.js";
import type { ContextCost } from "./context-cost.js";
import type { PreviousCall } from "./history-builder.js";
import { type ChainHead, RequestChain, type RequestLink } from "./request-chain.js";
import { calibrated } from "./token-scale.js";
import type { WindowPiece } from "./window-piece.js";

/** Input of a manifest. */
export interface ManifestInput {
  readonly window: WindowSelection;
  readonly instructions?: { readonly text: string; readonly cost: ContextCost } | undefined;
  readonly tools?:
    | { readonly definitions: readonly ProviderToolDefinition[]; readonly cost: ContextCost }
    | undefined;
  readonly model?: string | undefined;
  readonly previous?: PreviousCall | undefined;
  readonly contextWindow?: number | undefined;
  /** Calibration of the window's tokens. Default 1. */
  readonly factor?: number | undefined;
}

/** Relation of a request to the one before it. */
type PrefixComparison = Pick<ContextManifest, "prefixKept" | "prefixKeptTokens" | "prefixBreak">;

/**
 * Returns the record of what the model is shown, and the messages of the recorded request. The same log and the same
 * settings give the same manifest, and its hashes are of the bytes that providers receive. `chain` may be that of the
 * conversation's last request: it becomes this one's.
 */
export async function describeRequest(
  input: ManifestInput,
  chain: RequestChain = new RequestChain(),
  slices?: WorkSlices,
): Promise<{ readonly manifest: ContextManifest; readonly messages: ProviderMessage[] }> {
  await chain.become(headOf(input), input.window.pieces, slices);
  return { manifest: manifestOf(input, chain), messages: chain.messages() };
}

function headOf({ instructions, tools }: ManifestInput): ChainHead[] {
  const head: ChainHead[] = [];
  if (instructions !== undefined) {
    head.push({ kind: "instructions", text: instructions.text, tokens: instructions.cost.tokens });
  }
  if (tools !== undefined) {
    head.push({ kind: "tools", text: toolsText(tools.definitions), tokens: tools.cost.tokens });
  }
  return head;
}

function manifestOf(input: ManifestInput, chain: RequestChain): ContextManifest {
  const { instructions, tools, window, previous, factor = 1 } = input;
  const { links } = chain;
  const shared = previous === undefined ? noneShared : sharedWith(previous.manifest, links);
  const keptLinks = shared.isWhole ? shared.links : 0;
  return {
    ...(instructions === undefined ? {} : { instructionsHash: hashText(instructions.text) }),
    ...(tools === undefined ? {} : { toolsHash: hashText(toolsText(tools.definitions)) }),
    segments: [...chain.segments(0, keptLinks, factor), ...chain.segments(keptLinks, links.length, factor)],
    dropped: window.dropped,
    transforms: transformsOf(window.pieces),
    estimatedTokens: calibrated(chain.tokensOf(links.length), { factor }),
    ...omitUndefined({ contextWindow: input.contextWindow }),
    prefixHash: links.at(-1)?.hash ?? hashText(""),
    ...comparePrefix(input, chain, shared),
  };
}

/** Common prefix of two requests of a conversation. */
interface SharedPrefix {
  /** True if it is the whole of the previous one. */
  readonly isWhole: boolean;
  /** Number of links of this one. It is known at the previous manifest's segments, so it may be a little more. */
  readonly links: number;
  /** Number of segments of the previous one. */
  readonly segments: number;
}

const noneShared: SharedPrefix = { isWhole: false, links: 0, segments: 0 };

/** Searches from the newest end, near which the previous request ends unless its prefix was not kept. */
function sharedWith(before: ContextManifest, links: readonly RequestLink[]): SharedPrefix {
  const { segments, prefixHash } = before;
  const whole = links.findLastIndex((link) => link.hash === prefixHash);
  if (whole >= 0) return { isWhole: true, links: whole + 1, segments: segments.length };
  const placeOf = new Map<string | undefined, number>(segments.map(({ hash }, index) => [hash, index]));
  placeOf.delete(undefined);
  const last = links.findLastIndex((link) => placeOf.has(link.hash));
  if (last < 0) return noneShared;
  return { isWhole: false, links: last + 1, segments: (placeOf.get(links[last]?.hash) ?? -1) + 1 };
}

/** Compares a request with the previous one: this one begins with all of it, or they differ from a place on. */
function comparePrefix(input: ManifestInput, chain: RequestChain, shared: SharedPrefix): PrefixComparison {
  const { previous, model, factor = 1 } = input;
  if (previous === undefined) return {};
  const isModelKept = previous.model === undefined || model === undefined || previous.model === model;
  const prefixKeptTokens = calibrated(chain.tokensOf(shared.links), { factor });
  if (!isModelKept) {
    const detail = `${previous.model} -> ${model}`;
    return { prefixKept: false, prefixKeptTokens, prefixBreak: { at: "model", detail } };
  }
  if (shared.isWhole) return { prefixKept: true, prefixKeptTokens };
  const now = chain.links[shared.links];
  const prefixBreak = breakAt(previous.manifest.segments[shared.segments], now);
  return { prefixKept: false, prefixKeptTokens, prefixBreak };
}

function breakAt(old: ContextSegment | undefined, now: RequestLink | undefined): PrefixBreak {
  // The earliest difference in a request decides: a removed tool shows as the message in its place.
  const kinds: readonly PrefixBreak["at"][] = ["instructions", "tools", "summary", "messages"];
  const at = kinds.find((kind) => kind === old?.kind || kind === now?.kind) ?? "messages";
  const seq = now?.kind === at || at === "messages" ? now?.firstSeq : old?.firstSeq;
  return { at, ...omitUndefined({ seq }), detail: breakDetail(at, old, now) };
}

function breakDetail(at: PrefixBreak["at"], old: ContextSegment | undefined, now: RequestLink | undefined) {
  if (at === "instructions" || at === "tools") return `${at} changed`;
  if (at === "summary") return now?.kind === "summary" ? "compaction" : "summary left out";
  const moved = old?.firstSeq !== undefined && now?.firstSeq !== undefined && old.firstSeq !== now.firstSeq;
  return moved ? "window moved" : "messages changed";
}

function toolsText(definitions: readonly ProviderToolDefinition[]): string {
  return JSON.stringify(definitions);
}

function placeOfEntry(entry: HistoryEntry | undefined): { firstSeq?: number; lastSeq?: number } {
  const { firstSeq, lastSeq } = entry ?? {};
  return firstSeq === undefined || lastSeq === undefined ? {} : { firstSeq, lastSeq };
}

function transformsOf(pieces: readonly WindowPiece[]): ContextTransform[] {
  const transforms: ContextTransform[] = [];
  for (const { repairs, entries } of pieces) {
    if (repairs.length === 0) continue;
    const places = new Map(entries.map((entry) => [entry.message.id, entry]));
    for (const { kind, messageId, toolCallId } of repairs) {
      const place = placeOfEntry(places.get(messageId));
      transforms.push({ kind, ...place, detail: `call ${toolCallId}` });
    }
  }
  return transforms;
}

/** Returns the seq at which a request's window began, if messages before it did not fit. */
export function windowStart(manifest: ContextManifest): number | undefined {
  const last = manifest.dropped.findLast((range) => range.reason === "budget");
  return last === undefined ? undefined : last.lastSeq + 1;
}
