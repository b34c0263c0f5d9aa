import { ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { HttpHeaders } from "@parley/http";

const blot = "[hidden]";
/** Shorter values are words such as a version, and would blot out what has nothing to do with them. */
const shortestSecret = 8;
const harmless = new Set(["content-type", "accept", "anthropic-version", "anthropic-beta"]);

/**
 * A failure without what our own headers said: a provider, or a proxy before it, may repeat them in its words, and the
 * key is among them.
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

/** A text that was cut may end in the middle of a secret. */
function hideEnd(text: string, secret: string): string {
  const end = text.endsWith("…") ? text.length - 1 : text.length;
  for (let length = Math.min(secret.length - 1, end); length >= shortestSecret / 2; length -= 1) {
    if (text.slice(end - length, end) === secret.slice(0, length)) {
      return text.slice(0, end - length) + blot + text.slice(end);
    }
  }
  return text;
}
