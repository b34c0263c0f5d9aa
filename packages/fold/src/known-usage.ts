import type { Usage } from "@parley/wire";

/** Returns a step's token counts; undefined when the provider reported none, which is stored as zeros. */
export function knownUsage(usage: Usage | undefined): Usage | undefined {
  if (usage === undefined || (usage.inputTokens === 0 && usage.outputTokens === 0)) return undefined;
  return usage;
}
