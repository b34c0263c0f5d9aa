import type { NumberedEvent } from "@parley/fold";
import type { TurnReason } from "@parley/wire";
import { isParleyError, toParleyError } from "../../errors.js";
import type { Lease, NextTurn, OpenTurnState, SealInput } from "../../ports/log-store.js";
import { recallToolName } from "../compaction/recall.js";
import type { Follower } from "../delivery/follower.js";
import { decodeBatch } from "../delivery/journal-batch.js";
import type { OpenTurn } from "../delivery/open-turn.js";
import type { TurnTakeover, Uses } from "../environment.js";
import { waitedMsOf } from "../input/waiting-info.js";
import type { Coordinator } from "../turns/coordinator.js";
import { sealWithLess } from "../turns/seal-with-less.js";
import { isGone } from "./is-gone.js";
import type { LeaseHandler } from "./lease-events.js";
import {
  currentStep,
  foldLeftTurn,
  type LeftTurn,
  metricsOf,
  partialMessages,
  planToContinue,
  reasoningToCommit,
} from "./recovery-plan.js";
import { retryWhileUnavailable, wait } from "./retry.js";

/** The parts of the environment that recovery uses. */
export type RecoveryUses = Uses<
  "clock" | "hooks" | "identity" | "ids" | "lease" | "notifyChanged" | "report" | "root" | "toolsOf" | "wake"
>;

const claimsAtOnce = 16;

/**
 * Time that claims wait for the turns that were claimed. The database of some of them may hang: they are recovered in the
 * background, and those of other databases do not wait for them.
 */
const patienceMs = 1_000;

/** Maximum number of expired requests that are denied at once. */
const expiredAtOnce = 100;

/** The checks of an unknown outcome after the first one: at 1, 3, 7, ... TTLs, the last one after 85 minutes. */
const checksOfUnknown = 9;

/**
 * Takes over the turns of dead nodes, and leases that this node does not know to be its own.
 *
 * A turn whose node died is continued if possible, and otherwise sealed with what exists of it. It also handles three
 * other cases: a stop that its node does not obey (`seize`), a call whose answer was lost so that this node may hold
 * a lease without knowing (`resolveUnknown`, `unheld`), and a turn of this node that broke (`broken`).
 */
export class Recovery implements LeaseHandler {
  readonly #env: RecoveryUses;
  readonly #coordinator: Coordinator;
  readonly #follower: Follower;
  readonly #stopped = new AbortController();
  /**
   * Leases of this node that nothing runs, because ending them has failed, and the name that it held them under. No
   * other node can claim them as long as this one lives, so it tries again at the interval of claims.
   */
  readonly #stranded = new Map<number, { readonly lease: Lease; readonly node: string }>();
  /** Logs of those that are being tried. */
  readonly #ending = new Set<number>();
  #cancelClaim: () => void = () => {};
  #claiming: Promise<void> | undefined;

  constructor(env: RecoveryUses, coordinator: Coordinator, follower: Follower) {
    this.#env = env;
    this.#coordinator = coordinator;
    this.#follower = follower;
  }

  /** Claims orphaned leases now, and then at its interval. */
  async start(): Promise<void> {
    await this.claim();
    this.#plan();
  }

  stop(): void {
    this.#stopped.abort();
    this.#cancelClaim();
  }

  /** Claims leases of dead nodes now. */
  async claim(): Promise<void> {
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined;
    });
    await this.#claiming;
  }

  /** Claims a turn that is followed here and has no holder, without waiting for the next interval. */
  orphaned(): void {
    void this.claim().catch((error: unknown) => this.#env.report(error, "claim"));
  }

  /** Ends a turn of this node that broke, from its state in the store. */
  broken(lease: Lease): void {
    const work = this.#holding(lease, async () => {
      const left = await this.#read(lease);
      if (left !== undefined) await this.#seal(lease, left);
    });
    work.catch((error: unknown) => this.#env.report(error, "turn", lease.conversationId));
  }

  /** Continues a turn that a response has reopened on this node, or (without a node) for any node that claims it. */
  reopened(lease: Lease, node: string): void {
    if (node === "") {
      this.orphaned();
      return;
    }
    this.#recover(lease).catch((error: unknown) => this.#env.report(error, "input", lease.conversationId));
  }

  /** Ends a turn that a stop has taken out of waiting, immediately, because no node holds it. */
  takeFree(owner: string, lease: Lease): void {
    const work = async () => {
      const taken = await this.#takeOver(owner, lease);
      if (taken !== null) await this.#recover(taken);
    };
    work().catch((error: unknown) => this.#env.report(error, "stop", lease.conversationId));
  }

  /** Takes the lease from its current holder after the time that its node has to obey a stop, and ends it. */
  seizeLater(owner: string, lease: Lease): void {
    const env = this.#env;
    const work = async () => {
      await wait(env, env.lease.stopMs, this.#stopped.signal);
      if (this.#stopped.signal.aborted) return;
      const taken = await this.#takeOver(owner, lease);
      if (taken !== null) await this.#recover(taken);
    };
    work().catch((error: unknown) => env.report(error, "stop", lease.conversationId));
  }

  /**
   * Handles a call that failed without an answer and may have opened a turn, or taken a lease, for this node: finds
   * out, and takes care of the lease. It checks repeatedly, at growing intervals, because a transaction may outlive
   * its caller: a request held by a hanging proxy reaches the store when the proxy continues, however late.
   */
  resolveUnknown(owner: string, conversationId: string, turnId: string): void {
    this.#resolve(owner, conversationId, turnId, (lease) => this.#recover(lease));
  }

  /**
   * Handles a turn that this node dropped because it lost contact with the database of the owner, and with that alone.
   * Elsewhere the node lives: if the owner is moved to such a place meanwhile, the lease is still this node's there, and
   * no other node can claim it.
   */
  unheld(owner: string, conversationId: string, turnId: string): void {
    this.#resolve(owner, conversationId, turnId, async (lease) => {
      const taken = await this.#takeOver(owner, lease);
      if (taken !== null) await this.#recover(taken);
    });
  }

  /** Checks repeatedly whether this node holds a turn that it does not run, and handles it then. */
  #resolve(
    owner: string,
    conversationId: string,
    turnId: string,
    handle: (lease: Lease) => Promise<void>,
  ): void {
    const env = this.#env;
    const { node } = env.identity;
    const store = env.root.forOwner(owner);
    const work = async () => {
      for (let look = 0; look <= checksOfUnknown; look += 1) {
        if (look > 0) await wait(env, env.lease.ttlMs * 2 ** (look - 1), this.#stopped.signal);
        const record = await this.#insist(() => store.get(conversationId));
        // After this node has changed its name, the lease is a dead node's.
        if (this.#stopped.signal.aborted || env.identity.node !== node) return;
        const active = record?.active;
        if (record === null || active?.turnId !== turnId || active.node !== node) continue;
        if (this.#coordinator.active(record.log)?.turnId === turnId) return;
        // The lease is about to be taken from a node that is not alive there.
        if (!this.#coordinator.alive(owner)) continue;
        await handle({ owner, conversationId, log: record.log, ...active });
        return;
      }
    };
    work().catch((error: unknown) => env.report(error, "recovery", conversationId));
  }

  /** Gives up a turn of this node if its conversation is gone, or another node holds the turn. */
  async checkHeld(live: OpenTurn): Promise<void> {
    const record = await this.#env.root.forOwner(live.owner).get(live.conversationId);
    const active = record?.active;
    const isSame = record?.log === live.log && active?.turnId === live.turnId;
    if (isSame && active?.fence === live.epoch) return;
    if (this.#coordinator.active(live.log) === live) this.#coordinator.lose(live.log);
  }

  #plan(): void {
    const { clock, lease } = this.#env;
    if (this.#stopped.signal.aborted || lease.claimMs <= 0) return;
    this.#cancelClaim = clock.after(lease.claimMs, () => {
      void this.claim()
        .catch((error: unknown) => this.#env.report(error, "claim"))
        .finally(() => this.#plan());
    });
  }

  async #claimAll(): Promise<void> {
    const { identity, ids, root } = this.#env;
    for (let isFirst = true; ; isFirst = false) {
      if (this.#coordinator.draining || !this.#coordinator.alive()) return;
      if (isFirst) await this.#endStranded();
      if (isFirst) await this.#expireInputs();
      // Claimed under a name that never lives, and then taken over by name: if the answer to the claim is lost, the
      // leases are still a dead node's, and not held by one that does not know it.
      const leases = await root.claimExpired(`${identity.node}?${ids.next()}`, claimsAtOnce);
      const areEnded = await this.#forAWhile(
        leases.map((lease) =>
          this.#claimOne(lease).catch((error: unknown) =>
            this.#env.report(error, "recovery", lease.conversationId),
          ),
        ),
      );
      // A lease that is still being taken over would be claimed again at once.
      if (leases.length < claimsAtOnce || !areEnded) return;
    }
  }

  /**
   * Denies requests that were not answered in time. A turn that waited then has no holder, and is claimed, here or
   * elsewhere; the node that holds one is notified. A failure here must not prevent this node's claims.
   */
  async #expireInputs(): Promise<void> {
    const { root, wake, report } = this.#env;
    try {
      while (!this.#coordinator.draining && this.#coordinator.alive()) {
        const logs = await root.expireInputs(expiredAtOnce);
        if (logs.length === 0) return;
        for (const log of logs) this.#coordinator.decided(log);
        wake.notify(logs, "input");
      }
    } catch (error) {
      report(error, "input");
    }
  }

  async #claimOne(lease: Lease): Promise<void> {
    // Where this node has no life it cannot hold anything: the lease is still a dead node's, and is claimed again.
    if (!this.#coordinator.alive(lease.owner)) return;
    const taken = await this.#takeOver(lease.owner, lease);
    if (taken !== null) await this.#recover(taken);
  }

  async #takeOver(owner: string, lease: Lease): Promise<Lease | null> {
    const { identity, root } = this.#env;
    const { conversationId, turnId, fence } = lease;
    try {
      return await root.forOwner(owner).takeOver({ conversationId, turnId, fence, node: identity.node });
    } catch (error) {
      if (isParleyError(error) && error.code === "store_unavailable") {
        this.resolveUnknown(owner, conversationId, turnId);
      }
      throw error;
    }
  }

  /**
   * Tries again to end leases that could not be ended. A turn that cannot even be read is ended without reading it.
   */
  async #endStranded(): Promise<void> {
    const { identity, report } = this.#env;
    const tried: Promise<void>[] = [];
    for (const [log, { lease, node }] of this.#stranded) {
      // The leases of a name that was given up are a dead node's, and claimed like all others.
      if (node !== identity.node) {
        this.#stranded.delete(log);
        continue;
      }
      if (this.#ending.has(log) || !this.#coordinator.alive(lease.owner)) continue;
      this.#ending.add(log);
      const work = this.#holding(lease, async () => {
        if (lease.purpose === "compaction") return this.#endCompaction(lease);
        const left = await this.#read(lease, { evenBlindly: true });
        if (left !== undefined) await this.#seal(lease, left);
      });
      tried.push(
        work
          .catch((error: unknown) => report(error, "recovery", lease.conversationId))
          .finally(() => this.#ending.delete(log)),
      );
    }
    await this.#forAWhile(tried);
  }

  /** Waits for work on turns of several owners for a short time. It goes on in any case. Returns true if it has ended. */
  async #forAWhile(works: readonly Promise<void>[]): Promise<boolean> {
    if (works.length === 0) return true;
    const isOver = new AbortController();
    const late = wait(this.#env, patienceMs, isOver.signal).then(() => false);
    const areEnded = await Promise.race([Promise.all(works).then(() => true), late]);
    isOver.abort();
    return areEnded;
  }

  /** Works on a lease of this node, and remembers it if that fails while it is still this node's. */
  async #holding(lease: Lease, work: () => Promise<void>): Promise<void> {
    const { log, fence } = lease;
    const { node } = this.#env.identity;
    // Work on an earlier lease of the same log may end later.
    const isNewest = () => (this.#stranded.get(log)?.lease.fence ?? fence) <= fence;
    try {
      await work();
      if (isNewest()) this.#stranded.delete(log);
    } catch (error) {
      if (isNewest()) {
        if (isGone(error)) this.#stranded.delete(log);
        else this.#stranded.set(log, { lease, node });
      }
      throw error;
    }
  }

  #recover(lease: Lease): Promise<void> {
    return this.#holding(lease, () => this.#endOrContinue(lease));
  }

  async #endOrContinue(lease: Lease): Promise<void> {
    if (lease.purpose === "compaction") {
      await this.#endCompaction(lease);
      return;
    }
    const { owner, conversationId, log, turnId, fence } = lease;
    const left = await this.#keepReasoning(lease, await this.#read(lease));
    if (left === undefined) return;
    const { state } = left;
    const plan = lease.stopRequested
      ? undefined
      : planToContinue(left, (toolName) => this.#mayRetry(owner, toolName), {
          elapsedMs: this.#elapsed(state),
          waitedMs: waitedMsOf(state),
        });
    if (plan === undefined) {
      await this.#seal(lease, left);
      this.#tookOver(lease, "sealed");
      return;
    }
    // The durable state is published before the turn continues from there. No other node can have written since the
    // read.
    await this.#insist(() => this.#follower.catchUp(log, state));
    const { choices, entries, startedAt } = state;
    this.#coordinator.run(owner, conversationId, { log, turnId, fence, choices, entries, startedAt }, plan);
    this.#tookOver(lease, "continued");
  }

  #tookOver({ owner, conversationId, turnId, fence }: Lease, outcome: TurnTakeover["outcome"]): void {
    try {
      this.#env.hooks.onTakeover?.({ owner, conversationId, turnId, fence, outcome });
    } catch (error) {
      this.#env.report(error, "onTakeover", conversationId);
    }
  }

  /** Commits the reasoning of a model that had not answered yet: the turn continues after it. */
  async #keepReasoning(lease: Lease, left: LeftTurn | undefined): Promise<LeftTurn | undefined> {
    const { owner, conversationId, turnId, fence } = lease;
    if (left === undefined || lease.stopRequested) return left;
    const kept = reasoningToCommit(left, { now: new Date(this.#env.clock.now()) });
    if (kept === undefined) return left;
    const { providerCalls } = left.state;
    const commit = { conversationId, turnId, fence, promoteSteers: false, providerCalls, ...kept };
    await this.#insist(() => this.#env.root.forOwner(owner).commitStep(commit));
    return this.#read(lease);
  }

  async #read(
    lease: Lease,
    { evenBlindly = false }: { readonly evenBlindly?: boolean } = {},
  ): Promise<LeftTurn | undefined> {
    const { owner, conversationId, turnId, fence } = lease;
    const store = this.#env.root.forOwner(owner);
    const state = await this.#insist(() => store.readOpenTurn({ conversationId })).catch((error: unknown) => {
      if (!evenBlindly || isGone(error) || toParleyError(error).retryable) throw error;
      this.#env.report(error, "recovery", conversationId);
      return this.#unseen(lease);
    });
    if (state === null || state.turnId !== turnId || state.fence !== fence) return undefined;
    const events: NumberedEvent[] = [];
    try {
      for (const batch of state.journal) events.push(...decodeBatch(conversationId, batch));
      return foldLeftTurn(conversationId, state, events);
    } catch (error) {
      // A journal that cannot be read must not keep its conversation open: the readable part is enough to end it.
      this.#env.report(error, "recovery", conversationId);
      return foldLeftTurn(conversationId, state, events, true);
    }
  }

  async #seal(lease: Lease, left: LeftTurn): Promise<void> {
    const env = this.#env;
    const { owner, conversationId, log, turnId, fence } = lease;
    const reason: TurnReason = lease.stopRequested ? "aborted" : "interrupted";
    // Made once: a repeated seal is the same seal.
    const input: SealInput = {
      conversationId,
      turnId,
      fence,
      stepId: currentStep(left),
      messages: partialMessages(left, {
        now: new Date(env.clock.now()),
        via: reason === "aborted" ? "stop" : "end",
      }),
      reason,
      metrics: metricsOf(left, {
        reason,
        durationMs: this.#elapsed(left.state),
        waitedMs: waitedMsOf(left.state),
      }),
      providerCalls: left.state.providerCalls,
      next: this.#coordinator.nextTurn(reason === "aborted"),
    };
    const store = env.root.forOwner(owner);
    const { input: taken, sealed } = await sealWithLess(
      input,
      { id: () => env.ids.next(), now: () => env.clock.now() },
      (each) => this.#insist(() => store.seal(each)),
      (error) => env.report(error, "recovery", conversationId),
    );
    if (sealed.next === undefined) await this.#follower.look(log);
    this.#coordinator.afterSeal({ owner, conversationId, log, turnId }, taken.reason, sealed);
  }

  /** Ends a compaction that no node finishes, as if it had not started. */
  async #endCompaction({ owner, conversationId, log, turnId, fence }: Lease): Promise<void> {
    const env = this.#env;
    const store = env.root.forOwner(owner);
    const next: NextTurn = this.#coordinator.nextTurn(false);
    const ended = await this.#insist(() => store.endLease({ conversationId, turnId, fence, next }));
    if (ended.next !== undefined) this.#coordinator.run(owner, conversationId, ended.next);
    env.notifyChanged(owner, [log]);
  }

  /** Repeats a call until its outcome is known, or the node shuts down. */
  #insist<T>(call: () => Promise<T>): Promise<T> {
    return retryWhileUnavailable(this.#env, call, this.#stopped);
  }

  #mayRetry(owner: string, toolName: string): boolean {
    if (toolName === recallToolName) return true;
    return this.#env.toolsOf(owner).some((tool) => tool.name === toolName && tool.recovery === "retry");
  }

  /** Returns the state of a turn that cannot be read, except that it is open. */
  #unseen({ log, turnId, fence, stopRequested }: Lease): OpenTurnState {
    const { clock, identity } = this.#env;
    const nothing = { choices: {}, inputs: [], entries: [], steps: [], providerCalls: [], journal: [] };
    return { log, turnId, fence, node: identity.node, startedAt: clock.now(), stopRequested, ...nothing };
  }

  /**
   * Returns the time by the store's clock if it is known: this node's may be off by more than the duration of a turn.
   */
  #elapsed({ startedAt, elapsedMs = this.#env.clock.now() - startedAt }: OpenTurnState): number {
    return Math.max(0, elapsedMs);
  }
}
