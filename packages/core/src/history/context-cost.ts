import type { HistoryBudget } from "./history-builder.js";
import { uncalibratedLimit } from "./token-scale.js";

/** Amount of a budget in the three units that a budget may bound. Tokens are uncalibrated. */
export interface ContextCost {
  readonly messages: number;
  readonly characters: number;
  readonly tokens: number;
}

export const noCost: ContextCost = { messages: 0, characters: 0, tokens: 0 };

/** All units of a cost. */
export const costUnits = [
  "tokens",
  "characters",
  "messages",
] as const satisfies readonly (keyof ContextCost)[];

/** Adds two costs. */
export function addCost(a: ContextCost, b: ContextCost): ContextCost {
  return {
    messages: a.messages + b.messages,
    characters: a.characters + b.characters,
    tokens: a.tokens + b.tokens,
  };
}

/** Sums costs. */
export function sumCost(costs: Iterable<ContextCost>): ContextCost {
  let messages = 0;
  let characters = 0;
  let tokens = 0;
  for (const cost of costs) {
    messages += cost.messages;
    characters += cost.characters;
    tokens += cost.tokens;
  }
  return { messages, characters, tokens };
}

/**
 * Returns what a budget leaves beside a cost that is already spent. Units that it does not bound are unlimited. Its
 * tokens are calibrated: `factor` times those of a cost.
 */
export function remainingBudget(
  budget: HistoryBudget | undefined,
  spent: ContextCost,
  factor: number,
): ContextCost {
  return {
    messages: (budget?.maxMessages ?? Number.POSITIVE_INFINITY) - spent.messages,
    characters: (budget?.maxChars ?? Number.POSITIVE_INFINITY) - spent.characters,
    tokens: uncalibratedLimit(budget?.maxTokens ?? Number.POSITIVE_INFINITY, { factor }) - spent.tokens,
  };
}

/** Returns a share of a limit, between 0 and 1. */
export function scaleCost(limit: ContextCost, share: number): ContextCost {
  return {
    messages: limit.messages * share,
    characters: limit.characters * share,
    tokens: limit.tokens * share,
  };
}

/** Returns true if a cost stays within a limit in every unit. */
export function fits(cost: ContextCost, limit: ContextCost): boolean {
  return costUnits.every((unit) => cost[unit] <= limit[unit]);
}
