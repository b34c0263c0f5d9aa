import type { CompactionPreview, CompactionResult, CompactRequest } from "@parley/wire";
import { invalidField, isParleyError, ParleyError } from "../../errors.js";
import type { LogStore, OpenedTurn } from "../../ports/log-store.js";
import type { Defaults } from "../conversation-meta.js";
import { effectiveChoices } from "../conversation-meta.js";
import type { Follower } from "../delivery/follower.js";
import type { Uses } from "../environment.js";
import type { Recovery } from "../nodes/recovery.js";
import { retryWhileUnavailable, type SignalHolder } from "../nodes/retry.js";
import type { Coordinator } from "../turns/coordinator.js";
import type { SummaryUses } from "./compaction.js";
import {
  keepNewest,
  nothingToCompact,
  noticeOf,
  planCompaction,
  summarize,
  summaryMessage,
  toPreview,
  toResult,
} from "./compaction.js";

/** The parts of the environment that a compaction by hand uses. */
export type HandCompactionUses = SummaryUses &
  Defaults &
  Uses<"identity" | "ids" | "notifyChanged" | "report" | "spending">;

interface Running {
  readonly turnId: string;
  /** Stops the compaction. */
  readonly abort: AbortController;
  /** Aborted when its lease is, or may be, another node's. */
  readonly lost: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Compactions that a user requested. Each holds the conversation's lease while the model writes, so that sends wait
 * in the queue, and lets the queue continue when it is done, failed or stopped.
 */
export class HandCompactions {
  readonly #env: HandCompactionUses;
  readonly #coordinator: Coordinator;
  readonly #recovery: Pick<Recovery, "resolveUnknown">;
  readonly #follower: Pick<Follower, "publishRows" | "look">;
  /** By the number of the log. */
  readonly #running = new Map<number, Running>();

  constructor(
    env: HandCompactionUses,
    coordinator: Coordinator,
    recovery: Pick<Recovery, "resolveUnknown">,
    follower: Pick<Follower, "publishRows" | "look">,
  ) {
    this.#env = env;
    this.#coordinator = coordinator;
    this.#recovery = recovery;
    this.#follower = follower;
  }

  /** Returns true if a compaction of this conversation runs here. */
  active(log: number): boolean {
    return this.#running.has(log);
  }

  async preview(
    store: LogStore,
    conversationId: string,
    request: CompactRequest,
  ): Promise<CompactionPreview> {
    const record = await store.get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
    // Used by the compaction that follows; a preview itself calls no model.
    if (request.modelName !== undefined) this.#env.models.resolve(request.modelName, "modelName");
    const keep = keepCount(request, this.#env);
    const plan = await planCompaction(this.#env, store, conversationId, keepNewest(keep));
    if (plan === undefined) throw nothingToCompact(record, keep);
    return toPreview(plan);
  }

  /** Stops the compaction of a conversation, if one runs here: any, or the one that holds this very lease. */
  stop(log: number, turnId?: string): boolean {
    const running = this.#running.get(log);
    if (running === undefined || (turnId !== undefined && running.turnId !== turnId)) return false;
    running.abort.abort();
    return true;
  }

  /** Resolves when none runs here any more. */
  async stopAll(): Promise<void> {
    const all = [...this.#running.values()];
    for (const { abort } of all) abort.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  /** Ends all compactions: the node lost contact with the store for too long, so its leases may be another's. */
  loseAll(): void {
    for (const { abort, lost } of this.#running.values()) {
      lost.abort();
      abort.abort();
    }
  }

  async compact(
    owner: string,
    store: LogStore,
    conversationId: string,
    request: CompactRequest,
  ): Promise<CompactionResult> {
    const env = this.#env;
    if (this.#coordinator.draining) throw new ParleyError("draining");
    const record = await store.get(conversationId);
    if (record === null) throw new ParleyError("conversation_not_found");
    const binding = env.ownerModels.resolve(
      owner,
      request.modelName ?? effectiveChoices(env, record).model,
      request.modelName === undefined ? "model" : "modelName",
    );
    const keep = keepCount(request, this.#env);
    const turnId = env.ids.next();
    const { fence, log } = await this.#lease(owner, store, conversationId, turnId);
    const lease = { conversationId, turnId, fence };
    const abort = new AbortController();
    const lost = new AbortController();
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#running.set(log, { turnId, abort, lost, ended });
    env.notifyChanged(owner, [log]);
    let next: OpenedTurn | undefined;
    try {
      const plan = await planCompaction(env, store, conversationId, keepNewest(keep));
      if (plan === undefined) throw nothingToCompact(record, keep);
      const context = { owner, conversationId, model: binding.name, purpose: "compaction" } as const;
      const summary = await summarize(env, binding, plan, abort.signal, (call) =>
        env.spending.madeOutsideTurn(call, context),
      );
      abort.signal.throwIfAborted();
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
      const written = await retryWhileUnavailable(
        env,
        () =>
          store.compact({ ...lease, summary: message, covers, archiveId, release, notice: noticeOf(plan) }),
        lost,
      );
      ({ next } = written);
      // If this node's subscribers are behind, the next turn catches up with it, or a read if there is none.
      if (!this.#follower.publishRows(log, [written.entry]) && next === undefined) {
        await this.#follower.look(log);
      }
      return toResult(plan, summary, archiveId);
    } catch (error) {
      next = await this.#endLease(store, lease, abort.signal.aborted, lost);
      if (lost.signal.aborted) {
        throw new ParleyError("store_unavailable", "The store could not be reached for too long");
      }
      throw abort.signal.aborted ? new ParleyError("canceled", "The compaction was stopped") : error;
    } finally {
      this.#running.delete(log);
      env.notifyChanged(owner, [log]);
      if (next !== undefined) this.#coordinator.run(owner, conversationId, next);
      end();
    }
  }

  async #lease(owner: string, store: LogStore, conversationId: string, turnId: string) {
    try {
      return await store.lease({ conversationId, node: this.#env.identity.node, turnId });
    } catch (error) {
      if (isParleyError(error) && error.code === "store_unavailable") {
        this.#recovery.resolveUnknown(owner, conversationId, turnId);
      }
      throw error;
    }
  }

  /** Lets the queue continue without a compaction. A lease that another node holds by now is left alone. */
  async #endLease(
    store: LogStore,
    lease: { readonly conversationId: string; readonly turnId: string; readonly fence: number },
    pauseQueue: boolean,
    lost: SignalHolder,
  ): Promise<OpenedTurn | undefined> {
    const next = this.#coordinator.nextTurn(pauseQueue);
    const end = () => store.endLease({ ...lease, next });
    try {
      return (await retryWhileUnavailable(this.#env, end, lost)).next;
    } catch (error) {
      this.#env.report(error, "compaction", lease.conversationId);
      return undefined;
    }
  }
}

function keepCount(request: CompactRequest, { compaction }: Uses<"compaction">): number {
  const keep = request.keepLastN ?? compaction.keepLastN();
  if (!Number.isInteger(keep) || keep < 0) {
    throw invalidField("keepLastN", "a whole number of at least 0");
  }
  return keep;
}
