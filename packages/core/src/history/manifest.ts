import { omitUndefined } from "@parley/fold";
import type { ContextManifest, ContextSegment, ContextTransform, PrefixBreak } from "@parley/wire";
import type { ConversationMessage } from "../messages/message.js";
import { toProviderMessages } from "../messages/provider/provider-messages.js";
import { chainHash, hashText } from "../messages/text/hash.js";
import type { HistoryEntry, ProviderMessage, ProviderToolDefinition } from "../ports.js";
import type { WindowSelection } from "./choose-window.js";
import type { ContextCost } from "./context-cost.js";
import type { PreviousCall } from "./history-builder.js";
import type { MessageMeter } from "./message-tokens.js";

/** A request in its smallest stretches: the instructions, the tools, then each message. */
export interface RequestLink {
  readonly kind: ContextSegment["kind"];
  readonly role?: ConversationMessage["role"];
  /** Absent for what is not in the log. */
  readonly firstSeq?: number;
  readonly lastSeq?: number;
  readonly estimatedTokens: number;
  /** Of the request from its start through this stretch. */
  readonly hash: string;
}

/** What a manifest is made of. */
export interface ManifestInput {
  readonly window: WindowSelection;
  readonly measure: MessageMeter;
  readonly instructions?: { readonly text: string; readonly cost: ContextCost } | undefined;
  readonly tools?:
    | { readonly definitions: readonly ProviderToolDefinition[]; readonly cost: ContextCost }
    | undefined;
  readonly model?: string | undefined;
  readonly previous?: PreviousCall | undefined;
  readonly contextWindow?: number | undefined;
}

/** How a request relates to the one before it. */
export type PrefixComparison = Pick<ContextManifest, "prefixKept" | "prefixKeptTokens" | "prefixBreak">;

/**
 * The record of what the model is shown. Pure: the same log and the same settings give the same manifest, and
 * its hashes are of the bytes that providers are handed.
 */
export function buildManifest(input: ManifestInput): ContextManifest {
  return describeRequest(input).manifest;
}

/** The manifest, and the messages of the request that it is the record of: each is lowered once for both. */
export function describeRequest(input: ManifestInput): {
  readonly manifest: ContextManifest;
  readonly messages: ProviderMessage[];
} {
  const { links, messages } = linkRequest(input);
  return { manifest: manifestOf(input, links), messages };
}

function manifestOf(input: ManifestInput, links: readonly RequestLink[]): ContextManifest {
  const { instructions, tools, window } = input;
  const comparison = comparePrefix(input.previous, { links, model: input.model });
  const keptLinks = links.findIndex((link) => link.hash === input.previous?.manifest.prefixHash) + 1;
  return {
    ...(instructions === undefined ? {} : { instructionsHash: hashText(instructions.text) }),
    ...(tools === undefined ? {} : { toolsHash: hashText(toolsText(tools.definitions)) }),
    segments: [...joinLinks(links.slice(0, keptLinks)), ...joinLinks(links.slice(keptLinks))],
    dropped: window.dropped,
    transforms: window.pieces.flatMap(transformsOf),
    estimatedTokens: links.reduce((sum, link) => sum + link.estimatedTokens, 0),
    ...omitUndefined({ contextWindow: input.contextWindow }),
    prefixHash: links.at(-1)?.hash ?? hashText(""),
    ...comparison,
  };
}

/**
 * Whether the previous call's whole request is the beginning of this one; if not, where they part and how much
 * they share. What they share is known at the previous manifest's segments, so it may be a little more.
 */
function comparePrefix(
  previous: PreviousCall | undefined,
  current: { readonly links: readonly RequestLink[]; readonly model?: string | undefined },
): PrefixComparison {
  if (previous === undefined) return {};
  const { manifest } = previous;
  const { links } = current;
  const placeOf = new Map(links.map((link, index) => [link.hash, index + 1]));
  const isModelKept =
    previous.model === undefined || current.model === undefined || previous.model === current.model;
  const shared = placeOf.get(manifest.prefixHash) ?? lastShared(manifest.segments, placeOf);
  const prefixKeptTokens = links.slice(0, shared).reduce((sum, link) => sum + link.estimatedTokens, 0);
  if (!isModelKept) {
    const detail = `${previous.model} -> ${current.model}`;
    return { prefixKept: false, prefixKeptTokens, prefixBreak: { at: "model", detail } };
  }
  if (placeOf.has(manifest.prefixHash)) return { prefixKept: true, prefixKeptTokens };
  return { prefixKept: false, prefixKeptTokens, prefixBreak: breakAt(manifest, links, shared, placeOf) };
}

function lastShared(segments: readonly ContextSegment[], placeOf: ReadonlyMap<string, number>): number {
  const segment = segments.findLast(({ hash }) => hash !== undefined && placeOf.has(hash));
  return placeOf.get(segment?.hash ?? "") ?? 0;
}

function breakAt(
  before: ContextManifest,
  links: readonly RequestLink[],
  shared: number,
  placeOf: ReadonlyMap<string, number>,
): PrefixBreak {
  const old = before.segments[before.segments.findLastIndex(({ hash }) => placeOf.has(hash ?? "")) + 1];
  const now = links[shared];
  // What comes earlier in a request decides: a tool that was taken away shows as the message in its place.
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

function linkRequest({ window, measure, instructions, tools }: ManifestInput): {
  links: RequestLink[];
  messages: ProviderMessage[];
} {
  const links: RequestLink[] = [];
  const messages: ProviderMessage[] = [];
  let hash = "";
  if (instructions !== undefined) {
    hash = chainHash(hash, instructions.text);
    links.push({ kind: "instructions", estimatedTokens: instructions.cost.tokens, hash });
  }
  if (tools !== undefined) {
    hash = chainHash(hash, toolsText(tools.definitions));
    links.push({ kind: "tools", estimatedTokens: tools.cost.tokens, hash });
  }
  for (const piece of window.pieces) {
    const entries = new Map(piece.entries.map((entry) => [entry.message.id, entry]));
    let entry = piece.entries[0];
    const kind = piece.kind === "summary" ? "summary" : "messages";
    for (const message of piece.messages) {
      // What a repair made belongs to the row before it.
      entry = entries.get(message.id) ?? entry;
      const [lowered] = toProviderMessages([message]);
      if (lowered === undefined) continue;
      messages.push(lowered);
      hash = chainHash(hash, JSON.stringify(lowered));
      const { role } = message;
      const { firstSeq, lastSeq } = entry ?? {};
      const estimatedTokens = measure(message).tokens;
      links.push(
        firstSeq === undefined || lastSeq === undefined
          ? { kind, role, estimatedTokens, hash }
          : { kind, role, firstSeq, lastSeq, estimatedTokens, hash },
      );
    }
  }
  return { links, messages };
}

function placeOfEntry(entry: HistoryEntry | undefined): { firstSeq?: number; lastSeq?: number } {
  const { firstSeq, lastSeq } = entry ?? {};
  return firstSeq === undefined || lastSeq === undefined ? {} : { firstSeq, lastSeq };
}

/** Neighbours with consecutive seqs as one segment. */
function joinLinks(links: readonly RequestLink[]): ContextSegment[] {
  const segments: ContextSegment[] = [];
  for (const link of links) {
    const last = segments.at(-1);
    if (last === undefined || !joins(last, link)) {
      segments.push(link);
      continue;
    }
    const { role, ...joined } = { ...last, ...link };
    const firstSeq = last.firstSeq ?? link.firstSeq;
    segments[segments.length - 1] = {
      ...joined,
      ...(role === last.role && role !== undefined ? { role } : {}),
      ...omitUndefined({ firstSeq }),
      estimatedTokens: last.estimatedTokens + link.estimatedTokens,
    };
  }
  return segments;
}

function joins(last: ContextSegment, link: RequestLink): boolean {
  if (last.kind !== "messages" || link.kind !== "messages") return false;
  if (last.lastSeq === undefined || link.firstSeq === undefined) return last.lastSeq === link.lastSeq;
  return link.lastSeq === last.lastSeq || link.firstSeq === last.lastSeq + 1;
}

function transformsOf(piece: WindowSelection["pieces"][number]): ContextTransform[] {
  if (piece.repairs.length === 0) return [];
  const entries = new Map(piece.entries.map((entry) => [entry.message.id, entry]));
  return piece.repairs.map(({ kind, messageId, toolCallId }) => ({
    kind,
    ...placeOfEntry(entries.get(messageId)),
    detail: `call ${toolCallId}`,
  }));
}

/** The seq at which a request's window began, if something had no room before it. */
export function windowStart(manifest: ContextManifest): number | undefined {
  const last = manifest.dropped.findLast((range) => range.reason === "budget");
  return last === undefined ? undefined : last.lastSeq + 1;
}
