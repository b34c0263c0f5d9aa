import type { StopRequest } from "../../ports/log-store.js";
import type { Uses } from "../environment.js";
import type { LeaseDeadline } from "./lease-deadline.js";

/** The parts of the environment that keep a node alive. */
export type NodeLifeUses = Uses<"clock" | "identity" | "ids" | "lease" | "report" | "root" | "wake">;

/** Share of the interval after which a renewal that failed is tried again. */
const retryShare = 1 / 3;

/** Delay before a renewal is tried again while the store has a presence of this node that has ended. */
const outdatedRetryMs = 150;

/** The work of a node that its leases cover. */
export interface LeasedWork {
  /** Drops everything: it may be another node's. */
  loseAll(): void;
  /** Drops what a heartbeat did not renew, where it renewed something. */
  loseUnheld(): void;
  /** Obeys a stop that was requested in the store. */
  stop(request: StopRequest): void;
  /** Finds out which of it has been taken over by another node: this one may have been considered dead. */
  check(): void;
}

/**
 * Keeps this node alive in the store.
 *
 * The node is alive until a deadline on its own monotonic clock, counted from before each renewal was sent, so it
 * never relies on its leases longer than the store does. When the deadline passes, everything that ran here may
 * belong to another node: all of it is dropped, and once the store answers again the process continues under a new
 * name, and claims what is left like any other node.
 *
 * Each renewal carries the presence of this process. If that ends while the process lives, the store is notified
 * immediately, before other nodes consider this one dead.
 */
export class NodeLife {
  readonly #env: NodeLifeUses;
  readonly #deadline: LeaseDeadline;
  readonly #work: LeasedWork;
  /** True if the store knows the current name: one that was never stored can still be used. */
  #hasLived = false;
  /** The presence that the store has of this node, as far as its answers show. */
  #announced: string | undefined;
  #stopListening: () => void = () => {};
  #cancelRenewal: () => void = () => {};
  #cancelDeadline: () => void = () => {};
  #stopped = false;

  constructor(env: NodeLifeUses, deadline: LeaseDeadline, work: LeasedWork) {
    this.#env = env;
    this.#deadline = deadline;
    this.#work = work;
  }

  /** Resolves when the first heartbeat is in the store; then renews at its interval. */
  async start(): Promise<void> {
    this.#stopListening = this.#env.wake.presence?.onChange(() => void this.renewSoon()) ?? (() => {});
    await this.#renew();
    this.#plan();
  }

  stop(): void {
    this.#stopped = true;
    this.#stopListening();
    this.#cancelRenewal();
    this.#cancelDeadline();
  }

  /** Renews now: the answer contains the stops that others have requested. */
  async renewSoon(): Promise<void> {
    if (this.#stopped) return;
    const { report, lease } = this.#env;
    try {
      await this.#renew();
      this.#plan();
    } catch (error) {
      report(error, "heartbeat");
      // The failed one has already cost time, perhaps the whole timeout of a silent connection.
      const retryMs = lease.renewMs * retryShare;
      const isOutdated = this.#announced !== undefined && this.#announced !== this.#presence();
      this.#plan(isOutdated ? Math.min(outdatedRetryMs, retryMs) : retryMs);
    }
  }

  #presence(): string | undefined {
    return this.#env.wake.presence?.token();
  }

  #plan(afterMs = this.#env.lease.renewMs): void {
    this.#cancelRenewal();
    if (this.#stopped) return;
    this.#cancelRenewal = this.#env.clock.after(afterMs, () => void this.renewSoon());
  }

  async #renew(): Promise<void> {
    const { clock, identity, lease, root } = this.#env;
    const { alive } = this.#deadline;
    if (!alive() && this.#hasLived) this.#rename();
    const { node } = identity;
    const sentAt = clock.monotonic();
    const presence = this.#presence();
    const stops = await root.heartbeat(node, lease.ttlMs, presence);
    // The answer is about a name, which may have been given up meanwhile.
    if (this.#stopped || identity.node !== node) return;
    // Everything that ran under this name was dropped at its deadline. If the name stayed alive, no node would take
    // that over.
    if (!alive() && this.#hasLived) return this.#renew();
    const leftMs = this.#deadline.extendTo(sentAt + lease.ttlMs);
    this.#hasLived = true;
    this.#cancelDeadline();
    this.#cancelDeadline = clock.after(leftMs, () => {
      if (!alive()) this.#work.loseAll();
    });
    this.#work.loseUnheld();
    for (const stop of stops) this.#work.stop(stop);
    const before = this.#announced;
    this.#announced = presence;
    // Of two concurrent renewals, the one with the older presence may have arrived last.
    if (presence !== this.#presence()) return this.#renew();
    if (before !== undefined && before !== presence) this.#work.check();
  }

  #rename(): void {
    const { identity, ids } = this.#env;
    this.#hasLived = false;
    this.#announced = undefined;
    this.#work.loseAll();
    const { node } = identity;
    const plus = node.lastIndexOf("+");
    identity.node = `${plus === -1 ? node : node.slice(0, plus)}+${ids.next()}`;
  }
}
