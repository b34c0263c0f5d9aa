/**
 * Returns the wait before the next attempt, in milliseconds: a random share of a span that doubles with every failed
 * attempt, so that clients that were cut off together do not come back together.
 */
export function backoffMs(
  attempt: number,
  { minMs, maxMs, random }: { readonly minMs: number; readonly maxMs: number; readonly random: () => number },
): number {
  const span = Math.min(maxMs, minMs * 2 ** Math.min(attempt, 30));
  return random() * span;
}
