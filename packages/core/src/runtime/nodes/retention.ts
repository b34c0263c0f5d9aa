import type { UnusedQuery } from "../../ports/log-store.js";
import type { Uses } from "../environment.js";
import { Sweep } from "./sweep.js";

/** Marks of conversations that hold a single response, for callers that keep the history themselves. */
export const singleResponse = { origin: "responses", idPrefix: "oa." } as const;

/**
 * Times that conversations are kept after their last use, and interval and batch size of the search for expired ones.
 */
const retentionPolicy = {
  temporaryMs: 24 * 3_600_000,
  /** Maximum time between two searches. */
  sweepMs: 3_600_000,
  batch: 100,
};

/** Times that conversations of each kind are kept after their last use. */
export interface RetentionOptions {
  readonly temporaryMs?: number | undefined;
  /** Absent: permanently. */
  readonly responseRetentionMs?: number | undefined;
}

/** Removes a conversation unless it was used or kept meanwhile. Resolves with the ids of the removed ones. */
type Remove = (owner: string, conversationId: string, query: UnusedQuery) => Promise<readonly string[]>;

type RetentionUses = Uses<"root" | "clock" | "report">;

/**
 * Removes conversations a time after their last use: temporary ones, and those that hold a single response. Callers
 * that keep the history themselves leave one of these behind with every request. Every node searches, at its start
 * and then at least once an hour; conversations that another node has removed, or that are used again meanwhile, are
 * left alone.
 */
export function retentionSweeps(
  env: RetentionUses,
  { temporaryMs = retentionPolicy.temporaryMs, responseRetentionMs }: RetentionOptions,
  remove: Remove,
): Sweep[] {
  const limit = retentionPolicy.batch;
  const temporary: UnusedQuery = { temporary: true, forMs: temporaryMs, limit };
  const sweeps = [retentionSweep(env, "temporary conversations", temporary, remove)];
  if (responseRetentionMs === undefined) return sweeps;
  const responses: UnusedQuery = { ...singleResponse, forMs: responseRetentionMs, limit };
  return [...sweeps, retentionSweep(env, "response retention", responses, remove)];
}

function retentionSweep(env: RetentionUses, where: string, query: UnusedQuery, remove: Remove): Sweep {
  const { forMs, limit } = query;
  return new Sweep(env, {
    where,
    everyMs: Math.min(forMs, retentionPolicy.sweepMs),
    atStart: true,
    async run(isStopped) {
      while (!isStopped()) {
        const unused = await env.root.findUnused(query);
        let removed = 0;
        // An owner whose conversations cannot be removed now must not keep those of the others.
        const failed = new Set<string>();
        for (const { owner, id } of unused) {
          if (isStopped()) return;
          if (failed.has(owner)) continue;
          try {
            removed += (await remove(owner, id, query)).length;
          } catch (error) {
            failed.add(owner);
            env.report(error, where, id);
          }
        }
        // A batch of which nothing could be removed would be found again.
        if (unused.length < limit || removed === 0) return;
      }
    },
  });
}
