import type { CostAmount, CostSum } from "@parley/wire";

/** Below this a sum is shown as being below it. */
const smallest = 0.000001;

/**
 * Formats an amount of money so that small ones stay readable: `$12.40`, `$0.012`, `$0.00042`. In English, for tables
 * and tooltips.
 */
export function formatMoney(amount: number, currency: string): string {
  if (amount > 0 && amount < smallest) return `<${inCurrency(smallest, currency, 6)}`;
  if (amount === 0) return inCurrency(0, currency, 0);
  if (amount >= 1) return inCurrency(amount, currency, 2, 2);
  // Two significant digits, and never fewer than cents have.
  const digits = Math.max(2, 1 - Math.floor(Math.log10(amount)));
  return inCurrency(amount, currency, Math.min(digits, 7), 2);
}

function inCurrency(amount: number, currency: string, digits: number, least = digits): string {
  const places = { minimumFractionDigits: Math.min(least, digits), maximumFractionDigits: digits };
  try {
    return new Intl.NumberFormat("en", { style: "currency", currency, ...places }).format(amount);
  } catch {
    return `${new Intl.NumberFormat("en", places).format(amount)} ${currency}`;
  }
}

/**
 * Formats the known part of a sum: `$0.012`, `≈$0.012` if a part of it is estimated, `$0.012 + €1.00` of two
 * currencies. Undefined if nothing is known.
 */
export function formatAmounts(amounts: readonly CostAmount[]): string | undefined {
  if (amounts.length === 0) return undefined;
  return amounts
    .map((each) => `${each.estimated > 0 ? "≈" : ""}${formatMoney(totalOf(each), each.currency)}`)
    .join(" + ");
}

/** Formats a sum with what is not in it: `≈$0.012`, `≈$0.012 + 2 unknown`, `unknown`; `–` over no calls. */
export function formatCost({ calls, unknownCalls, amounts }: CostSum): string {
  const known = formatAmounts(amounts);
  if (known === undefined) return calls === 0 ? "–" : "unknown";
  return unknownCalls === 0 ? known : `${known} + ${unknownCalls} unknown`;
}

/** Returns the whole of an amount: billed and estimated. */
export function totalOf({ billed, estimated }: CostAmount): number {
  return billed + estimated;
}
