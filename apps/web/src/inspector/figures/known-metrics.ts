import type { MetricsResponse, TurnMetrics } from "@parley/wire";

/** The figures of a conversation's newest sealed turns without a gap, oldest first. */
export interface KnownMetrics {
  readonly turns: readonly TurnMetrics[];
  /** Where the turns before them begin. Absent: there are none. */
  readonly nextBefore?: string;
}

/**
 * Puts the newest page to what is known. Where they do not meet, so many turns were added that what was known would
 * stand behind a gap: then the page alone is known.
 */
export function joinNewest(known: KnownMetrics | undefined, page: MetricsResponse): KnownMetrics {
  const first = page.turns[0]?.turnId;
  const place = known?.turns.findIndex(({ turnId }) => turnId === first) ?? -1;
  if (known === undefined || place < 0) return page;
  return known.nextBefore === undefined
    ? { turns: [...known.turns.slice(0, place), ...page.turns] }
    : { turns: [...known.turns.slice(0, place), ...page.turns], nextBefore: known.nextBefore };
}

/** Puts the page of the turns before `before` to what is known, if that still begins there. */
export function joinEarlier(known: KnownMetrics, page: MetricsResponse, before: string): KnownMetrics {
  if (known.nextBefore !== before) return known;
  return { ...page, turns: [...page.turns, ...known.turns] };
}
