import type { QueuedMessage } from "@parley/wire";

/** Returns the way a queued message is delivered. */
export function modeOf({ mode }: Pick<QueuedMessage, "mode">): "steer" | "queue" {
  return mode ?? "steer";
}

/**
 * Returns the ids of queued messages in the order of delivery: a steering message goes into the running turn, or opens
 * the next one.
 */
export function deliveryOrder(messages: readonly Pick<QueuedMessage, "id" | "mode">[]): readonly string[] {
  const idsOf = (mode: "steer" | "queue") =>
    messages.filter((message) => modeOf(message) === mode).map(({ id }) => id);
  return [...idsOf("steer"), ...idsOf("queue")];
}

/**
 * Returns the place of a message: the id that it is put in front of, or null for the end. Undefined if it is there
 * already.
 */
export function placeBefore(ids: readonly string[], id: string, to: number): string | null | undefined {
  const from = ids.indexOf(id);
  if (from < 0) return undefined;
  const target = Math.max(0, Math.min(ids.length - 1, to));
  if (target === from) return undefined;
  const rest = ids.filter((each) => each !== id);
  return rest[target] ?? null;
}

/** Returns the ids with one of them moved, as the server will order them. */
export function moved(ids: readonly string[], id: string, before: string | null): readonly string[] {
  const rest = ids.filter((each) => each !== id);
  const at = before === null ? rest.length : rest.indexOf(before);
  return at < 0 ? ids : [...rest.slice(0, at), id, ...rest.slice(at)];
}

/**
 * Moves a message to a place among its peers, which are adjacent in `ids`: returns the new order, and the peer that it
 * is put in front of, null for none. Undefined if it is there already.
 */
export function movedAmong(
  ids: readonly string[],
  peers: readonly string[],
  id: string,
  to: number,
): { readonly ids: readonly string[]; readonly before: string | null } | undefined {
  const first = ids.findIndex((each) => peers.includes(each));
  const before = placeBefore(peers, id, to - first);
  if (before === undefined) return undefined;
  return { ids: moved(ids, id, before ?? ids[first + peers.length] ?? null), before };
}
