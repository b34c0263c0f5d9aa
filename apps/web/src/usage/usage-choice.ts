/** What the sums are shown by, and over how many days. */
export interface UsageChoice {
  readonly by: "day" | "model" | "conversation";
  readonly days: 7 | 30 | 90;
}

const dayMs = 86_400_000;

/** The last days in UTC, today included. */
export function rangeOf(days: number, now: number): { readonly from: string; readonly to: string } {
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  return { from: day(now - (days - 1) * dayMs), to: day(now) };
}
