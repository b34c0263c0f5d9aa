import type { KillPlan } from "../../test/kill/running-node.js";

/** Moment at which a fault is injected into a node. */
export type FaultPoint =
  /**
   * At a frame for the followers of the conversation, counted from 1: before any byte of it is sent, or right after.
   */
  | { readonly how: "frame"; readonly nth: number; readonly when: "before" | "after" }
  /** At a call of the store: before it is made, in it, or after it and before its result is known. */
  | { readonly how: "store"; readonly point: KillPlan["point"] & { readonly kind: "store" } }
  /** As soon as the client holds this many acknowledgements. */
  | { readonly how: "acknowledgement"; readonly nth: number }
  /** This long after the scenario began. */
  | { readonly how: "moment"; readonly ms: number };

/** Returns the name of a fault point for reports. */
export function nameOf(faultPoint: FaultPoint): string {
  switch (faultPoint.how) {
    case "frame":
      return `${faultPoint.when} frame ${faultPoint.nth}`;
    case "store": {
      const { method, when, nth = 1 } = faultPoint.point;
      return `${when} ${method} ${nth}`;
    }
    case "acknowledgement":
      return `at acknowledgement ${faultPoint.nth}`;
    case "moment":
      return `after ${faultPoint.ms} ms`;
  }
}
