import { type Clock, systemClock } from "../clock.js";
import type { AttemptContext, CircuitBreaker, CircuitEntry } from "../ports.js";

/** Thresholds and durations of a circuit breaker. */
export interface MemoryCircuitBreakerOptions {
  /** Consecutive failures that open the circuit. Default 5. */
  failureThreshold?: number;
  /** Time that an open circuit refuses attempts. Default 30 000. */
  openMs?: number;
  /** Returns the key of the circuit that an attempt belongs to. Default: the origin. */
  keyOf?: (context: AttemptContext) => string;
  clock?: Clock;
}

interface Circuit {
  failures: number;
  /** Set while open or half-open: the time of the next probe. */
  probeAt: number | undefined;
  probing: boolean;
}

/**
 * An in-process circuit breaker. Closed: everything passes, and consecutive failures are counted; a success
 * resets the count. Open: everything is refused until `openMs` have passed. Half-open: one probe passes; its
 * success closes the circuit, its failure opens it again, and a probe without a result (the caller canceled)
 * lets the next attempt be the probe.
 */
export class MemoryCircuitBreaker implements CircuitBreaker {
  readonly #circuits = new Map<string, Circuit>();
  readonly #failureThreshold: number;
  readonly #openMs: number;
  readonly #keyOf: (context: AttemptContext) => string;
  readonly #clock: Clock;

  constructor(options: MemoryCircuitBreakerOptions = {}) {
    this.#failureThreshold = Math.max(1, options.failureThreshold ?? 5);
    this.#openMs = options.openMs ?? 30_000;
    this.#keyOf = options.keyOf ?? ((context) => context.origin);
    this.#clock = options.clock ?? systemClock;
  }

  enter(context: AttemptContext): CircuitEntry {
    const key = this.#keyOf(context);
    const circuit = this.#circuits.get(key);
    if (circuit?.probeAt === undefined) return this.#admit(key, false);
    const waitMs = circuit.probeAt - this.#clock.monotonicNow();
    if (waitMs > 0) return { admitted: false, retryAfterMs: waitMs };
    if (circuit.probing) return { admitted: false, retryAfterMs: this.#openMs };
    circuit.probing = true;
    return this.#admit(key, true);
  }

  #admit(key: string, probe: boolean): CircuitEntry {
    let settled = false;
    return {
      admitted: true,
      settle: (result) => {
        if (settled) return;
        settled = true;
        this.#settle(key, probe, result);
      },
    };
  }

  #settle(key: string, probe: boolean, result: "success" | "failure" | "ignored"): void {
    const circuit = this.#circuits.get(key);
    // Attempts sent before the circuit opened no longer count; only the probe decides.
    if (circuit?.probeAt !== undefined && !probe) return;
    if (result === "success") {
      this.#circuits.delete(key);
      return;
    }
    if (result === "ignored") {
      if (circuit !== undefined) circuit.probing = false;
      return;
    }
    const failures = (circuit?.failures ?? 0) + 1;
    const opens = probe || failures >= this.#failureThreshold;
    const probeAt = opens ? this.#clock.monotonicNow() + this.#openMs : undefined;
    this.#circuits.set(key, { failures, probeAt, probing: false });
  }
}
