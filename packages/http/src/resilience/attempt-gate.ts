import type { Call } from "../call.js";
import type { HttpError } from "../errors.js";
import type { HttpClientConfig } from "../http-client-config.js";
import type { Observer } from "../observer.js";
import type { AttemptContext, CircuitBreaker, CircuitEntry, RateLimiter } from "../ports.js";
import { pageUrl } from "../request/compose-request.js";
import type { HttpRequestOptions } from "../request/request-options.js";
import type { RateLimitFeedback } from "../response/rate-limit-feedback.js";
import type { AttemptWatch } from "./attempt-watch.js";

/** An attempt that was admitted. */
export interface Admission {
  /** Reports the server's rate-limit feedback to the limiter. */
  report(feedback: RateLimitFeedback, retryAfterMs: number | undefined): void;
  /** Reports the attempt's result to the breaker. */
  settle(failure: HttpError | undefined): void;
}

/** Admits attempts to the transport: first the rate limiter, then the circuit breaker. */
export class AttemptGate {
  /** True if there is a limiter or a breaker. */
  readonly active: boolean;
  readonly #clientName: string;
  readonly #limiter: RateLimiter | undefined;
  readonly #breaker: CircuitBreaker | undefined;
  readonly #observer: Observer;

  constructor(config: HttpClientConfig, observer: Observer) {
    this.#clientName = config.clientName;
    this.#limiter = config.rateLimiter;
    this.#breaker = config.circuitBreaker;
    this.#observer = observer;
    this.active = this.#limiter !== undefined || this.#breaker !== undefined;
  }

  /** Waits for the limiter and enters the breaker. Throws if the circuit is open. */
  async admit(call: Call, request: HttpRequestOptions, url: string, watch: AttemptWatch): Promise<Admission> {
    const origin = new URL(url, pageUrl()).origin;
    const context: AttemptContext = { clientName: this.#clientName, origin, request };
    const turn = this.#limiter?.acquire(context, watch.signal);
    if (turn instanceof Promise) await watch.guard(turn);

    const asked = this.#breaker?.enter(context);
    const entry =
      asked instanceof Promise ? await watch.guard(asked, (late) => this.#settle(late, "ignored")) : asked;
    if (entry?.admitted === false) {
      throw call.error("not sent: the circuit is open", {
        status: 0,
        category: "transient",
        reason: "circuit_open",
        fallback: { retryAfterMs: entry.retryAfterMs },
      });
    }
    return {
      report: (feedback, retryAfterMs) => {
        this.#observer.quietly("Rate limiter", () =>
          this.#limiter?.report?.(context, feedback, retryAfterMs),
        );
      },
      settle: (failure) => this.#settle(entry, resultOf(failure)),
    };
  }

  #settle(entry: CircuitEntry | undefined, result: "success" | "failure" | "ignored"): void {
    if (entry?.admitted === true) this.#observer.quietly("Circuit breaker", () => entry.settle(result));
  }
}

/**
 * Maps a failure to a breaker result. A server that refuses a request is healthy; a canceled attempt proves
 * nothing.
 */
function resultOf(failure: HttpError | undefined): "success" | "failure" | "ignored" {
  switch (failure?.category) {
    case "transient":
    case "network":
    case "timeout":
      return "failure";
    case "canceled":
      return "ignored";
    default:
      return "success";
  }
}
