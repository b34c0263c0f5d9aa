import type { Clock } from "./clock.js";
import type {
  CircuitBreaker,
  ErrorClassifier,
  HttpCache,
  HttpRequestInterceptor,
  HttpTransport,
  Logger,
  MetricsSink,
  RateLimiter,
  ResponseClassifier,
  TracingAdapter,
} from "./ports.js";
import type { AgentContext, HttpHeaders, HttpRequestOptions } from "./request/request-options.js";
import type { ResilienceProfile } from "./resilience/resilience.js";
import type { HttpResponse } from "./response/http-response.js";

/** Configuration of a client. Only the name is required. */
export interface HttpClientConfig {
  clientName: string;
  baseUrl?: string;
  /**
   * Default: the platform's `fetch`. On Node, `createNodeTransport` of `@parley/http/node` costs a quarter of
   * that.
   */
  transport?: HttpTransport;
  defaultHeaders?: HttpHeaders;
  defaultResilience?: ResilienceProfile;
  /** Used by requests without an agent context. */
  defaultAgentContext?: AgentContext;
  interceptors?: readonly HttpRequestInterceptor[];
  logger?: Logger;
  metrics?: MetricsSink;
  tracing?: TracingAdapter;
  cache?: HttpCache;
  rateLimiter?: RateLimiter;
  circuitBreaker?: CircuitBreaker;
  responseClassifier?: ResponseClassifier;
  /** Default: `DefaultErrorClassifier`. */
  errorClassifier?: ErrorClassifier;
  /** Called for a base URL when neither the request nor `baseUrl` has one. */
  resolveBaseUrl?(request: HttpRequestOptions): string | undefined | Promise<string | undefined>;
  /** The limit for requests that set none. See `HttpRequestOptions.maxResponseBytes`. */
  maxResponseBytes?: number;
  /** Source of time, for tests. Default: the system clock. */
  clock?: Clock;
  /** A number in [0, 1) for jitter. Default: `Math.random`. */
  random?(): number;
  /** Default: a random UUID. */
  createRequestId?(): string;
  /** The older form of an interceptor's `beforeSend`; runs before all interceptors. */
  beforeRequest?(request: HttpRequestOptions): void | Promise<void>;
  /** The older form of an interceptor's `afterResponse`; runs after all interceptors. */
  afterResponse?(request: HttpRequestOptions, response: HttpResponse): void | Promise<void>;
  /** Runs around each logical request, including retries. The caller receives any error it throws. */
  policyWrapper?<T>(execute: () => Promise<T>, request: HttpRequestOptions): Promise<T>;
}
