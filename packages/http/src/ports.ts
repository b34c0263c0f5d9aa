import type { ErrorCategory, FallbackHint, HttpError } from "./errors.js";
import type {
  AgentContext,
  CorrelationInfo,
  Extensions,
  HttpHeaders,
  HttpMethod,
  HttpRequestOptions,
} from "./request/request-options.js";
import type { HttpResponse } from "./response/http-response.js";
import type { RateLimitFeedback } from "./response/rate-limit-feedback.js";

/** Request passed to a transport. It is a `RequestInit`, so `fetch` itself is a transport. */
export interface TransportInit extends RequestInit {
  method: string;
  /** Lower-case names, values checked. */
  headers: HttpHeaders;
  /** Aborted when the attempt ends early; the transport must then close the socket, body included. */
  readonly signal: AbortSignal;
  /**
   * The same notification as `signal`, for a transport that needs only one callback: calls `listener` once if
   * the attempt ends early, at once if it already has. Reading `signal` creates one, which is not cheap.
   */
  onAbort?(listener: (reason: unknown) => void): void;
  /** Set for a stream body, as `fetch` requires. */
  duplex?: "half";
}

/** Response of a transport, returned as soon as the headers have arrived. A fetch `Response` is one. */
export interface TransportResponse {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly redirected: boolean;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array> | null;
  /** Reads one header by its lower-case name without building `headers`. */
  header?(name: string): string | null;
  /** The push path of a byte source; used instead of `body` if present. */
  readonly consume?: ((onChunk: (chunk: Uint8Array) => void | Promise<void>) => Promise<void>) | undefined;
  /** Gives up the body. Never throws. Present whenever `consume` is. */
  cancel?(reason?: unknown): void;
}

/** Sends one attempt. Rejects when no response arrives. */
export type HttpTransport = (url: string, init: TransportInit) => Promise<TransportResponse>;

/**
 * Observes every attempt. Interceptors run in the order given before sending and in reverse afterwards; one
 * that throws is logged and skipped. `request` is the attempt's own copy: `beforeSend` may change it.
 */
export interface HttpRequestInterceptor {
  beforeSend?(context: { request: HttpRequestOptions; signal: AbortSignal }): void | Promise<void>;
  /** The body of `requestRaw` is not read yet and belongs to the caller: use `clone()` to inspect it. */
  afterResponse?(context: {
    request: HttpRequestOptions;
    response: HttpResponse;
    attempt: number;
  }): void | Promise<void>;
  onError?(context: { request: HttpRequestOptions; error: HttpError; attempt: number }): void | Promise<void>;
}

/** Stores parsed JSON responses. A failing cache is logged and treated as a miss. */
export interface HttpCache {
  /** Returns the value stored under `key`, or undefined. */
  get(key: string): unknown | Promise<unknown>;
  set(key: string, value: unknown, ttlMs: number): void | Promise<void>;
}

/** Description of an attempt, for a limiter and a breaker. */
export interface AttemptContext {
  clientName: string;
  /** The origin that the attempt goes to. */
  origin: string;
  request: HttpRequestOptions;
}

/** Delays attempts. */
export interface RateLimiter {
  /** Resolves when the attempt may be sent. Must stop waiting when the signal aborts. A rejection fails the attempt. */
  acquire(context: AttemptContext, signal: AbortSignal): void | Promise<void>;
  /** Called after every response with what the server reported about limits. */
  report?(context: AttemptContext, feedback: RateLimitFeedback, retryAfterMs: number | undefined): void;
}

/** Result of entering a circuit breaker: a permit that must be settled once, or a refusal. */
export type CircuitEntry =
  | { readonly admitted: true; settle(result: "success" | "failure" | "ignored"): void }
  | { readonly admitted: false; readonly retryAfterMs: number };

/** Stops attempts to a destination that keeps failing. */
export interface CircuitBreaker {
  enter(context: AttemptContext): CircuitEntry | Promise<CircuitEntry>;
}

/** Receives the client's log messages. */
export interface Logger {
  debug(message: string, details?: Record<string, unknown>): void;
  info(message: string, details?: Record<string, unknown>): void;
  warn(message: string, details?: Record<string, unknown>): void;
  error(message: string, details?: Record<string, unknown>): void;
}

/**
 * The end of a logical request, reported once. For `requestRaw` it is the moment its response is handed over:
 * the body may still be in transit.
 */
export interface RequestOutcome {
  ok: boolean;
  /** 0 if no response arrived. */
  status?: number;
  errorCategory?: ErrorCategory;
  attempts: number;
  /** `finishedAt` minus the measured duration: a change of the wall clock meanwhile does not distort it. */
  startedAt: Date;
  finishedAt: Date;
  rateLimitFeedback?: RateLimitFeedback;
}

/** Description of a request, for spans and metrics. */
export interface RequestDescription {
  clientName: string;
  operation: string;
  method: HttpMethod;
  correlation: CorrelationInfo;
  agentContext?: AgentContext;
  extensions?: Extensions;
}

/** One logical request, for metrics. */
export interface RequestMetrics extends RequestDescription {
  outcome: RequestOutcome;
  durationMs: number;
  /** True if the cache answered and nothing was sent. */
  fromCache: boolean;
}

/** Receives one record per logical request. */
export interface MetricsSink {
  recordRequest(info: RequestMetrics): void | Promise<void>;
}

/** One span per logical request. */
export interface TracingSpan {
  end(outcome: RequestOutcome, error?: unknown): void | Promise<void>;
}

/** Starts spans named `client.operation`. */
export interface TracingAdapter {
  startSpan(name: string, context: RequestDescription): TracingSpan | undefined;
}

/** A classifier's result for a failure. */
export interface ClassifiedError {
  category: ErrorCategory;
  statusCode?: number;
  /** Default: true for rate_limit, timeout and transient. */
  retryable?: boolean;
  /** A wait that overrides the server's Retry-After. */
  suggestedBackoffMs?: number;
  reason?: string;
}

/** Sorts failures into categories. */
export interface ErrorClassifier {
  /** `error` is whatever the transport, a limiter or a body threw. */
  classifyNetworkError(error: unknown): ClassifiedError;
  /** `bodyText` is the start of the body. */
  classifyResponse(response: HttpResponse, bodyText?: string): ClassifiedError;
}

/** Result of a response classifier; omitted fields keep their defaults. */
export interface ResponseClassification {
  /** Default: true if the status is not 2xx. */
  treatAsError?: boolean;
  /** Status to use instead of the one received. */
  overrideStatus?: number;
  category?: ErrorCategory;
  fallback?: FallbackHint;
}

/**
 * Decides whether a response counts as a failure. If it throws, the error is logged and the response is
 * classified as usual.
 */
export interface ResponseClassifier {
  /** `bodyText` is present if the status is not 2xx; reading any other body would take it from the caller. */
  classify(
    response: HttpResponse,
    bodyText?: string,
  ): ResponseClassification | undefined | Promise<ResponseClassification | undefined>;
}
