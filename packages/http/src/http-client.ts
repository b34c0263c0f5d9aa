import { Call } from "./call.js";
import { type Clock, MAX_TIMER_MS, systemClock } from "./clock.js";
import type { HttpError } from "./errors.js";
import type { HttpClientConfig } from "./http-client-config.js";
import { withLegacyHooks } from "./legacy-hooks.js";
import { Observer } from "./observer.js";
import type { HttpCache, HttpRequestInterceptor, HttpTransport, TransportResponse } from "./ports.js";
import { bodyOf } from "./request/body-source.js";
import { needsBaseUrl } from "./request/build-url.js";
import { type ComposedRequest, composeRequest, toTransportInit } from "./request/compose-request.js";
import { addHeaders } from "./request/request-headers.js";
import type { HttpHeaders, HttpRequestOptions } from "./request/request-options.js";
import { type Admission, AttemptGate } from "./resilience/attempt-gate.js";
import { AttemptWatch } from "./resilience/attempt-watch.js";
import { backoffDelayMs } from "./resilience/backoff.js";
import { type EffectiveResilience, resolveResilience } from "./resilience/resilience.js";
import { readRetryAfterMs } from "./resilience/retry-after.js";
import { ClientResponse } from "./response/client-response.js";
import type { HttpResponse } from "./response/http-response.js";
import { judgeResponse, judgeThrown } from "./response/judge-response.js";
import { readRateLimitFeedback } from "./response/rate-limit-feedback.js";
import { type ReadResponse, readArrayBuffer, readJson, readText } from "./response/read-response.js";
import { watchBody } from "./response/watched-body.js";
import { fetchTransport } from "./transport/fetch-transport.js";
import { type Exchange, followRedirects, isRedirect } from "./transport/follow-redirects.js";

/** Sends requests, and retries where that is safe and useful. Every failure is an `HttpError`. */
export interface HttpClient {
  getClientName(): string;
  /** Returns the parsed body, or undefined if it is empty. The only method that uses the cache. */
  requestJson<T>(options: HttpRequestOptions): Promise<T>;
  requestText(options: HttpRequestOptions): Promise<string>;
  requestArrayBuffer(options: HttpRequestOptions): Promise<ArrayBuffer>;
  /**
   * Returns the response as soon as its headers have arrived, body unread. After that nothing is retried: the
   * caller reads the body, or cancels it.
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
  readonly #wallNow: () => number;
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
    this.#wallNow = () => this.#clock.wallNow();
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

  requestJson<T>(options: HttpRequestOptions): Promise<T> {
    const call = this.#open(options);
    const { cache } = this.#config;
    const { cacheKey, cacheTtlMs = 0 } = options;
    if (cache === undefined || cacheKey === undefined) return this.#execute(call, readJson<T>);
    return this.#throughCache(call, cache, cacheKey, cacheTtlMs);
  }

  async #throughCache<T>(call: Call, cache: HttpCache, cacheKey: string, cacheTtlMs: number): Promise<T> {
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
    const { resilience, budget } = options;
    const profile =
      resilience === undefined && budget === undefined
        ? this.#defaultProfile
        : resolveResilience([this.#config.defaultResilience, resilience], budget);
    // Reading the clock is not free, and only a deadline or an observer needs the start time of a request.
    const timed = this.#observer.active || profile.overallTimeoutMs !== Number.POSITIVE_INFINITY;
    return new Call(options, this.#config, profile, timed ? this.#clock.monotonicNow() : 0);
  }

  /**
   * Runs a logical request and reports its single outcome. Without a reader the result is the response
   * itself.
   */
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

  /** Attempts until one succeeds, a failure is final, or no attempts or time are left. */
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
          requestId: call.request.correlation.requestId,
          attempt,
          delayMs,
          category: failure.category,
          status: failure.status,
        });
        const { onRetry } = call.options;
        if (onRetry !== undefined) {
          this.#observer.quietly("onRetry", () => onRetry({ error: failure, attempt, delayMs }));
        }
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
    // Each `await` below that most clients do not need is behind a condition: a request pays only for what it
    // uses.
    const { baseUrl, resolveBaseUrl, responseClassifier, maxResponseBytes } = this.#config;
    const intercepted = this.#interceptors.length > 0;
    call.attempts = attempt;
    call.status = 0;
    // Without interceptors or a gate nothing would see the copy, so none is made.
    const request = intercepted || this.#gate.active ? this.#copyForAttempt(call, attempt) : call.options;
    const watch = this.#watch(call);
    let admission: Admission | undefined;
    let failure: HttpError | undefined;
    let handedOver = false;
    try {
      if (call.hasDeadline && this.#clock.monotonicNow() >= call.deadlineAt)
        throw call.interruption("overall");
      if (watch.failure !== undefined) throw watch.failure;
      if (intercepted) await this.#beforeSend(request, watch);
      const base = resolveBaseUrl === undefined ? baseUrl : await this.#resolveBase(request, watch);
      const composed = call.composed ?? this.#compose(call, request, base, intercepted);
      if (this.#gate.active) admission = await this.#gate.admit(call, request, composed.url, watch);

      watch.startAttempt(call.profile.perAttemptTimeoutMs);
      // Taken out of the object first: a browser's `fetch` refuses to be called as a method of another
      // object.
      const transport = this.#transport;
      const sent = transport(composed.url, toTransportInit(composed, request.fetchOptions, watch));
      const first = await watch.guard(sent, discard);
      const answer = isRedirect(first)
        ? await this.#follow({ request: composed, answer: first }, request.fetchOptions, watch)
        : first;
      const response = this.#receive(call, answer, watch, answer !== first);
      if (this.#gate.active || this.#observer.active) this.#readLimits(call, response, admission);

      if (!response.ok || responseClassifier !== undefined) {
        failure = await judgeResponse(this.#config, this.#observer, call, response, this.#wallNow);
        if (watch.failure !== undefined) throw watch.failure;
      }
      call.status = failure?.status ?? response.status;
      if (failure === undefined) {
        const maxBytes = request.maxResponseBytes ?? maxResponseBytes ?? Number.POSITIVE_INFINITY;
        const value = read === undefined ? (response as T) : await read(call, response, maxBytes);
        if (intercepted) await this.#afterResponse(request, response, attempt, watch);
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

  #copyForAttempt(call: Call, attempt: number): HttpRequestOptions {
    return { ...call.request, headers: this.#headers(call.options), attempt };
  }

  #headers(options: HttpRequestOptions): HttpHeaders {
    const headers = addHeaders({ ...this.#defaultHeaders }, options.headers);
    if (options.idempotencyKey !== undefined) headers["idempotency-key"] = options.idempotencyKey;
    return headers;
  }

  #compose(
    call: Call,
    request: HttpRequestOptions,
    baseUrl: string | undefined,
    intercepted: boolean,
  ): ComposedRequest {
    // An interceptor may have added headers in any letter case.
    const headers = intercepted ? addHeaders({}, request.headers) : this.#headers(call.options);
    const composed = composeRequest(call, request, headers, baseUrl);
    // A request that no interceptor can change is composed once: a retry then sends what was sent before,
    // even if the caller has changed the request's objects meanwhile.
    if (!intercepted) call.composed = composed;
    call.url = composed.url;
    call.replayable = composed.encoded.replayable;
    return composed;
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

  async #resolveBase(request: HttpRequestOptions, watch: AttemptWatch): Promise<string | undefined> {
    const { baseUrl } = this.#config;
    if (baseUrl !== undefined || !needsBaseUrl(request)) return baseUrl;
    const resolved = this.#config.resolveBaseUrl?.(request);
    return isPromise(resolved) ? watch.guard(resolved) : resolved;
  }

  #follow(
    first: Exchange,
    fetchOptions: HttpRequestOptions["fetchOptions"],
    watch: AttemptWatch,
  ): Promise<TransportResponse> {
    const transport = this.#transport;
    const send = (next: ComposedRequest, redirect: "manual" | "follow"): Promise<TransportResponse> =>
      watch.guard(transport(next.url, toTransportInit(next, fetchOptions, watch, redirect)), discard);
    return followRedirects(first, fetchOptions?.redirect ?? "follow", send, (step) => watch.guard(step));
  }

  #receive(call: Call, answer: TransportResponse, watch: AttemptWatch, redirected: boolean): ClientResponse {
    const inner = bodyOf(answer);
    if (inner === null) {
      watch.bodyEnded();
      return new ClientResponse(answer, null, redirected);
    }
    return new ClientResponse(
      answer,
      watchBody(inner, watch, (error) => this.#toFailure(call, error)),
      redirected,
    );
  }

  #readLimits(call: Call, response: ClientResponse, admission: Admission | undefined): void {
    const feedback = readRateLimitFeedback(response.headers, response.status, this.#wallNow);
    if (feedback === undefined) return;
    call.rateLimitFeedback = feedback;
    admission?.report(
      feedback,
      readRetryAfterMs((name) => response.header(name), this.#wallNow),
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

  /** Returns the wait before the next attempt, or undefined if there must be none. */
  #retryDelay(call: Call, attempt: number, failure: HttpError): number | undefined {
    const { profile } = call;
    if (!failure.retryable || !call.replayable || attempt >= profile.maxAttempts) return undefined;
    const random = this.#config.random ?? Math.random;
    const delayMs = backoffDelayMs(attempt, profile, random, failure.fallback?.retryAfterMs);
    // A wait that would end after the deadline is useless: the caller gets the failure now.
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

  /** Runs an interceptor. It can neither fail the request nor delay it beyond its deadline. */
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
    return new AttemptWatch(this.#clock, call.options.signal, limits, call.interruption);
  }

  #toFailure(call: Call, error: unknown): HttpError {
    return judgeThrown(this.#config, this.#observer, call, error);
  }
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
