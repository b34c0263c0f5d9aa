import type { AssistantContent } from "ai";
import type { ModelFamily } from "../model-family.js";

export type AssistantPart = Exclude<AssistantContent, string>[number];

/** Rules for replaying an assistant's message. */
export interface ReplayRules {
  readonly family: ModelFamily;
  /** The key of the provider's options. */
  readonly key: string;
  /** True if the provider stores its answers, so that ids are enough. */
  readonly stored: boolean;
}

/**
 * Returns the parts of an assistant's message without those that a provider would refuse. Reasoning is sent
 * back as the unit that the provider made, with what followed it, or not at all; each id occurs once in a
 * request; a provider's own tool call is sent with its result. `usedIds` holds the ids of earlier messages.
 */
export function replayable(
  parts: readonly AssistantPart[],
  rules: ReplayRules,
  usedIds: Set<string>,
): AssistantPart[] {
  const paired = withoutHalves(parts);
  const whole = rules.family === "openai" ? wholeUnits(paired, rules, usedIds) : paired;
  // An answer that was cut during reasoning: no model can continue from there.
  const last = whole.findLastIndex(({ type }) => type !== "reasoning");
  return whole.slice(0, last + 1);
}

/** Removes a provider's own calls without results, and results without calls. */
function withoutHalves(parts: readonly AssistantPart[]): AssistantPart[] {
  const isOwnCall = (part: AssistantPart) => part.type === "tool-call" && part.providerExecuted === true;
  const results = new Set(parts.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : [])));
  const open = new Set<string>();
  const used = new Set<string>();
  const kept: AssistantPart[] = [];
  for (const part of parts) {
    if (part.type === "tool-call" && isOwnCall(part)) {
      if (!results.has(part.toolCallId) || used.has(part.toolCallId)) continue;
      used.add(part.toolCallId);
      open.add(part.toolCallId);
    } else if (part.type === "tool-result" && !open.delete(part.toolCallId)) continue;
    kept.push(part);
  }
  // A result before its call leaves the call open.
  return kept.filter((part) => !(part.type === "tool-call" && isOwnCall(part) && open.has(part.toolCallId)));
}

/** Returns OpenAI's reasoning with what followed it; without its ids if a part of the unit is missing. */
function wholeUnits(
  parts: readonly AssistantPart[],
  rules: ReplayRules,
  usedIds: Set<string>,
): AssistantPart[] {
  const kept: AssistantPart[] = [];
  for (let at = 0; at < parts.length; ) {
    const end = unitEnd(parts, at);
    const unit = parts.slice(at, end);
    at = end;
    const ids = unitIds(unit, rules);
    const isNew = ids?.every((id) => !usedIds.has(id)) === true;
    if (ids !== undefined && isNew) {
      for (const id of ids) usedIds.add(id);
      kept.push(...unit);
    } else {
      kept.push(...unit.filter(({ type }) => type !== "reasoning").map((part) => withoutId(part, rules.key)));
    }
  }
  return kept;
}

/** Returns the end of a unit: reasoning and what followed it, up to the next reasoning. */
function unitEnd(parts: readonly AssistantPart[], start: number): number {
  let following = false;
  for (let at = start; at < parts.length; at += 1) {
    const isReasoning = parts[at]?.type === "reasoning";
    if (isReasoning && following) return at;
    following ||= !isReasoning;
  }
  return parts.length;
}

/** Returns the ids of a unit that can be replayed, each once; undefined if it cannot. */
function unitIds(unit: readonly AssistantPart[], { key, stored }: ReplayRules): string[] | undefined {
  const ids: string[] = [];
  let reasoning: { id: string; encrypted: boolean } | undefined;
  let reasoned = false;
  for (const part of unit) {
    const { itemId, reasoningEncryptedContent } = optionsOf(part, key);
    if (part.type === "reasoning") {
      if (!isText(itemId)) return undefined;
      const encrypted = stored || isText(reasoningEncryptedContent);
      // The summaries of one piece of reasoning are adjacent and share its id.
      if (reasoning?.id === itemId) reasoning.encrypted ||= encrypted;
      else {
        if (reasoning?.encrypted === false) return undefined;
        reasoning = { id: itemId, encrypted };
        ids.push(itemId);
      }
      reasoned = true;
      continue;
    }
    if (reasoning?.encrypted === false) return undefined;
    if (isText(itemId)) ids.push(itemId);
    // Output that followed reasoning has an id, unless it was cut off.
    else if (reasoned) return undefined;
  }
  return new Set(ids).size === ids.length && (!reasoned || unit.at(-1)?.type !== "reasoning")
    ? ids
    : undefined;
}

function withoutId(part: AssistantPart, key: string): AssistantPart {
  const options = optionsOf(part, key);
  if (options.itemId === undefined || !("providerOptions" in part)) return part;
  const { itemId: _, ...rest } = options;
  return { ...part, providerOptions: { ...part.providerOptions, [key]: rest } } as AssistantPart;
}

function optionsOf(part: AssistantPart, key: string): { readonly [field: string]: unknown } {
  return ("providerOptions" in part ? part.providerOptions?.[key] : undefined) ?? {};
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
