import type { AgentContext, CorrelationInfo, HttpHeaders } from "./request/request-options.js";
import type { HttpResponse } from "./response/http-response.js";

/** Kind of a failure, for policies to switch on. */
export type ErrorCategory =
  | "none"
  | "auth"
  | "validation"
  | "not_found"
  | "quota"
  | "rate_limit"
  | "timeout"
  | "transient"
  | "network"
  | "canceled"
  | "unknown";

/** Advice attached to a failure. */
export interface FallbackHint {
  /** Wait before another attempt, as requested by the server or a classifier. */
  retryAfterMs?: number;
  /** An operation that can be used instead. */
  degradeToOperation?: string;
}

/** Fields of an {@link HttpError}. */
export interface HttpErrorDetails {
  status: number;
  category: ErrorCategory;
  retryable?: boolean;
  reason?: string;
  body?: string;
  headers?: HttpHeaders;
  fallback?: FallbackHint;
  response?: HttpResponse;
  correlation?: CorrelationInfo;
  agentContext?: AgentContext;
  cause?: unknown;
}

// Registered symbols, so that errors of a second copy of this package are recognized too.
const HTTP_ERROR = Symbol.for("parley.http.error");
const TIMEOUT_ERROR = Symbol.for("parley.http.timeout");

/**
 * The error of every failed request. The message names the operation, the host and the status, never a URL's
 * query or a request header, so it is safe to log.
 */
export class HttpError extends Error {
  override readonly name: string = "HttpError";
  /** The response's status, or 0 if no response arrived or its body broke. */
  readonly status: number;
  readonly category: ErrorCategory;
  /** True if another attempt may succeed. The client has already used the attempts it was allowed. */
  readonly retryable: boolean;
  /** A machine-readable detail: an error code of the server, the socket or this client. */
  readonly reason?: string;
  /** The start of the response's body as text. */
  readonly body?: string;
  /** The response's headers, with lower-case names. */
  readonly headers?: HttpHeaders;
  readonly fallback?: FallbackHint;
  /** The failed response; the part of its body that was kept can still be read. */
  readonly response?: HttpResponse;
  readonly correlation?: CorrelationInfo;
  readonly agentContext?: AgentContext;

  constructor(message: string, details: HttpErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.status = details.status;
    this.category = details.category;
    this.retryable = details.retryable ?? false;
    if (details.reason !== undefined) this.reason = details.reason;
    if (details.body !== undefined) this.body = details.body;
    if (details.headers !== undefined) this.headers = details.headers;
    if (details.fallback !== undefined) this.fallback = details.fallback;
    if (details.correlation !== undefined) this.correlation = details.correlation;
    if (details.agentContext !== undefined) this.agentContext = details.agentContext;
    if (details.response !== undefined) {
      // Not enumerable: logging an error should not include the whole response object.
      Object.defineProperty(this, "response", { value: details.response, enumerable: false });
    }
    Object.defineProperty(this, HTTP_ERROR, { value: true, enumerable: false });
  }

  /** Recognizes an `HttpError`, including one created by another copy of this package. */
  static isInstance(value: unknown): value is HttpError {
    return hasBrand(value, HTTP_ERROR);
  }
}

/** The timeout of a request that expired. */
export type TimeoutKind = "attempt" | "overall" | "stall";

/** An attempt took too long, the overall deadline passed, or a body fell silent. Its category is `timeout`. */
export class TimeoutError extends HttpError {
  override readonly name = "TimeoutError";
  readonly kind: TimeoutKind;

  constructor(message: string, kind: TimeoutKind, details: Omit<HttpErrorDetails, "status" | "category">) {
    super(message, { retryable: kind !== "overall", ...details, status: 0, category: "timeout" });
    this.kind = kind;
    Object.defineProperty(this, TIMEOUT_ERROR, { value: true, enumerable: false });
  }

  /** Recognizes a `TimeoutError`, including one created by another copy of this package. */
  static override isInstance(value: unknown): value is TimeoutError {
    return hasBrand(value, TIMEOUT_ERROR);
  }
}

function hasBrand(value: unknown, brand: symbol): boolean {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}
