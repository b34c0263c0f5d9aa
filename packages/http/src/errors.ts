import type { AgentContext, CorrelationInfo, HttpHeaders } from "./request/request-options.js";
import type { HttpResponse } from "./response/http-response.js";

/** What kind of failure it was, in words that a policy can switch on. */
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

/** Advice that travels with a failure. */
export interface FallbackHint {
  /** How long the server, or a classifier, asked to wait before another try. */
  retryAfterMs?: number;
  /** An operation that may serve instead. */
  degradeToOperation?: string;
}

/** What an {@link HttpError} is made of. */
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

// Registered symbols, so that errors of a second copy of this package are recognised too.
const HTTP_ERROR = Symbol.for("parley.http.error");
const TIMEOUT_ERROR = Symbol.for("parley.http.timeout");

/**
 * Every failure of a request. The message names the operation, the host and the status, never a URL's query
 * or a request header, so it is safe to log.
 */
export class HttpError extends Error {
  override readonly name: string = "HttpError";
  /** The response's status, or 0 where no response arrived or its body broke. */
  readonly status: number;
  readonly category: ErrorCategory;
  /** Whether another try may succeed. The client has already spent the attempts it was allowed. */
  readonly retryable: boolean;
  /** A machine-readable detail: an error code of the server, of the socket, or of this client. */
  readonly reason?: string;
  /** The start of the response's body as text. */
  readonly body?: string;
  /** The response's headers, with lower-case names. */
  readonly headers?: HttpHeaders;
  readonly fallback?: FallbackHint;
  /** The failed response; its body can still be read as far as it was kept. */
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
      // Not enumerable: a logged error should not drag a response object along.
      Object.defineProperty(this, "response", { value: details.response, enumerable: false });
    }
    Object.defineProperty(this, HTTP_ERROR, { value: true, enumerable: false });
  }

  /** Recognises an `HttpError`, also one made by another copy of this package. */
  static isInstance(value: unknown): value is HttpError {
    return hasBrand(value, HTTP_ERROR);
  }
}

/** Which of a request's clocks ran out. */
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

  /** Recognises a `TimeoutError`, also one made by another copy of this package. */
  static override isInstance(value: unknown): value is TimeoutError {
    return hasBrand(value, TIMEOUT_ERROR);
  }
}

function hasBrand(value: unknown, brand: symbol): boolean {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}
