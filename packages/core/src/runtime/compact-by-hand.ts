import type { CompactionPreview, CompactionResult, CompactRequest } from "@parley/wire";
import { ParleyError } from "../errors.js";
import type { LogStore } from "../log-store.js";
import { compactedCounts } from "./compact-in-turn.js";
import {
  defaultKeepLastN,
  keepNewest,
  nothingToCompact,
  planCompaction,
  summarize,
  summaryMessage,
  toPreview,
  toResult,
} from "./compaction.js";
import type { Coordinator } from "./coordinator.js";
import type { Environment } from "./environment.js";
import { retryWhileUnavailable } from "./retry.js";

/**
 * Compactions that someone asked for. Each holds the conversation's lease while the model writes, so that sends
 * wait in the queue, and lets the queue go on when it is done, failed or stopped.
 */
export class HandCompactions {
  readonly #env: Environment;
  readonly #coordinator: Coordinator;
  readonly #onRows: (conversationId: string) => Promise<void>;
  readonly #running = new Map<string, AbortController>();

  constructor(env: Environment, coordinator: Coordinator, onRows: (conversationId: string) => Promise<void>) {
    this.#env = env;
    this.#coordinator = coordinator;
    this.#onRows = onRows;
  }

  async preview(
    store: LogStore,
    conversationId: string,
    request: CompactRequest,
  ): Promise<CompactionPreview> {
    const record = await store.get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
    const keep = keepCount(request);
    const plan = await planCompaction(this.#env, store, conversationId, keepNewest(keep));
    if (plan === undefined) throw nothingToCompact(record, keep);
    return toPreview(plan);
  }

  /** Stops the compaction of a conversation, if one runs here. */
  stop(conversationId: string): boolean {
    const running = this.#running.get(conversationId);
    running?.abort();
    return running !== undefined;
  }

  stopAll(): void {
    for (const running of this.#running.values()) running.abort();
  }

  async compact(
    owner: string,
    store: LogStore,
    conversationId: string,
    request: CompactRequest,
  ): Promise<CompactionResult> {
    const env = this.#env;
    const record = await store.get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
    const binding = env.models.resolve(request.modelName ?? record.model);
    const keep = keepCount(request);
    const turnId = env.ids.next();
    const lease = await store.lease({ conversationId, node: env.identity.node, turnId });
    const { fence } = lease;
    const abort = new AbortController();
    this.#running.set(conversationId, abort);
    env.watchers.changed(owner);
    try {
      const plan = await planCompaction(env, store, conversationId, keepNewest(keep));
      if (plan === undefined) throw nothingToCompact(record, keep);
      const summary = await summarize(env, binding, plan, abort.signal);
      const archiveId = env.ids.next();
      const message = summaryMessage({
        id: env.ids.next(),
        conversationId,
        createdAt: new Date(env.clock.now()),
        summary,
        plan,
        automatic: false,
      });
      const release = this.#coordinator.nextTurn(false);
      const covers = { fromSeq: plan.fromSeq, toSeq: plan.toSeq };
      const { next } = await retryWhileUnavailable(env, () =>
        store.compact({ conversationId, turnId, fence, summary: message, covers, archiveId, release }),
      );
      await this.#onRows(conversationId);
      const result = toResult(plan, summary, archiveId);
      env.watchers.tell(owner, {
        type: "conversation.compacted",
        conversationId,
        ...compactedCounts(result),
      });
      if (next !== undefined) this.#coordinator.run(owner, conversationId, next);
      return result;
    } catch (error) {
      const next = this.#coordinator.nextTurn(abort.signal.aborted);
      const ended = await store.endLease({ conversationId, turnId, fence, next }).catch(() => undefined);
      if (ended?.next !== undefined) this.#coordinator.run(owner, conversationId, ended.next);
      throw error;
    } finally {
      this.#running.delete(conversationId);
      env.watchers.changed(owner);
      env.wake.notify([conversationId]);
    }
  }
}

function keepCount(request: CompactRequest): number {
  const keep = request.keepLastN ?? defaultKeepLastN;
  if (!Number.isInteger(keep) || keep < 0) {
    throw new ParleyError("invalid_request", "keepLastN: a whole number of at least 0");
  }
  return keep;
}
