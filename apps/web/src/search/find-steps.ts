import type { SearchHit } from "@parley/wire";

/** Returns the places of hits, in the order of the conversation: each message once, oldest first. */
export function placesOf(hits: readonly Pick<SearchHit, "seq">[]): readonly number[] {
  return [...new Set(hits.map(({ seq }) => seq))].toSorted((a, b) => a - b);
}

/**
 * Returns the place to show next: forward or back from the shown one, wrapping around at the ends. Without one, the
 * newest, because a conversation is read from its end.
 */
export function nextPlace(
  places: readonly number[],
  shown: number | undefined,
  step: 1 | -1,
): number | undefined {
  const at = shown === undefined ? -1 : places.indexOf(shown);
  if (at !== -1) return places.at((at + step + places.length) % places.length);
  if (shown === undefined) return places.at(-1);
  // The shown one is no longer a hit: the nearest in that direction.
  const further = step === 1 ? places.find((seq) => seq > shown) : places.findLast((seq) => seq < shown);
  return further ?? (step === 1 ? places[0] : places.at(-1));
}
