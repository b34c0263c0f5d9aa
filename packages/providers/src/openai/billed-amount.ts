import type { BilledAmount } from "@parley/core/ports";

/** The part of a report of usage that says what the call costs. OpenAI's own API says nothing of it; routers do. */
export interface BilledUsage {
  /** A number (OpenRouter: credits, of which one is a US dollar), or the parts of a sum (Perplexity: US dollars). */
  readonly cost?: unknown;
  /** The call was made with a key of the caller's own at the provider behind the router, which charges it apart. */
  readonly is_byok?: unknown;
  readonly cost_details?: unknown;
}

/** Reads what a server says that it charges for a call. Undefined where it says nothing. */
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
