import { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { HttpHeaders } from "@parley/http";

const blot = "[hidden]";
/** Shorter values are words such as a version, and hiding them would redact unrelated text. */
const shortestSecret = 8;
const harmless = new Set(["content-type", "accept", "anthropic-version", "anthropic-beta"]);

/**
 * Returns a failure without the values of our own headers: a provider, or a proxy before it, may repeat them
 * in its message, and the key is among them.
 */
export function hideHeaders(error: ParleyError, headers: HttpHeaders | undefined): ParleyError {
  const secrets = secretsIn(headers ?? {});
  const message = hide(error.message, secrets);
  const reason = error.details?.reason;
  const hiddenReason = typeof reason === "string" ? hide(reason, secrets) : reason;
  if (message === error.message && hiddenReason === reason) return error;
  return new ParleyError(error.code, message, {
    retryable: error.retryable,
    ...omitUndefined({ retryAfterMs: error.retryAfterMs }),
    ...(error.details === undefined ? {} : { details: { ...error.details, reason: hiddenReason } }),
    cause: error.cause,
  });
}

function secretsIn(headers: HttpHeaders): string[] {
  return Object.entries(headers)
    .filter(([name]) => !harmless.has(name.toLowerCase()))
    .map(([, value]) => String(value).replace(/^(?:Bearer|Basic) +/i, ""))
    .filter((value) => value.length >= shortestSecret)
    .sort((a, b) => b.length - a.length);
}

function hide(text: string, secrets: readonly string[]): string {
  return secrets.reduce((rest, secret) => hideEnd(rest.replaceAll(secret, blot), secret), text);
}

/** Hides the start of a secret at the end of a text that was cut. */
function hideEnd(text: string, secret: string): string {
  const end = text.endsWith("…") ? text.length - 1 : text.length;
  for (let length = Math.min(secret.length - 1, end); length >= shortestSecret / 2; length -= 1) {
    if (text.slice(end - length, end) === secret.slice(0, length)) {
      return text.slice(0, end - length) + blot + text.slice(end);
    }
  }
  return text;
}
