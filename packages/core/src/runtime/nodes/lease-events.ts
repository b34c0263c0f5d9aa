import type { Lease } from "../../ports/log-store.js";

/** Handles leases that no run on this node handles. */
export interface LeaseHandler {
  /** Called for a turn that is followed here and has no holder. */
  orphaned(): void;
  /**
   * Called for a turn of this node that failed in a way that its own run cannot end: it is open, and no node runs it.
   */
  broken(lease: Lease): void;
  /** Called for a turn of this node that was dropped because the node has no life where the owner is. */
  unheld(owner: string, conversationId: string, turnId: string): void;
}

/**
 * Reports what delivery and turns find out about leases to recovery, which is built on both of them. The only place
 * in which a call goes against the order in which services are built.
 */
export class LeaseEvents implements LeaseHandler {
  #handler: LeaseHandler | undefined;

  /** Sets the handler; called once, while the services are built. */
  handleWith(handler: LeaseHandler): void {
    this.#handler = handler;
  }

  orphaned(): void {
    this.#handler?.orphaned();
  }

  broken(lease: Lease): void {
    this.#handler?.broken(lease);
  }

  unheld(owner: string, conversationId: string, turnId: string): void {
    this.#handler?.unheld(owner, conversationId, turnId);
  }
}
