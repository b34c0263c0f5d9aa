import type { Uses } from "../environment.js";
import { Sweep } from "./sweep.js";

/** Marks of conversations that hold a single response, for callers that keep the history themselves. */
export const singleResponse = { origin: "responses", idPrefix: "oa." } as const;

/** When and how many conversations are looked for that are past their time. */
const retentionPace = {
  /** The longest time between two looks. */
  sweepMs: 3_600_000,
  batch: 100,
};

/** Removes a conversation unless it was used meanwhile. Resolves with the ids of what is gone. */
type Remove = (owner: string, conversationId: string, unusedForMs: number) => Promise<readonly string[]>;

/**
 * Removes conversations that hold a single response, a time after their last use. Callers that keep the history
 * themselves leave one behind with every request, and no list shows them. Every node looks, at its start and then once an
 * hour; what another one has removed, or somebody uses again meanwhile, is left alone.
 */
export function responseRetention(
  env: Uses<"root" | "clock" | "report">,
  forMs: number,
  remove: Remove,
): Sweep {
  const query = { ...singleResponse, forMs, limit: retentionPace.batch };
  return new Sweep(env, {
    where: "response retention",
    everyMs: Math.min(forMs, retentionPace.sweepMs),
    atStart: true,
    async run(isStopped) {
      while (!isStopped()) {
        const unused = await env.root.findUnused(query);
        let removed = 0;
        for (const { owner, id } of unused) {
          if (isStopped()) return;
          removed += (await remove(owner, id, forMs)).length;
        }
        // A batch of which nothing could be removed would come again.
        if (unused.length < query.limit || removed === 0) return;
      }
    },
  });
}
