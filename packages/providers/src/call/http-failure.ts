import { type ErrorCode, isParleyError, ParleyError } from "@parley/core/errors";
import { type ErrorCategory, HttpError, SseLimitError } from "@parley/http";

/** What a provider's own error payload says, where there is one. */
export interface ProviderFailure {
  readonly code: ErrorCode;
  /** The provider's words, for people. */
  readonly message?: string | undefined;
  readonly retryable?: boolean;
}

/** Reads a failed response's body; undefined where it says nothing more than its status. */
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
 * Any failure of a call as a `ParleyError`. The provider's payload decides where it is understood, else the
 * category of the HTTP layer. Texts are bounded, and no request header ever is among them.
 */
export function toProviderError(error: unknown, provider: string, readFailure: ReadFailure): ParleyError {
  if (isParleyError(error)) return error;
  if (error instanceof SseLimitError) {
    return new ParleyError("provider_rejected", `${provider}: ${error.message}`, { cause: error });
  }
  if (!HttpError.isInstance(error)) {
    return new ParleyError("internal", undefined, { cause: error });
  }
  const said = error.body === undefined ? undefined : readFailure(parseJson(error.body), error.status);
  const retryAfterMs = error.fallback?.retryAfterMs;
  const code = said?.code ?? codeOf(error);
  const retryable = said?.retryable ?? (said === undefined ? error.retryable : undefined);
  const text = said?.message ?? error.message;
  return new ParleyError(code, `${provider}: ${clip(text)}`, {
    cause: error,
    ...(retryable === undefined ? {} : { retryable }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(error.status === 0 ? {} : { details: { status: error.status } }),
  });
}

function codeOf(error: HttpError): ErrorCode {
  // A connection that never answered is not an overloaded provider.
  if (error.category === "transient" && error.status === 0) return "network";
  if (error.status === 413) return "context_overflow";
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
