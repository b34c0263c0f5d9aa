import { HttpError, type HttpErrorDetails, TimeoutError } from "./errors.js";
import type { HttpClientConfig } from "./http-client-config.js";
import type { ComposedRequest } from "./request/compose-request.js";
import { createRequestId } from "./request/request-id.js";
import type { CorrelationInfo, HttpRequestOptions } from "./request/request-options.js";
import type { Interruption } from "./resilience/attempt-watch.js";
import type { EffectiveResilience } from "./resilience/resilience.js";
import type { RateLimitFeedback } from "./response/rate-limit-feedback.js";

/** One logical request under way: what all its attempts have in common. */
export class Call {
  /** The request as the caller gave it. */
  readonly options: HttpRequestOptions;
  readonly profile: EffectiveResilience;
  /** Monotonic; 0 where nobody asks how long the request takes. */
  readonly startedAt: number;
  /** Monotonic; `Infinity` without an overall timeout. */
  readonly deadlineAt: number;
  /** Attempts begun so far. */
  attempts = 0;
  /** The status of the last response, 0 before the first. */
  status = 0;
  rateLimitFeedback: RateLimitFeedback | undefined;
  /** Where the last attempt went. */
  url: string | undefined;
  /** What is sent, where one composition serves all attempts. */
  composed: ComposedRequest | undefined;
  /** Whether the body can be sent again. */
  replayable = true;
  readonly #config: HttpClientConfig;
  #request: (HttpRequestOptions & { correlation: CorrelationInfo }) | undefined;

  constructor(
    options: HttpRequestOptions,
    config: HttpClientConfig,
    profile: EffectiveResilience,
    startedAt: number,
  ) {
    this.options = options;
    this.#config = config;
    this.profile = profile;
    this.startedAt = startedAt;
    this.deadlineAt = startedAt + profile.overallTimeoutMs;
  }

  /**
   * The request with its correlation and agent context filled in. Made on first use: a request that succeeds
   * unobserved needs neither.
   */
  get request(): HttpRequestOptions & { correlation: CorrelationInfo } {
    if (this.#request === undefined) {
      const { correlation: given, agentContext = this.#config.defaultAgentContext } = this.options;
      const requestId = given?.requestId ?? (this.#config.createRequestId ?? createRequestId)();
      this.#request = { ...this.options, correlation: { ...given, requestId } };
      if (agentContext !== undefined) this.#request.agentContext = agentContext;
    }
    return this.#request;
  }

  get hasDeadline(): boolean {
    return this.deadlineAt !== Number.POSITIVE_INFINITY;
  }

  /** An error of this request. */
  error(what: string, details: HttpErrorDetails): HttpError {
    return new HttpError(this.#message(what), { ...this.#context(), ...details });
  }

  /** The error for an attempt that was ended from our side. */
  readonly interruption = (why: Interruption, reason?: unknown): HttpError => {
    switch (why) {
      case "canceled":
        return this.error("canceled by the caller", { status: 0, category: "canceled", cause: reason });
      case "overall":
        return this.#timeout(`timed out: the deadline of ${this.profile.overallTimeoutMs} ms passed`, why);
      case "attempt":
        return this.#timeout(`timed out: an attempt took over ${this.profile.perAttemptTimeoutMs} ms`, why);
      case "stall":
        return this.#timeout(`timed out: the body was silent for ${this.profile.stallTimeoutMs} ms`, why);
    }
  };

  #timeout(what: string, kind: "overall" | "attempt" | "stall"): TimeoutError {
    return new TimeoutError(this.#message(what), kind, this.#context());
  }

  #message(what: string): string {
    // The host alone: a path or a query may hold a key.
    const host = this.url !== undefined && URL.canParse(this.url) ? ` (${new URL(this.url).host})` : "";
    return `${this.options.operation}${host}: ${what}`;
  }

  #context(): Pick<HttpErrorDetails, "correlation" | "agentContext"> {
    const { correlation, agentContext } = this.request;
    return { correlation, ...(agentContext === undefined ? {} : { agentContext }) };
  }
}
