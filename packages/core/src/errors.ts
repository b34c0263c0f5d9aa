import { omitUndefined } from "@parley/fold";
import type { ErrorCode } from "@parley/wire";

export type { ErrorCode };

interface ErrorTrait {
  readonly status: number;
  readonly retryable: boolean;
  readonly title: string;
}

const traits: Record<ErrorCode, ErrorTrait> = {
  invalid_request: { status: 400, retryable: false, title: "The request is not valid" },
  unauthorized: { status: 401, retryable: false, title: "A valid key is needed" },
  forbidden: { status: 403, retryable: false, title: "This key may not do that" },
  conversation_not_found: { status: 404, retryable: false, title: "No such conversation" },
  message_conflict: {
    status: 409,
    retryable: false,
    title: "This message id was used with another body",
  },
  turn_active: { status: 409, retryable: true, title: "A turn is running in this conversation" },
  conversation_closed: { status: 409, retryable: false, title: "The conversation is closed" },
  queue_full: { status: 429, retryable: true, title: "The queue of this conversation is full" },
  too_large: { status: 413, retryable: false, title: "The input is larger than the limit" },
  limit_exceeded: { status: 429, retryable: true, title: "A limit of this server was reached" },
  draining: { status: 503, retryable: true, title: "This node is shutting down" },
  store_unavailable: { status: 503, retryable: true, title: "The store cannot be reached" },
  stale_fence: { status: 409, retryable: false, title: "Another node has taken over this turn" },
  schema_newer: { status: 500, retryable: false, title: "The database belongs to a newer version" },
  nothing_to_compact: { status: 409, retryable: false, title: "There is nothing to compact" },
  model_unavailable: { status: 400, retryable: false, title: "The model is not configured" },
  context_overflow: {
    status: 413,
    retryable: false,
    title: "The input does not fit the model's window",
  },
  rate_limited: { status: 429, retryable: true, title: "The provider limits the rate" },
  quota_exceeded: { status: 402, retryable: false, title: "The provider's quota is used up" },
  provider_auth: { status: 502, retryable: false, title: "The provider refused the credential" },
  provider_rejected: { status: 502, retryable: false, title: "The provider refused the request" },
  provider_overloaded: { status: 503, retryable: true, title: "The provider is overloaded" },
  content_filtered: { status: 422, retryable: false, title: "The provider filtered the content" },
  timeout: { status: 504, retryable: true, title: "The time limit passed" },
  network: { status: 502, retryable: true, title: "The connection failed" },
  canceled: { status: 499, retryable: false, title: "The call was canceled" },
  tool_failed: { status: 500, retryable: false, title: "A tool failed" },
  already_decided: { status: 409, retryable: false, title: "This request was decided before" },
  answer_too_large: {
    status: 502,
    retryable: false,
    title: "The model's answer is larger than the limit",
  },
  output_invalid: { status: 422, retryable: false, title: "The answer does not match the schema" },
  internal: { status: 500, retryable: false, title: "Something went wrong inside Parley" },
};

/** Every error code, in the order the documentation lists them. */
export const errorCodes = Object.keys(traits) as readonly ErrorCode[];

/** Returns the HTTP status, the short title and the default of `retryable` of a code. */
export function errorTrait(code: ErrorCode): ErrorTrait {
  return traits[code];
}

/** Options of an error beyond its code and message. */
export interface ParleyErrorOptions {
  /** Overrides the code's default if more is known about the cause. */
  readonly retryable?: boolean;
  /** Delay after which a retry makes sense, counted from now. */
  readonly retryAfterMs?: number;
  /** Plain data for programs: never a secret, never message content. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

// A registered symbol, so that two copies of this package recognize each other's errors.
const brand = Symbol.for("parley.error");

/**
 * The one error of Parley. `code` is decided where the cause is known and is what programs branch on;
 * `message` is for people and may change. Neither carries secrets.
 */
export class ParleyError extends Error {
  override readonly name = "ParleyError";
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message?: string, options: ParleyErrorOptions = {}) {
    super(message ?? traits[code].title, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? traits[code].retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
    Object.defineProperty(this, brand, { value: true });
  }

  /** The HTTP status that belongs to the code. */
  get status(): number {
    return traits[this.code].status;
  }

  /** Returns what may leave the process: no stack, no cause. */
  toJSON(): { code: ErrorCode; message: string; retryable: boolean; details?: unknown } {
    return {
      code: this.code,
      message: this.message,
      retryable: this.retryable,
      ...omitUndefined({ details: this.details }),
    };
  }
}

/** Returns the error for one invalid field: `message` names it for people, `details` for programs. */
export function invalidField(
  field: string,
  problem: string,
  code: Extract<ErrorCode, "invalid_request" | "model_unavailable"> = "invalid_request",
): ParleyError {
  return new ParleyError(code, `${field}: ${problem}`, { details: { field, problem } });
}

/** Returns true for a `ParleyError` of this or another copy of the package. */
export function isParleyError(value: unknown): value is ParleyError {
  return typeof value === "object" && value !== null && brand in value;
}

/**
 * Converts any thrown value to a `ParleyError`: one that already is passes through, an abort becomes `canceled`,
 * everything else becomes `fallback` with the original kept as `cause` (which never leaves the process).
 */
export function toParleyError(value: unknown, fallback: ErrorCode = "internal"): ParleyError {
  if (isParleyError(value)) return value;
  if (typeof value === "object" && value !== null && "name" in value && value.name === "AbortError") {
    return new ParleyError("canceled", undefined, { cause: value });
  }
  // The text of an unexpected error was not written for outsiders, so `internal` shows only the title.
  const shown = fallback !== "internal" && value instanceof Error && value.message !== "";
  const message = shown ? value.message : undefined;
  return new ParleyError(fallback, message, { cause: value });
}
