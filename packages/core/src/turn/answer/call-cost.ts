import { estimatedCost, omitUndefined, roundAmount } from "@parley/fold";
import type { ModelPrices } from "@parley/wire";
import type { TokenUsage } from "../../messages/message.js";
import type { BilledAmount, ProviderCallRecord } from "../../ports.js";

/**
 * Computes the cost of a call, once: as billed if the provider reports it, otherwise its tokens at the model's
 * prices. Without a report of either the cost is unknown. The prices are kept beside it.
 */
export function callCost(call: {
  readonly usage: TokenUsage | undefined;
  readonly billed: BilledAmount | undefined;
  readonly prices: ModelPrices | undefined;
}): Pick<ProviderCallRecord, "cost" | "prices"> {
  const { usage, prices } = call;
  const billed = soundAmount(call.billed);
  const cost = billed ?? (usage && prices && estimatedCost(usage, prices));
  return omitUndefined({ cost, prices });
}

/** Returns a valid amount: finite, not negative, with a currency code. */
function soundAmount(billed: BilledAmount | undefined): ProviderCallRecord["cost"] {
  if (typeof billed !== "object" || billed === null) return undefined;
  const { amount, currency } = billed;
  if (typeof amount !== "number" || !Number.isFinite(amount) || amount < 0) return undefined;
  if (typeof currency !== "string" || !/^[A-Z]{3}$/.test(currency)) return undefined;
  return { amount: roundAmount(amount), currency, source: "billed" };
}
