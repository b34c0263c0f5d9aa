import type { Usage } from "@parley/wire";
import type { TokenUsage } from "../messages/message.js";

/** Adds token counts. Counters that only one side knows are kept; ones that neither knows stay absent. */
export function addUsage<Counts extends Usage | TokenUsage>(a: Counts, b: Counts): Counts {
  const sum = { ...a } as Record<string, number>;
  for (const [key, count] of Object.entries(b) as [string, number | undefined][]) {
    if (count !== undefined) sum[key] = (sum[key] ?? 0) + count;
  }
  return sum as unknown as Counts;
}

/** Returns the counters that are sent: the wire has no total, which is input + output. */
export function wireUsage(usage: TokenUsage): Usage {
  const { totalTokens: _, ...counters } = usage;
  return counters;
}
