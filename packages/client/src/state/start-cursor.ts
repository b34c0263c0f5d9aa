import type { StoredChunk } from "@parley/wire";

/**
 * Where to follow on from after a page of history: the place before its newest turn, so that all that was told of
 * it comes too. A bare seq is a cursor like any other.
 */
export function startCursor(chunks: readonly StoredChunk[]): string {
  const last = chunks.at(-1);
  if (last === undefined) return "0";
  const first = chunks.find(({ turnId }) => turnId === last.turnId) ?? last;
  return String(first.seq - 1);
}
