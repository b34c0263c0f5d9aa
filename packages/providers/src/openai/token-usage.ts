import type { TokenUsage } from "@parley/core/messages";
import type { ResponsesUsage } from "./responses/api-types.js";

/**
 * Converts usage to Parley's counts. Input includes cached tokens, output includes reasoning, as in the API.
 */
export function toTokenUsage(usage: ResponsesUsage | null | undefined): TokenUsage | undefined {
  if (typeof usage !== "object" || usage === null) return undefined;
  return tokenUsage({
    input: usage.input_tokens,
    output: usage.output_tokens,
    total: usage.total_tokens,
    cacheRead: usage.input_tokens_details?.cached_tokens,
    cacheWrite: usage.input_tokens_details?.cache_write_tokens,
    reasoning: usage.output_tokens_details?.reasoning_tokens,
  });
}

/** Returns the counters that a server sent, each only if it is valid. */
export function tokenUsage(given: Record<Counter, unknown>): TokenUsage {
  const usage: TokenUsage = {
    inputTokens: countIn(given.input) ?? 0,
    outputTokens: countIn(given.output) ?? 0,
  };
  const total = countIn(given.total);
  const cacheRead = countIn(given.cacheRead);
  const cacheWrite = countIn(given.cacheWrite);
  const reasoning = countIn(given.reasoning);
  if (total !== undefined) usage.totalTokens = total;
  if (cacheRead !== undefined) usage.cacheReadTokens = cacheRead;
  if (cacheWrite !== undefined) usage.cacheWriteTokens = cacheWrite;
  if (reasoning !== undefined) usage.reasoningTokens = reasoning;
  return usage;
}

type Counter = "input" | "output" | "total" | "cacheRead" | "cacheWrite" | "reasoning";

function countIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined;
}
