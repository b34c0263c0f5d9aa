import { type ErrorCategory, HttpError } from "../errors.js";
import type { ClassifiedError, ErrorClassifier } from "../ports.js";
import type { HttpResponse } from "./http-response.js";

/** Returns true if failures of a category are retried by default. */
export function isRetryableCategory(category: ErrorCategory): boolean {
  return category === "rate_limit" || category === "timeout" || category === "transient";
}

/**
 * The default rules. By status: 5xx and 409 and 425 transient, 408 timeout, 429 rate_limit or quota, 402
 * quota, 401/403/407 auth, 404/410 not_found, other 4xx validation. Without a response: transient, except
 * timeouts of the platform, and failures that a retry cannot fix (certificates, endless redirects).
 */
export class DefaultErrorClassifier implements ErrorClassifier {
  classifyNetworkError(error: unknown): ClassifiedError {
    if (HttpError.isInstance(error)) {
      return {
        category: error.category,
        retryable: error.retryable,
        ...(error.reason === undefined ? {} : { reason: error.reason }),
      };
    }
    const code = findCode(error);
    const reason = code === undefined ? {} : { reason: code };
    if (isAbort(error)) return { category: "canceled", retryable: false, ...reason };
    if (code === undefined) return { category: "transient", retryable: true };
    if (TIMEOUT_CODES.has(code)) return { category: "timeout", retryable: true, ...reason };
    if (INVALID_CODES.has(code)) return { category: "validation", retryable: false, ...reason };
    if (PERMANENT_CODE.test(code)) return { category: "network", retryable: false, ...reason };
    return { category: "transient", retryable: true, ...reason };
  }

  classifyResponse(response: HttpResponse, bodyText?: string): ClassifiedError {
    const status = response.status;
    const codes = bodyText === undefined ? [] : readErrorCodes(bodyText);
    const quota = status === 402 || (status === 429 && codes.some((code) => QUOTA_CODE.test(code)));
    const category = quota ? "quota" : categoryOf(status);
    return {
      category,
      statusCode: status,
      retryable: isRetryableCategory(category),
      ...(codes[0] === undefined ? {} : { reason: codes[0] }),
    };
  }
}

function categoryOf(status: number): ErrorCategory {
  if (status >= 500) return "transient";
  switch (status) {
    case 401:
    case 403:
    case 407:
      return "auth";
    case 404:
    case 410:
      return "not_found";
    case 408:
      return "timeout";
    case 409:
    case 425:
      return "transient";
    case 429:
      return "rate_limit";
  }
  return status >= 400 ? "validation" : "unknown";
}

// Only machine-readable codes are matched, never the English message. All of these mean that waiting does not
// help until the account is paid or a limit is raised.
const QUOTA_CODE =
  /^(?:insufficient[_-](?:quota|funds|balance|credits?)|quota[_-](?:exceeded|exhausted)|out[_-]of[_-]credits?|credits?[_-].*|.*[_-]credits?|billing[_-].*|.*[_-]billing|payment[_-]required)$/i;

/** Returns the error codes of a JSON error body, most specific first: `code` before `type`, nested or not. */
function readErrorCodes(bodyText: string): string[] {
  const start = bodyText.trimStart();
  if (!start.startsWith("{")) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(start);
  } catch {
    return [];
  }
  const codes: string[] = [];
  const outer = parsed as Record<string, unknown>;
  const inner = outer.error;
  if (typeof inner === "string") codes.push(inner);
  else if (typeof inner === "object" && inner !== null) pushCodes(codes, inner as Record<string, unknown>);
  pushCodes(codes, outer);
  return codes;
}

function pushCodes(codes: string[], from: Record<string, unknown>): void {
  for (const name of ["code", "type"]) {
    const value = from[name];
    if (typeof value === "string" && value !== "" && value !== "error") codes.push(value);
  }
}

const TIMEOUT_CODES = new Set([
  "ETIMEDOUT",
  "ESOCKETTIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
]);
const INVALID_CODES = new Set(["ERR_INVALID_URL", "ERR_INVALID_PROTOCOL", "ERR_UNESCAPED_CHARACTERS"]);
const PERMANENT_CODE = /CERT|^ERR_TLS|^UNABLE_TO_|^HOSTNAME_MISMATCH$|^ERR_(?:TOO_MANY|UNFOLLOWED)_REDIRECT/;

/** Returns the platform's error code, which `fetch` nests one or two causes deep. */
function findCode(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < 4 && typeof current === "object" && current !== null; depth += 1) {
    const { code, cause, errors } = current as { code?: unknown; cause?: unknown; errors?: unknown };
    if (typeof code === "string") return code;
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined);
  }
  return undefined;
}

function isAbort(error: unknown): boolean {
  return typeof error === "object" && error !== null && (error as { name?: unknown }).name === "AbortError";
}
