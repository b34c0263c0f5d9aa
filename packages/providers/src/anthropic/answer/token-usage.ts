import type { TokenUsage } from "@parley/core/messages";
import { omitUndefined } from "@parley/core/messages";
import type { MessagesUsage } from "../api-types.js";

/** Merges the counts of a message with later ones, which replace earlier ones. */
export function mergeUsage(
  before: MessagesUsage | undefined,
  after: MessagesUsage | null | undefined,
): MessagesUsage | undefined {
  if (after === null || after === undefined) return before;
  const said = Object.entries(after).filter(([, value]) => value !== null && value !== undefined);
  return { ...before, ...Object.fromEntries(said) };
}

/**
 * Converts usage. The API counts cached tokens separately from the input; here they are part of it, as for
 * every provider.
 */
export function toTokenUsage(usage: MessagesUsage | undefined): TokenUsage | undefined {
  if (usage === undefined) return undefined;
  const read = countOf(usage.cache_read_input_tokens);
  const written = countOf(usage.cache_creation_input_tokens) ?? sumOf(usage.cache_creation);
  const reasoning = countOf(usage.output_tokens_details?.thinking_tokens);
  const inputTokens = (countOf(usage.input_tokens) ?? 0) + (read ?? 0) + (written ?? 0);
  const outputTokens = countOf(usage.output_tokens) ?? 0;
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    ...omitUndefined({ cacheReadTokens: read, cacheWriteTokens: written, reasoningTokens: reasoning }),
  };
}

/** Adds the tokens of two requests that make up one call. */
export function addUsage(
  left: TokenUsage | undefined,
  right: TokenUsage | undefined,
): TokenUsage | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const sum: TokenUsage = { inputTokens: 0, outputTokens: 0 };
  for (const name of counters) {
    if (left[name] === undefined && right[name] === undefined) continue;
    sum[name] = (left[name] ?? 0) + (right[name] ?? 0);
  }
  return sum;
}

const counters = [
  "inputTokens",
  "outputTokens",
  "totalTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
] as const satisfies readonly (keyof TokenUsage)[];

function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.floor(value) : undefined;
}

function sumOf(counts: Readonly<Record<string, number>> | null | undefined): number | undefined {
  if (counts === null || counts === undefined) return undefined;
  return Object.values(counts).reduce((sum, count) => sum + (countOf(count) ?? 0), 0);
}
