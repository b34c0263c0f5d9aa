import type { Usage } from "@parley/wire";

/** A step's tokens; undefined when the provider told none, which is stored as zeros. */
export function knownUsage(usage: Usage | undefined): Usage | undefined {
  if (usage === undefined || (usage.inputTokens === 0 && usage.outputTokens === 0)) return undefined;
  return usage;
}
