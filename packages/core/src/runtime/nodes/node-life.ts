import type { Clock } from "../../clock.js";
import type { StopRequest } from "../../log-store.js";
import type { Environment } from "../environment.js";

/** The share of the pace after which a renewal that failed is tried again. */
const retryShare = 1 / 3;

/**
 * Keeps this node alive in the store, and knows until when it may believe in that.
 *
 * The node is alive until a deadline on its own monotonic clock, counted from before each renewal was sent, so it
 * never believes in its leases longer than the store does. When the deadline passes, whatever ran here may belong
 * to someone else: `onLost` drops it all, and once the store answers again the process goes on under a new name,
 * and claims what is left like any other node would.
 */
export class NodeLife {
  readonly #env: Environment;
  readonly #clock: Clock;
  readonly #onLost: () => void;
  readonly #onStop: (request: StopRequest) => void;
  /** Undefined until the first heartbeat. */
  #deadline: number | undefined;
  /** Whether the store has heard of the present name: one that never lived can still be used. */
  #hasLived = false;
  #cancelRenewal: () => void = () => {};
  #cancelDeadline: () => void = () => {};
  #stopped = false;

  constructor(env: Environment, events: { onLost: () => void; onStop: (request: StopRequest) => void }) {
    this.#env = env;
    this.#clock = env.clock;
    this.#onLost = events.onLost;
    this.#onStop = events.onStop;
  }

  /** Asked before everything that a node does in its own name, each event that it tells included. */
  readonly alive = (): boolean => this.#deadline === undefined || this.#clock.monotonic() < this.#deadline;

  /** Resolves when the first heartbeat is in the store; then renews in its pace. */
  async start(): Promise<void> {
    await this.#renew();
    this.#plan();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelRenewal();
    this.#cancelDeadline();
  }

  /** Renews now: the answer brings the stops that others have asked for. */
  async renewSoon(): Promise<void> {
    if (this.#stopped) return;
    const { report, lease } = this.#env;
    try {
      await this.#renew();
      this.#plan();
    } catch (error) {
      report(error, "heartbeat");
      // The failed one has cost time already, perhaps all that a silent connection is given.
      this.#plan(lease.renewMs * retryShare);
    }
  }

  #plan(afterMs = this.#env.lease.renewMs): void {
    this.#cancelRenewal();
    if (this.#stopped) return;
    this.#cancelRenewal = this.#env.clock.after(afterMs, () => void this.renewSoon());
  }

  async #renew(): Promise<void> {
    const { clock, identity, lease, root } = this.#env;
    if (!this.alive() && this.#hasLived) this.#rename();
    const { node } = identity;
    const sentAt = clock.monotonic();
    const stops = await root.heartbeat(node, lease.ttlMs);
    // The answer is about a name, and it may have been given up meanwhile.
    if (this.#stopped || identity.node !== node) return;
    // What ran under this name was dropped at its deadline. If the name lived on, nobody would take that over.
    if (!this.alive() && this.#hasLived) return this.#renew();
    const deadline = Math.max(this.#deadline ?? sentAt, sentAt + lease.ttlMs);
    this.#deadline = deadline;
    this.#hasLived = true;
    this.#cancelDeadline();
    this.#cancelDeadline = clock.after(Math.max(0, deadline - clock.monotonic()), () => {
      if (!this.alive()) this.#onLost();
    });
    for (const stop of stops) this.#onStop(stop);
  }

  #rename(): void {
    const { identity, ids } = this.#env;
    this.#hasLived = false;
    this.#onLost();
    const { node } = identity;
    const plus = node.lastIndexOf("+");
    identity.node = `${plus === -1 ? node : node.slice(0, plus)}+${ids.next()}`;
  }
}
