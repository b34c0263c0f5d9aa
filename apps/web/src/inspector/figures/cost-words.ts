import { formatAmounts, formatMoney } from "@parley/client/usage";
import type { Cost, CostSum, TurnMetrics } from "@parley/wire";

/**
 * Describes the cost of one call, and the source of the figure: `$0.012, as billed`, `≈$0.0042, estimated`, `unknown`.
 */
export function costWords(cost: Cost | undefined): string {
  if (cost === undefined) return "unknown";
  const { amount, currency, source } = cost;
  const money = formatMoney(amount, currency);
  return source === "billed" ? `${money}, as billed` : `≈${money}, estimated`;
}

/** Describes the cost of several calls, the source of the figure, and what is not in it. */
export function costSumWords({ amounts, unknownCalls }: CostSum): string {
  const known = formatAmounts(amounts);
  if (known === undefined) return "unknown";
  const billed = amounts.some((each) => each.billed > 0);
  const estimated = amounts.some((each) => each.estimated > 0);
  const source = estimated ? (billed ? "estimated in part" : "estimated") : "as billed";
  const missing =
    unknownCalls === 0 ? "" : `; ${unknownCalls} ${unknownCalls === 1 ? "call" : "calls"} of unknown cost`;
  return `${known}, ${source}${missing}`;
}

/** Returns the cost of a sealed turn. A turn without a cost made a call of unknown cost for each step. */
export function turnCost({ cost, steps }: Pick<TurnMetrics, "cost" | "steps">): CostSum {
  return cost ?? { calls: steps.length, unknownCalls: steps.length, amounts: [] };
}
