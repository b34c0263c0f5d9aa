import type { QueuedMessage } from "@parley/wire";

/** How a message that waits is delivered. */
export function modeOf({ mode }: Pick<QueuedMessage, "mode">): "steer" | "queue" {
  return mode ?? "steer";
}

/** The ids of what waits in the order of delivery: what steers goes into the running turn, or opens the next one. */
export function deliveryOrder(messages: readonly Pick<QueuedMessage, "id" | "mode">[]): readonly string[] {
  const idsOf = (mode: "steer" | "queue") =>
    messages.filter((message) => modeOf(message) === mode).map(({ id }) => id);
  return [...idsOf("steer"), ...idsOf("queue")];
}

/** Where a message goes: in front of which id, or to the end with null. Undefined when it is there already. */
export function placeBefore(ids: readonly string[], id: string, to: number): string | null | undefined {
  const from = ids.indexOf(id);
  if (from < 0) return undefined;
  const target = Math.max(0, Math.min(ids.length - 1, to));
  if (target === from) return undefined;
  const rest = ids.filter((each) => each !== id);
  return rest[target] ?? null;
}

/** Ids with one of them moved, as it will be once the server has done it. */
export function moved(ids: readonly string[], id: string, before: string | null): readonly string[] {
  const rest = ids.filter((each) => each !== id);
  const at = before === null ? rest.length : rest.indexOf(before);
  return at < 0 ? ids : [...rest.slice(0, at), id, ...rest.slice(at)];
}

/**
 * Moves a message to a place among its peers, which stand next to each other in `ids`: the new order, and which peer
 * it stands in front of then, null for none. Undefined when it is there already.
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
