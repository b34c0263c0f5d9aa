import type { BilledAmount } from "@parley/core/ports";

/**
 * Reads the cost of a call from the metadata of providers that report it: OpenRouter as a number of credits,
 * one of which is a US dollar; Vercel's gateway as a string in US dollars.
 */
export function billedAmount(metadata: unknown): BilledAmount | undefined {
  const amount =
    amountIn(at(metadata, "openrouter", "usage", "cost")) ?? amountIn(at(metadata, "gateway", "cost"));
  return amount === undefined ? undefined : { amount, currency: "USD" };
}

function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

function amountIn(value: unknown): number | undefined {
  const amount = typeof value === "string" && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return typeof amount === "number" && Number.isFinite(amount) && amount >= 0 ? amount : undefined;
}
