/** Grouping of the sums, and number of days. */
export interface UsageChoice {
  readonly by: "day" | "model" | "conversation";
  readonly days: 7 | 30 | 90;
}

const dayMs = 86_400_000;

/** Returns the range of the last days in UTC, including today. */
export function rangeOf(days: number, now: number): { readonly from: string; readonly to: string } {
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  return { from: day(now - (days - 1) * dayMs), to: day(now) };
}
