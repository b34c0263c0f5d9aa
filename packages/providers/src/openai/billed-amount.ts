import type { BilledAmount } from "@parley/core/ports";

/** The cost fields of a usage report. OpenAI's own API has none; routers do. */
export interface BilledUsage {
  /**
   * A number (OpenRouter: credits, one of which is a US dollar), or the parts of a sum (Perplexity: US
   * dollars).
   */
  readonly cost?: unknown;
  /**
   * True if the call used the caller's own key at the provider behind the router, which charges it
   * separately.
   */
  readonly is_byok?: unknown;
  readonly cost_details?: unknown;
}

/** Reads the amount that a server reports for a call. Undefined if it reports none. */
export function billedAmount(usage: BilledUsage | null | undefined): BilledAmount | undefined {
  if (typeof usage !== "object" || usage === null) return undefined;
  const cost = amountIn(usage.cost) ?? amountIn(fieldOf(usage.cost, "total_cost"));
  if (cost === undefined) return undefined;
  const upstream =
    usage.is_byok === true ? amountIn(fieldOf(usage.cost_details, "upstream_inference_cost")) : undefined;
  return { amount: cost + (upstream ?? 0), currency: "USD" };
}

function amountIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
