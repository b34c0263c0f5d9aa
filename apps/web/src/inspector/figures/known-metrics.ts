import type { MetricsResponse, TurnMetrics } from "@parley/wire";

/** Figures of a conversation's newest sealed turns without a gap, oldest first. */
export interface KnownMetrics {
  readonly turns: readonly TurnMetrics[];
  /** Cursor of the turns before them. Absent: there are none. */
  readonly nextBefore?: string;
}

/**
 * Adds the newest page to what is known. If they do not meet, turns are missing between them: then
 * only the page is known.
 */
export function joinNewest(known: KnownMetrics | undefined, page: MetricsResponse): KnownMetrics {
  const first = page.turns[0]?.turnId;
  const place = known?.turns.findIndex(({ turnId }) => turnId === first) ?? -1;
  if (known === undefined || place < 0) return page;
  return known.nextBefore === undefined
    ? { turns: [...known.turns.slice(0, place), ...page.turns] }
    : { turns: [...known.turns.slice(0, place), ...page.turns], nextBefore: known.nextBefore };
}

/** Adds the page of the turns before `before` to what is known, if that still starts there. */
export function joinEarlier(known: KnownMetrics, page: MetricsResponse, before: string): KnownMetrics {
  if (known.nextBefore !== before) return known;
  return { ...page, turns: [...page.turns, ...known.turns] };
}
