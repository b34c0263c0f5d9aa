export { readBytes } from "./body-source.js";
export { MemoryCircuitBreaker, type MemoryCircuitBreakerOptions } from "./circuit-breaker.js";
export { DefaultErrorClassifier } from "./classify.js";
export { type Clock, systemClock } from "./clock.js";
export { createDefaultHttpClient } from "./create-default-http-client.js";
export {
  type ErrorCategory,
  type FallbackHint,
  HttpError,
  type HttpErrorDetails,
  TimeoutError,
  type TimeoutKind,
} from "./errors.js";
export { fetchTransport } from "./fetch-transport.js";
export { DefaultHttpClient, type HttpClient } from "./http-client.js";
export type { HttpClientConfig } from "./http-client-config.js";
export type { ByteSource, HttpResponse } from "./http-response.js";
export { MemoryHttpCache, type MemoryHttpCacheOptions } from "./memory-cache.js";
export type {
  AttemptContext,
  CircuitBreaker,
  CircuitEntry,
  ClassifiedError,
  ErrorClassifier,
  HttpCache,
  HttpRequestInterceptor,
  HttpTransport,
  Logger,
  MetricsSink,
  RateLimiter,
  RequestDescription,
  RequestMetrics,
  RequestOutcome,
  ResponseClassification,
  ResponseClassifier,
  TracingAdapter,
  TracingSpan,
  TransportInit,
  TransportResponse,
} from "./ports.js";
export { type RateLimitFeedback, readRateLimitFeedback } from "./rate-limit-feedback.js";
export type {
  AgentContext,
  CorrelationInfo,
  Extensions,
  HttpHeaders,
  HttpMethod,
  HttpRequestOptions,
  Query,
  QueryValue,
  UrlParts,
} from "./request-options.js";
export type { RequestBudget, ResilienceProfile } from "./resilience.js";
export { type ResilientFetchOptions, resilientFetch } from "./resilient-fetch.js";
export { SseLimitError } from "./sse-limit-error.js";
export {
  createSseParser,
  type SseEnding,
  type SseEvent,
  type SseLimits,
  type SseParser,
  type SseParserOptions,
} from "./sse-parser.js";
export { consumeSse, type ReadSseOptions, readSse, readSseBatches, type SseReading } from "./sse-reader.js";
export { type TokenBucketOptions, TokenBucketRateLimiter } from "./token-bucket.js";
