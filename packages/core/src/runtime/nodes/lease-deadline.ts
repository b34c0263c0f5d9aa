import type { Clock } from "../../clock.js";

/** Time until which this node may rely on its leases, on its own monotonic clock. Set by its heartbeats. */
export class LeaseDeadline {
  readonly #clock: Clock;
  /** Undefined until the first heartbeat. */
  #at: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Checked before everything that a node does in its own name, each event that it publishes included. */
  readonly alive = (): boolean => this.#at === undefined || this.#clock.monotonic() < this.#at;

  /** Moves the deadline to `at`, never back. Returns the remaining milliseconds. */
  extendTo(at: number): number {
    this.#at = Math.max(this.#at ?? at, at);
    return Math.max(0, this.#at - this.#clock.monotonic());
  }
}
