import type { Call } from "./call.js";
import type { Clock } from "./clock.js";
import { HttpError } from "./errors.js";
import type { HttpClientConfig } from "./http-client-config.js";
import type { Logger, RequestDescription, RequestOutcome, TracingSpan } from "./ports.js";

/**
 * Reports requests to logger, metrics and traces. None of them can fail a request: what they throw is logged,
 * and what the logger throws is dropped.
 */
export class Observer {
  /** True if anything consumes outcomes; otherwise none is prepared. */
  readonly active: boolean;
  readonly #config: HttpClientConfig;
  readonly #clock: Clock;
  readonly #logger: Logger | undefined;

  constructor(config: HttpClientConfig, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
    this.#logger = config.logger;
    this.active = config.metrics !== undefined || config.tracing !== undefined;
  }

  log(level: keyof Logger, message: string, details: Record<string, unknown>): void {
    try {
      this.#logger?.[level](message, { client: this.#config.clientName, ...details });
    } catch {
      // There is nothing left to report the failure to.
    }
  }

  /** Runs work that must not fail the request: now and, if it returns a promise, in the background. */
  quietly(what: string, work: () => unknown): void {
    try {
      const pending = work();
      if (isThenable(pending)) pending.then(undefined, (error) => this.failed(what, error));
    } catch (error) {
      this.failed(what, error);
    }
  }

  /** Logs the failure of work that must not fail the request. */
  failed(what: string, error: unknown): void {
    this.log("warn", `${what} failed`, { error });
  }

  start(call: Call): TracingSpan | undefined {
    const { tracing, clientName } = this.#config;
    if (tracing === undefined) return undefined;
    try {
      return tracing.startSpan(`${clientName}.${call.options.operation}`, this.#describe(call));
    } catch (error) {
      this.failed("Tracing", error);
      return undefined;
    }
  }

  /** Reports the single outcome of a logical request. `error` is undefined if it succeeded. */
  finish(call: Call, span: TracingSpan | undefined, error: unknown, fromCache = false): void {
    if (!this.active) return;
    const durationMs = this.#clock.monotonicNow() - call.startedAt;
    const outcome = this.#outcome(call, error, durationMs);
    if (span !== undefined) this.quietly("Tracing", () => span.end(outcome, error));
    const { metrics } = this.#config;
    if (metrics === undefined) return;
    this.quietly("Metrics", () =>
      metrics.recordRequest({ ...this.#describe(call), outcome, durationMs, fromCache }),
    );
  }

  #outcome(call: Call, error: unknown, durationMs: number): RequestOutcome {
    // Counted back from now, so that a change of the wall clock meanwhile cannot put the end before the
    // start.
    const finished = this.#clock.wallNow();
    const failure = HttpError.isInstance(error) ? error : undefined;
    return {
      ok: error === undefined,
      status: failure === undefined ? call.status : failure.status,
      ...(error === undefined ? {} : { errorCategory: failure?.category ?? "unknown" }),
      attempts: call.attempts,
      startedAt: new Date(finished - durationMs),
      finishedAt: new Date(finished),
      ...(call.rateLimitFeedback === undefined ? {} : { rateLimitFeedback: call.rateLimitFeedback }),
    };
  }

  #describe(call: Call): RequestDescription {
    const { operation, method, correlation, agentContext, extensions } = call.request;
    return {
      clientName: this.#config.clientName,
      operation,
      method,
      correlation,
      ...(agentContext === undefined ? {} : { agentContext }),
      ...(extensions === undefined ? {} : { extensions }),
    };
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}
