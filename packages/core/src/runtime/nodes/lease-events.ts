import type { Lease } from "../../ports/log-store.js";

/** Takes care of leases that no run on this node takes care of. */
export interface LeaseHandler {
  /** A turn that is followed here has no holder. */
  orphaned(): void;
  /** A turn of this node failed in a way that its own run cannot end: it is open, and nobody runs it. */
  broken(lease: Lease): void;
}

/**
 * Carries what delivery and turns find out about leases to recovery, which is built on both of them. The one place in
 * which a call goes against the order in which services are built.
 */
export class LeaseEvents implements LeaseHandler {
  #handler: LeaseHandler | undefined;

  /** Sets the one who takes care; called once, while the services are built. */
  handleWith(handler: LeaseHandler): void {
    this.#handler = handler;
  }

  orphaned(): void {
    this.#handler?.orphaned();
  }

  broken(lease: Lease): void {
    this.#handler?.broken(lease);
  }
}
