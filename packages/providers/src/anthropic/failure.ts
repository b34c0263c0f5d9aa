import type { ErrorCode } from "@parley/core/errors";
import type { ProviderFailure } from "../call/http-failure.js";
import { readOverflow } from "../call/read-overflow.js";

// The API's machine-readable types.
const byType: Readonly<Record<string, ErrorCode>> = {
  authentication_error: "provider_auth",
  permission_error: "provider_auth",
  billing_error: "quota_exceeded",
  rate_limit_error: "rate_limited",
  overloaded_error: "provider_overloaded",
  api_error: "provider_overloaded",
  conflict_error: "provider_overloaded",
  timeout_error: "timeout",
  not_found_error: "model_unavailable",
  request_too_large: "too_large",
  invalid_request_error: "provider_rejected",
};

/**
 * Reads an error payload: `{ type: "error", error: { type, message, details } }`, of a response or an event.
 * A prompt that is too long has the same type as every other invalid request: only the limit in its message
 * distinguishes it.
 */
export function readAnthropicFailure(body: unknown, status = 0): ProviderFailure | undefined {
  const payload = payloadOf(body);
  if (payload === undefined) return undefined;
  const { type, message, details } = payload;
  const said = typeof message === "string" && message !== "" ? message : undefined;
  const detail = (details as { error_code?: unknown } | null | undefined)?.error_code;
  const reason = typeof detail === "string" ? detail : typeof type === "string" ? type : undefined;
  const code = typeof type === "string" ? byType[type] : undefined;
  return readOverflow({ code, message: said, reason }, payload, status);
}

function payloadOf(body: unknown): Record<string, unknown> | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const { error } = body as { error?: unknown };
  if (typeof error === "object" && error !== null) return error as Record<string, unknown>;
  return body as Record<string, unknown>;
}
