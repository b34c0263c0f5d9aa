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
export { DefaultHttpClient, type HttpClient } from "./http-client.js";
export type { HttpClientConfig } from "./http-client-config.js";
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
export { readBytes } from "./request/body-source.js";
export { jsonText } from "./request/encode-body.js";
export type {
  AgentContext,
  CorrelationInfo,
  Extensions,
  HttpHeaders,
  HttpMethod,
  HttpRequestOptions,
  HttpRetry,
  Query,
  QueryValue,
  UrlParts,
} from "./request/request-options.js";
export { MemoryCircuitBreaker, type MemoryCircuitBreakerOptions } from "./resilience/circuit-breaker.js";
export type { RequestBudget, ResilienceProfile } from "./resilience/resilience.js";
export { type TokenBucketOptions, TokenBucketRateLimiter } from "./resilience/token-bucket.js";
export { type ResilientFetchOptions, resilientFetch } from "./resilient-fetch.js";
export { DefaultErrorClassifier } from "./response/classify.js";
export type { ByteSource, HttpResponse } from "./response/http-response.js";
export { type RateLimitFeedback, readRateLimitFeedback } from "./response/rate-limit-feedback.js";
export { SseLimitError } from "./sse/sse-limit-error.js";
export {
  createSseParser,
  type SseEnding,
  type SseEvent,
  type SseLimits,
  type SseParser,
  type SseParserOptions,
} from "./sse/sse-parser.js";
export {
  consumeSse,
  type ReadSseOptions,
  readSse,
  readSseBatches,
  type SseReading,
} from "./sse/sse-reader.js";
export { fetchTransport } from "./transport/fetch-transport.js";
