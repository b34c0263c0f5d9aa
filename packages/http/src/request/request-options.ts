import type { HttpError } from "../errors.js";
import type { RequestBudget, ResilienceProfile } from "../resilience/resilience.js";

/** The methods a request may use. */
export type HttpMethod = "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Headers by name. Names are compared without regard to case; the client sends them in lower case. */
export type HttpHeaders = Record<string, string>;

/** One query value; undefined and null are omitted. */
export type QueryValue = string | number | boolean | null | undefined;

/** Query parameters; an array repeats its name. */
export type Query = Record<string, QueryValue | readonly QueryValue[]>;

/** A URL in parts. An absolute `path` is a complete URL. */
export interface UrlParts {
  baseUrl?: string;
  path?: string;
  query?: Query;
}

/** Identifiers for following a request through logs. */
export interface CorrelationInfo {
  /** One per logical request, the same for all its attempts. Default: a random UUID. */
  requestId: string;
  correlationId?: string;
  parentCorrelationId?: string;
}

/** Agent on whose behalf a request is made. Never sent: it is for interceptors, metrics and traces. */
export interface AgentContext {
  agent?: string;
  runId?: string;
  labels?: Record<string, string>;
  metadata?: Record<string, unknown>;
}

/** Free-form annotations for interceptors and telemetry. Never sent. */
export type Extensions = Record<string, unknown>;

/** A failed attempt after which the request is sent again. */
export interface HttpRetry {
  readonly error: HttpError;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  /** The wait before the next attempt. */
  readonly delayMs: number;
}

/** One logical request. The client may send it several times. */
export interface HttpRequestOptions {
  /** A stable name of the operation, for metrics, traces and messages. */
  operation: string;
  method: HttpMethod;
  /** The whole URL, used as it is. Overrides `urlParts`. */
  url?: string;
  urlParts?: UrlParts;
  /**
   * A `BodyInit` is sent as it is; any other value is sent as JSON with a content type; null and undefined
   * send nothing. A stream (or async iterable) can be sent only once, so such a request is never retried.
   */
  body?: unknown;
  headers?: HttpHeaders;
  /** Sent as `idempotency-key` with every attempt. */
  idempotencyKey?: string;
  resilience?: ResilienceProfile;
  budget?: RequestBudget;
  /** Lets `requestJson` answer from the client's cache. */
  cacheKey?: string;
  /** Time that `requestJson` keeps its response under `cacheKey`; without it nothing is kept. */
  cacheTtlMs?: number;
  correlation?: Partial<CorrelationInfo>;
  agentContext?: AgentContext;
  extensions?: Extensions;
  /** Ends the request at any stage: its error has the category `canceled`, and it is never retried. */
  signal?: AbortSignal;
  /**
   * Called before each wait for another attempt, with the failure of the last one. An error thrown here is
   * only logged.
   */
  onRetry?: (retry: HttpRetry) => void;
  /**
   * Maximum size in bytes that `requestJson`, `requestText` and `requestArrayBuffer` accept. Default: no
   * limit.
   */
  maxResponseBytes?: number;
  /**
   * Leaves the rest of a large error body readable on `HttpError.response` instead of closing it. A caller
   * that sets it must read or cancel that body.
   */
  keepErrorBody?: boolean;
  /** Platform options passed to the transport unchanged: `redirect`, `credentials`, `mode` and the like. */
  fetchOptions?: Omit<RequestInit, "method" | "headers" | "body" | "signal">;
  /** Number of the attempt, from 1. Set by the client on the copy that interceptors see. */
  attempt?: number;
  /** The older form of `urlParts.path`. */
  path?: string;
  /** The older form of `urlParts.query`. */
  query?: Query;
  /** Sent as the query parameter `limit`. */
  pageSize?: number;
  /** Sent as the query parameter `offset`. */
  pageOffset?: number;
}
