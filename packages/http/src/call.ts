import { HttpError, type HttpErrorDetails, TimeoutError } from "./errors.js";
import type { HttpClientConfig } from "./http-client-config.js";
import type { ComposedRequest } from "./request/compose-request.js";
import { createRequestId } from "./request/request-id.js";
import type { CorrelationInfo, HttpRequestOptions } from "./request/request-options.js";
import type { Interruption } from "./resilience/attempt-watch.js";
import type { EffectiveResilience } from "./resilience/resilience.js";
import type { RateLimitFeedback } from "./response/rate-limit-feedback.js";

/** A logical request in progress: the state that all its attempts share. */
export class Call {
  /** The request as the caller gave it. */
  readonly options: HttpRequestOptions;
  readonly profile: EffectiveResilience;
  /** Monotonic; 0 when neither a deadline nor an observer needs the duration. */
  readonly startedAt: number;
  /** Monotonic; `Infinity` without an overall timeout. */
  readonly deadlineAt: number;
  /** Attempts started so far. */
  attempts = 0;
  /** The status of the last response, 0 before the first. */
  status = 0;
  rateLimitFeedback: RateLimitFeedback | undefined;
  /** The URL of the last attempt. */
  url: string | undefined;
  /** The composed request, when one composition serves all attempts. */
  composed: ComposedRequest | undefined;
  /** True if the body can be sent again. */
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
   * The request with its correlation and agent context filled in. Created on first use: a request that
   * succeeds unobserved needs neither.
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

  /** Creates an error of this request. */
  error(what: string, details: HttpErrorDetails): HttpError {
    return new HttpError(this.#message(what), { ...this.#context(), ...details });
  }

  /** Creates the error for an attempt that the client itself ended. */
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
    // Only the host: a path or a query may contain a key.
    const host = this.url !== undefined && URL.canParse(this.url) ? ` (${new URL(this.url).host})` : "";
    return `${this.options.operation}${host}: ${what}`;
  }

  #context(): Pick<HttpErrorDetails, "correlation" | "agentContext"> {
    const { correlation, agentContext } = this.request;
    return { correlation, ...(agentContext === undefined ? {} : { agentContext }) };
  }
}
