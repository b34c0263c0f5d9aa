import type { ErrorCode } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { ProviderFailure } from "../call/http-failure.js";
import { readOverflow } from "../call/read-overflow.js";

// The machine-readable codes and types of the API, and of servers with the same protocol. Never its English
// text.
const byCode: Readonly<Record<string, ErrorCode>> = {
  rate_limit_exceeded: "rate_limited",
  rate_limit_error: "rate_limited",
  too_many_requests: "rate_limited",
  tokens: "rate_limited",
  requests: "rate_limited",
  insufficient_quota: "quota_exceeded",
  insufficient_balance: "quota_exceeded",
  insufficient_credits: "quota_exceeded",
  quota_exceeded: "quota_exceeded",
  billing_hard_limit_reached: "quota_exceeded",
  billing_not_active: "quota_exceeded",
  context_length_exceeded: "context_overflow",
  exceed_context_size_error: "context_overflow",
  request_too_large: "too_large",
  invalid_api_key: "provider_auth",
  invalid_authentication: "provider_auth",
  authentication_error: "provider_auth",
  account_deactivated: "provider_auth",
  permission_error: "provider_auth",
  permission_denied: "provider_auth",
  unsupported_country_region_territory: "provider_auth",
  content_filter: "content_filtered",
  content_policy_violation: "content_filtered",
  image_content_policy_violation: "content_filtered",
  responsibleaipolicyviolation: "content_filtered",
  invalid_prompt: "content_filtered",
  bio_policy: "content_filtered",
  cyber_policy: "content_filtered",
  model_not_found: "model_unavailable",
  server_error: "provider_overloaded",
  internal_server_error: "provider_overloaded",
  internal_error: "provider_overloaded",
  service_unavailable: "provider_overloaded",
  service_unavailable_error: "provider_overloaded",
  server_is_overloaded: "provider_overloaded",
  engine_overloaded: "provider_overloaded",
  overloaded_error: "provider_overloaded",
  slow_down: "provider_overloaded",
  vector_store_timeout: "timeout",
  timeout: "timeout",
};

/**
 * Reads an error payload in every known shape: `{ error: { code, type, message } }`, the fields themselves
 * (an `error` event, `response.error`), a plain text, and the numbers that routers use as codes.
 */
export function readOpenAIFailure(body: unknown, status: number): ProviderFailure | undefined {
  const payload = payloadOf(body);
  if (payload === undefined) return undefined;
  const message = textIn(payload.message) ?? textIn(payload.detail);
  const names = [payload.code, payload.type].filter((name) => typeof name === "string" && name !== "error");
  const known = names.map((name) => byCode[String(name).toLowerCase()]).find((code) => code !== undefined);
  const [reason] = names;
  // The HTTP status already says as much as a number in the payload; inside a stream there is only the
  // number.
  const code = known ?? (status === 0 ? byNumber(payload.code) : undefined);
  const failure: ProviderFailure = {
    ...omitUndefined({ code, message }),
    ...(reason === undefined ? {} : { reason: String(reason) }),
  };
  return readOverflow(failure, payload, status);
}

function payloadOf(body: unknown): Record<string, unknown> | undefined {
  if (typeof body === "string") return { message: body };
  const outer = Array.isArray(body) ? (body[0] as unknown) : body;
  if (typeof outer !== "object" || outer === null) return undefined;
  const { error } = outer as { error?: unknown };
  // Ollama passes on the payload of the server behind it as a string.
  if (typeof error === "string") return payloadIn(error) ?? { ...outer, message: error };
  if (typeof error === "object" && error !== null) return error as Record<string, unknown>;
  return outer as Record<string, unknown>;
}

function payloadIn(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith('{"error":{')) return undefined;
  try {
    return payloadOf(JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function byNumber(code: unknown): ErrorCode | undefined {
  const status = typeof code === "number" ? code : Number.parseInt(String(code), 10);
  if (status === 401 || status === 403) return "provider_auth";
  if (status === 402) return "quota_exceeded";
  if (status === 408) return "timeout";
  if (status === 413) return "too_large";
  if (status === 429) return "rate_limited";
  return status >= 500 && status < 600 ? "provider_overloaded" : undefined;
}
