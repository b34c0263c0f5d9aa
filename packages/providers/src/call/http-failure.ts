import { type ErrorCode, isParleyError, ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import { type ErrorCategory, HttpError, SseLimitError } from "@parley/http";

/** Content of a provider's error payload, if there is one. */
export interface ProviderFailure {
  /** Absent if the payload has only human-readable text: then the status decides. */
  readonly code?: ErrorCode | undefined;
  /** The provider's message, for people. */
  readonly message?: string | undefined;
  readonly retryable?: boolean;
  /** The provider's own code, for programs that know it. */
  readonly reason?: string | undefined;
  /** The context window in tokens that the provider named when it refused a request as too long. */
  readonly contextWindow?: number;
}

/**
 * Reads an error payload: of a failed response, or (with status 0) one inside a stream. Returns undefined if
 * it adds nothing to the status.
 */
export type ReadFailure = (body: unknown, status: number) => ProviderFailure | undefined;

const codes: Record<ErrorCategory, ErrorCode> = {
  none: "provider_rejected",
  auth: "provider_auth",
  validation: "provider_rejected",
  not_found: "provider_rejected",
  quota: "quota_exceeded",
  rate_limit: "rate_limited",
  timeout: "timeout",
  transient: "provider_overloaded",
  network: "network",
  canceled: "canceled",
  unknown: "provider_rejected",
};

const longestMessage = 500;

/**
 * Converts any failure of a call to a `ParleyError`. The provider's payload decides if it is understood,
 * otherwise the category of the HTTP layer. Texts are bounded, and never contain a request header.
 */
export function toProviderError(error: unknown, provider: string, readFailure: ReadFailure): ParleyError {
  if (isParleyError(error)) return error;
  if (SseLimitError.isInstance(error)) {
    return new ParleyError("answer_too_large", `${provider}: ${error.message}`, { cause: error });
  }
  if (!HttpError.isInstance(error)) {
    return new ParleyError("internal", undefined, { cause: error });
  }
  const said = error.body === undefined ? undefined : readFailure(parseJson(error.body), error.status);
  const retryable = said?.retryable ?? (said?.code === undefined ? error.retryable : undefined);
  const requestId = error.headers?.["x-request-id"] ?? error.headers?.["request-id"];
  return failureError(provider, said ?? {}, {
    cause: error,
    code: codeOf(error),
    message: error.message,
    retryable,
    retryAfterMs: error.fallback?.retryAfterMs,
    details: {
      ...(error.status === 0 ? {} : { status: error.status }),
      ...omitUndefined({ requestId }),
    },
  });
}

/** Converts a failure that a provider reported inside its stream, after it had answered 200. */
export function toStreamError(payload: unknown, provider: string, readFailure: ReadFailure): ParleyError {
  const said = readFailure(payload, 0) ?? {};
  return failureError(provider, said, {
    code: "provider_rejected",
    message: "the provider reported a failure inside its stream",
    retryable: said.retryable,
  });
}

/**
 * Creates the failure of an answer that violates the provider's protocol. Not retried: it would happen again.
 */
export function unreadableAnswer(provider: string, problem: string, cause?: unknown): ParleyError {
  return new ParleyError("provider_rejected", `${provider}: the answer cannot be read: ${problem}`, {
    ...omitUndefined({ cause }),
  });
}

function failureError(
  provider: string,
  said: ProviderFailure,
  known: {
    cause?: unknown;
    code: ErrorCode;
    message: string;
    retryable: boolean | undefined;
    retryAfterMs?: number | undefined;
    details?: Record<string, unknown>;
  },
): ParleyError {
  const details = { ...known.details, ...failureDetails(said) };
  return new ParleyError(said.code ?? known.code, `${provider}: ${clip(said.message ?? known.message)}`, {
    cause: known.cause,
    ...omitUndefined({ retryable: known.retryable, retryAfterMs: known.retryAfterMs }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  });
}

/** Returns the error details from a provider's payload. */
export function failureDetails({ reason, contextWindow }: ProviderFailure): Record<string, unknown> {
  return {
    ...omitUndefined({ reason, contextWindow }),
  };
}

function codeOf(error: HttpError): ErrorCode {
  // A connection without a response does not mean an overloaded provider.
  if (error.category === "transient" && error.status === 0) return "network";
  if (error.status === 413) return "too_large";
  return codes[error.category];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function clip(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage)}…`;
}
