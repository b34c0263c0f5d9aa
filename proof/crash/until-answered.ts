import { setTimeout as sleep } from "node:timers/promises";
import { Refused, type RunningNode } from "../../test/kill/running-node.js";
import { isUnknown, type Place, patienceAfter } from "./call.js";
import type { Nodes } from "./nodes.js";

/** Time after which anything counts as stuck, all deaths on the way included. */
export const stuckMs = 120_000;

/**
 * Repeats a request until there is an answer, each time to a live node, and waits longer for one that lives and does
 * not answer. A conversation that is busy is retried when it may no longer be.
 */
export async function untilAnswered<T>(
  nodes: Nodes,
  what: string,
  attempt: (place: Place) => Promise<T>,
  options: { readonly away?: boolean } = {},
): Promise<T> {
  const limitAt = performance.now() + stuckMs;
  let avoid: RunningNode | undefined;
  let failures = 0;
  for (;;) {
    const node = await nodes.reach({ avoid, ...options });
    try {
      return await attempt({ url: node.url, patienceMs: patienceAfter(failures) });
    } catch (error) {
      if (!isUnknown(error) && !isRefusedWith(error, "turn_active")) throw error;
      avoid = isUnknown(error) ? node : undefined;
      if (avoid?.alive) failures += 1;
      if (performance.now() > limitAt) {
        throw new Error(`${what}: not within ${stuckMs} ms`, { cause: error });
      }
      await sleep(20);
    }
  }
}

/** Returns true if the server refused with one of these codes. */
export function isRefusedWith(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Refused && codes.includes(error.code);
}
