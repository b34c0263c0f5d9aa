import { type Admission, AttemptGate } from "./attempt-gate.js";
import { AttemptWatch } from "./attempt-watch.js";
import { backoffDelayMs } from "./backoff.js";
import { type BodySource, BodyTooLarge, sourceOfStream } from "./body-source.js";
import { needsBaseUrl } from "./build-url.js";
import { Call } from "./call.js";
import { ClientResponse } from "./client-response.js";
import { type Clock, MAX_TIMER_MS, systemClock } from "./clock.js";
import { composeRequest } from "./compose-request.js";
import { HttpError } from "./errors.js";
import { fetchTransport } from "./fetch-transport.js";
import type { HttpClientConfig } from "./http-client-config.js";
import type { HttpResponse } from "./http-response.js";
import { judgeNetworkError, judgeResponse } from "./judge-response.js";
import { Observer } from "./observer.js";
import type { HttpRequestInterceptor, HttpTransport, TransportInit, TransportResponse } from "./ports.js";
import { readRateLimitFeedback } from "./rate-limit-feedback.js";
import { type ReadResponse, readArrayBuffer, readJson, readText } from "./read-response.js";
import { addHeaders } from "./request-headers.js";
import { createRequestId } from "./request-id.js";
import type { HttpHeaders, HttpRequestOptions } from "./request-options.js";
import { type EffectiveResilience, type ResilienceProfile, resolveResilience } from "./resilience.js";
import { readRetryAfterMs } from "./retry-after.js";
import { watchBody } from "./watched-body.js";

/** Sends requests, and tries again where that is safe and useful. Every failure is an `HttpError`. */
export interface HttpClient {
  getClientName(): string;
  /** The parsed body; undefined where it is empty. The only method that uses the cache. */
  requestJson<T>(options: HttpRequestOptions): Promise<T>;
  requestText(options: HttpRequestOptions): Promise<string>;
  requestArrayBuffer(options: HttpRequestOptions): Promise<ArrayBuffer>;
  /**
   * The response as soon as its headers are there, body unread. From then on nothing is retried: the caller
   * reads the body, or cancels it.
   */
  requestRaw(options: HttpRequestOptions): Promise<HttpResponse>;
}

type AttemptResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: HttpError; readonly request: HttpRequestOptions };

/**
 * The client. All four methods are one pipeline and differ in what they do with a good response:
 *
 *     request -> policy -> attempt -> wait -> attempt -> ... -> outcome
 *                          |- interceptors, limiter, breaker
 *                          |- transport, classification
 *                          `- read the body, interceptors
 */
export class DefaultHttpClient implements HttpClient {
  readonly #config: HttpClientConfig;
  readonly #transport: HttpTransport;
  readonly #clock: Clock;
  readonly #observer: Observer;
  readonly #interceptors: readonly HttpRequestInterceptor[];
  readonly #reversed: readonly HttpRequestInterceptor[];
  readonly #gate: AttemptGate;
  readonly #defaultHeaders: HttpHeaders;
  readonly #defaultProfile: EffectiveResilience;

  constructor(config: HttpClientConfig) {
    this.#config = config;
    this.#transport = config.transport ?? fetchTransport;
    this.#clock = config.clock ?? systemClock;
    this.#observer = new Observer(config, this.#clock);
    this.#interceptors = withLegacyHooks(config);
    this.#reversed = [...this.#interceptors].reverse();
    this.#gate = new AttemptGate(config, this.#observer);
    this.#defaultHeaders = addHeaders({}, config.defaultHeaders);
    this.#defaultProfile = resolveResilience([config.defaultResilience]);
  }

  getClientName(): string {
    return this.#config.clientName;
  }

  async requestJson<T>(options: HttpRequestOptions): Promise<T> {
    const call = this.#open(options);
    const { cache } = this.#config;
    const { cacheKey, cacheTtlMs = 0 } = options;
    if (cache === undefined || cacheKey === undefined) return this.#execute(call, readJson<T>);

    const kept = await this.#lookUp(call, () => cache.get(cacheKey));
    if (kept !== undefined) {
      this.#observer.finish(call, this.#observer.start(call), undefined, true);
      return kept as T;
    }
    const value = await this.#execute(call, readJson<T>);
    if (cacheTtlMs > 0 && value !== undefined) {
      this.#observer.quietly("Cache", () => cache.set(cacheKey, value, cacheTtlMs));
    }
    return value;
  }

  requestText(options: HttpRequestOptions): Promise<string> {
    return this.#execute(this.#open(options), readText);
  }

  requestArrayBuffer(options: HttpRequestOptions): Promise<ArrayBuffer> {
    return this.#execute(this.#open(options), readArrayBuffer);
  }

  requestRaw(options: HttpRequestOptions): Promise<HttpResponse> {
    return this.#execute<HttpResponse>(this.#open(options), undefined);
  }

  #open(options: HttpRequestOptions): Call {
    const { correlation: given, resilience, budget } = options;
    const correlation = {
      ...given,
      requestId: given?.requestId ?? (this.#config.createRequestId ?? createRequestId)(),
    };
    const request: HttpRequestOptions = { ...options, correlation };
    const agentContext = options.agentContext ?? this.#config.defaultAgentContext;
    if (agentContext !== undefined) request.agentContext = agentContext;
    const profile =
      resilience === undefined && budget === undefined
        ? this.#defaultProfile
        : resolveResilience([this.#config.defaultResilience, resilience], budget);
    return new Call(request, correlation, profile, this.#clock.monotonicNow());
  }

  /** Runs a logical request and reports its one outcome. Without a reader the response itself is the result. */
  async #execute<T>(call: Call, read: ReadResponse<T> | undefined): Promise<T> {
    const { policyWrapper } = this.#config;
    const span = this.#observer.start(call);
    try {
      const value =
        policyWrapper === undefined
          ? await this.#attempts(call, read)
          : await policyWrapper(() => this.#attempts(call, read), call.request);
      this.#observer.finish(call, span, undefined);
      return value;
    } catch (error) {
      this.#observer.finish(call, span, error);
      throw error;
    }
  }

  /** Attempts until one succeeds, a failure is final, or neither attempts nor time are left. */
  async #attempts<T>(call: Call, read: ReadResponse<T> | undefined): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.#attempt(call, attempt, read);
      if (result.ok) return result.value;

      const { failure, request } = result;
      const pause = this.#watch(call);
      try {
        for (const interceptor of this.#reversed) {
          if (interceptor.onError === undefined) continue;
          await this.#hook("onError", pause, () =>
            interceptor.onError?.({ request, error: failure, attempt }),
          );
        }
        const delayMs = this.#retryDelay(call, attempt, failure);
        if (delayMs === undefined) throw failure;
        if (pause.failure !== undefined) throw pause.failure;
        if (failure.response !== undefined) failure.response.cancel?.();
        this.#observer.log("warn", "Retrying", {
          operation: request.operation,
          requestId: call.correlation.requestId,
          attempt,
          delayMs,
          category: failure.category,
          status: failure.status,
        });
        await this.#sleep(delayMs, pause);
      } finally {
        pause.release();
      }
    }
  }

  async #attempt<T>(
    call: Call,
    attempt: number,
    read: ReadResponse<T> | undefined,
  ): Promise<AttemptResult<T>> {
    call.attempts = attempt;
    call.status = 0;
    const request = this.#copyForAttempt(call.request, attempt);
    const watch = this.#watch(call);
    let admission: Admission | undefined;
    let failure: HttpError | undefined;
    let handedOver = false;
    try {
      if (this.#clock.monotonicNow() >= call.deadlineAt) throw call.interruption("overall");
      await this.#beforeSend(request, watch);
      const baseUrl = await this.#baseUrl(request, watch);
      const { url, init } = composeRequest(
        call,
        request,
        baseUrl,
        watch.signal,
        this.#interceptors.length === 0,
      );
      if (this.#gate.active) admission = await this.#gate.admit(call, request, url, watch);
      const response = await this.#send(call, url, init, watch);
      if (this.#gate.active || this.#observer.active) this.#readLimits(call, response, admission);

      failure = await judgeResponse(this.#config, this.#observer, call, response, this.#clock.wallNow);
      call.status = failure?.status ?? response.status;
      if (watch.failure !== undefined) throw watch.failure;
      if (failure === undefined) {
        const maxBytes =
          request.maxResponseBytes ?? this.#config.maxResponseBytes ?? Number.POSITIVE_INFINITY;
        const value = read === undefined ? (response as T) : await read(call, response, maxBytes);
        await this.#afterResponse(request, response, attempt, watch);
        if (read === undefined) {
          handedOver = true;
          watch.handOver();
          response.abandonWith(watch);
        }
        return { ok: true, value };
      }
      if (request.keepErrorBody === true) {
        handedOver = true;
        watch.handOver();
      }
    } catch (error) {
      failure = watch.failure ?? this.#toFailure(call, error);
    } finally {
      if (!handedOver) watch.release();
      admission?.settle(failure);
    }
    return { ok: false, failure, request };
  }

  #copyForAttempt(request: HttpRequestOptions, attempt: number): HttpRequestOptions {
    const headers = addHeaders({ ...this.#defaultHeaders }, request.headers);
    if (request.idempotencyKey !== undefined) headers["idempotency-key"] = request.idempotencyKey;
    return { ...request, headers, attempt };
  }

  async #beforeSend(request: HttpRequestOptions, watch: AttemptWatch): Promise<void> {
    for (const interceptor of this.#interceptors) {
      if (interceptor.beforeSend === undefined) continue;
      await this.#hook("beforeSend", watch, () =>
        interceptor.beforeSend?.({ request, signal: watch.signal }),
      );
    }
    if (watch.failure !== undefined) throw watch.failure;
  }

  async #baseUrl(request: HttpRequestOptions, watch: AttemptWatch): Promise<string | undefined> {
    const { baseUrl } = this.#config;
    if (baseUrl !== undefined || this.#config.resolveBaseUrl === undefined) return baseUrl;
    if (!needsBaseUrl(request)) return undefined;
    const resolved = this.#config.resolveBaseUrl(request);
    return isPromise(resolved) ? watch.guard(resolved) : resolved;
  }

  async #send(call: Call, url: string, init: TransportInit, watch: AttemptWatch): Promise<ClientResponse> {
    watch.startAttempt(call.profile.perAttemptTimeoutMs);
    // Taken out of the object first: a browser's `fetch` refuses to be called as somebody's method.
    const transport = this.#transport;
    const answer = await watch.guard(transport(url, init), discard);
    const inner = bodyOf(answer);
    if (inner === null) watch.bodyEnded();
    const body = inner && watchBody(inner, watch, (error) => this.#toFailure(call, error));
    return new ClientResponse(answer, body);
  }

  #readLimits(call: Call, response: ClientResponse, admission: Admission | undefined): void {
    const { wallNow } = this.#clock;
    const feedback = readRateLimitFeedback(response.headers, response.status, wallNow);
    if (feedback === undefined) return;
    call.rateLimitFeedback = feedback;
    admission?.report(
      feedback,
      readRetryAfterMs((name) => response.header(name), wallNow),
    );
  }

  async #afterResponse(
    request: HttpRequestOptions,
    response: ClientResponse,
    attempt: number,
    watch: AttemptWatch,
  ): Promise<void> {
    for (const interceptor of this.#reversed) {
      if (interceptor.afterResponse === undefined) continue;
      await this.#hook("afterResponse", watch, () =>
        interceptor.afterResponse?.({ request, response, attempt }),
      );
    }
    if (watch.failure !== undefined) throw watch.failure;
  }

  /** How long to wait before the next attempt, or undefined when there must be none. */
  #retryDelay(call: Call, attempt: number, failure: HttpError): number | undefined {
    const { profile } = call;
    if (!failure.retryable || !call.replayable || attempt >= profile.maxAttempts) return undefined;
    const random = this.#config.random ?? Math.random;
    const delayMs = backoffDelayMs(attempt, profile, random, failure.fallback?.retryAfterMs);
    // A wait that ends after the deadline helps nobody: the caller learns now what went wrong.
    return this.#clock.monotonicNow() + delayMs >= call.deadlineAt ? undefined : delayMs;
  }

  async #sleep(delayMs: number, pause: AttemptWatch): Promise<void> {
    let timer: unknown;
    const elapsed = new Promise<void>((wake) => {
      timer = this.#clock.setTimer(wake, Math.min(delayMs, MAX_TIMER_MS));
    });
    try {
      await pause.guard(elapsed);
    } finally {
      this.#clock.clearTimer(timer);
    }
  }

  /** Runs an interceptor. It cannot fail the request, nor hold it up beyond its deadline. */
  async #hook(name: string, watch: AttemptWatch, run: () => void | Promise<void>): Promise<void> {
    try {
      const pending = run();
      if (isPromise(pending)) await watch.guard(pending);
    } catch (error) {
      if (error !== watch.failure) this.#observer.failed(`Interceptor ${name}`, error);
    }
  }

  async #lookUp(call: Call, get: () => unknown): Promise<unknown> {
    const watch = this.#watch(call);
    try {
      const kept = get();
      return isPromise(kept) ? await watch.guard(kept) : kept;
    } catch (error) {
      // An interruption is a miss too: the request that follows reports it.
      if (error !== watch.failure) this.#observer.failed("Cache", error);
      return undefined;
    } finally {
      watch.release();
    }
  }

  #watch(call: Call): AttemptWatch {
    const limits = { deadlineAt: call.deadlineAt, stallTimeoutMs: call.profile.stallTimeoutMs };
    return new AttemptWatch(this.#clock, call.request.signal, limits, call.interruption);
  }

  #toFailure(call: Call, error: unknown): HttpError {
    if (HttpError.isInstance(error)) return error;
    if (error instanceof BodyTooLarge) {
      return call.error(error.message, {
        status: call.status,
        category: "unknown",
        reason: "body_too_large",
      });
    }
    return judgeNetworkError(this.#config, this.#observer, call, error);
  }
}

/** Settings that suit most services; whatever the config says wins. */
const SAFE_DEFAULTS = {
  maxAttempts: 3,
  perAttemptTimeoutMs: 60_000,
  stallTimeoutMs: 60_000,
} satisfies ResilienceProfile;

/**
 * A client with safe defaults: three attempts, a minute for each attempt, a minute of silence in a body, no
 * overall deadline.
 */
export function createDefaultHttpClient(config: Partial<HttpClientConfig> = {}): HttpClient {
  return new DefaultHttpClient({
    ...config,
    clientName: config.clientName ?? "http",
    defaultResilience: { ...SAFE_DEFAULTS, ...config.defaultResilience },
  });
}

function withLegacyHooks(config: HttpClientConfig): readonly HttpRequestInterceptor[] {
  const { beforeRequest, afterResponse, interceptors = [] } = config;
  if (beforeRequest === undefined && afterResponse === undefined) return interceptors;
  return [
    {
      beforeSend: ({ request }) => beforeRequest?.(request),
      afterResponse: ({ request, response }) => afterResponse?.(request, response),
    },
    ...interceptors,
  ];
}

function bodyOf(answer: TransportResponse): BodySource | null {
  const { consume, cancel } = answer;
  if (consume !== undefined && cancel !== undefined) {
    return {
      consume: (onChunk) => consume.call(answer, onChunk),
      cancel: (reason) => cancel.call(answer, reason),
    };
  }
  return answer.body === null ? null : sourceOfStream(answer.body);
}

/** Closes a response that arrived after its attempt had ended. */
function discard(answer: TransportResponse): void {
  bodyOf(answer)?.cancel();
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}
