import type { Interruption } from "./attempt-watch.js";
import type { EncodedBody } from "./encode-body.js";
import { HttpError, type HttpErrorDetails, TimeoutError } from "./errors.js";
import type { RateLimitFeedback } from "./rate-limit-feedback.js";
import type { CorrelationInfo, HttpRequestOptions } from "./request-options.js";
import type { EffectiveResilience } from "./resilience.js";

/** One logical request under way: what all its attempts have in common. */
export class Call {
  readonly request: HttpRequestOptions;
  readonly correlation: CorrelationInfo;
  readonly profile: EffectiveResilience;
  /** Monotonic. */
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
  /** The body, where one encoding serves all attempts. */
  encoded: EncodedBody | undefined;
  /** Whether the body can be sent again. */
  replayable = true;

  constructor(
    request: HttpRequestOptions,
    correlation: CorrelationInfo,
    profile: EffectiveResilience,
    startedAt: number,
  ) {
    this.request = request;
    this.correlation = correlation;
    this.profile = profile;
    this.startedAt = startedAt;
    this.deadlineAt = startedAt + profile.overallTimeoutMs;
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
    return `${this.request.operation}${host}: ${what}`;
  }

  #context(): Pick<HttpErrorDetails, "correlation" | "agentContext"> {
    const { agentContext } = this.request;
    return { correlation: this.correlation, ...(agentContext === undefined ? {} : { agentContext }) };
  }
}
