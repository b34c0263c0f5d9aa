import { parseInstant } from "../resilience/retry-after.js";

/** A response's headers about the caller's limits. Only fields that were sent are present. */
export interface RateLimitFeedback {
  limitRequests?: number;
  remainingRequests?: number;
  resetRequestsAt?: Date;
  limitTokens?: number;
  remainingTokens?: number;
  resetTokensAt?: Date;
  /** True on a 429. */
  isRateLimited?: boolean;
  /** The headers that the other fields were read from. */
  rawHeaders?: Record<string, string>;
}

// Providers differ in prefix and word order: x-ratelimit-remaining-tokens, name-ratelimit-tokens-remaining.
// Without a noun (the IETF draft, most gateways) the numbers count requests.
const HEADER =
  /(?:^|-)ratelimit-(?:(limit|remaining|reset)(?:-(requests|tokens))?|(requests|tokens)-(limit|remaining|reset))$/;

/**
 * Reads rate-limit headers. Resets may be durations (`12ms`, `1s`, `6m0s`), seconds, dates or RFC 3339
 * timestamps. Returns undefined if the response has no such header.
 */
export function readRateLimitFeedback(
  headers: Iterable<readonly [string, string]>,
  status: number,
  wallNow: () => number,
): RateLimitFeedback | undefined {
  const feedback: RateLimitFeedback = {};
  const rawHeaders: Record<string, string> = {};
  let found = false;
  for (const [rawName, value] of headers) {
    const name = rawName.toLowerCase();
    if (name === "retry-after" || name === "retry-after-ms") {
      rawHeaders[name] = value;
      found = true;
      continue;
    }
    if (!name.includes("ratelimit")) continue;
    const match = HEADER.exec(name);
    if (match === null) continue;
    rawHeaders[name] = value;
    found = true;
    const noun = match[2] ?? match[3] ?? "requests";
    put(feedback, match[1] ?? match[4], noun === "tokens", value.trim(), wallNow);
  }
  if (status === 429) feedback.isRateLimited = true;
  else if (!found) return undefined;
  if (found) feedback.rawHeaders = rawHeaders;
  return feedback;
}

function put(
  feedback: RateLimitFeedback,
  what: string | undefined,
  tokens: boolean,
  value: string,
  wallNow: () => number,
): void {
  if (what === "reset") {
    const at = parseReset(value, wallNow);
    if (at === undefined) return;
    if (tokens) feedback.resetTokensAt = at;
    else feedback.resetRequestsAt = at;
    return;
  }
  if (!/^\d+(?:\.\d+)?$/.test(value)) return;
  const count = Number(value);
  if (what === "limit") {
    if (tokens) feedback.limitTokens = count;
    else feedback.limitRequests = count;
  } else if (tokens) feedback.remainingTokens = count;
  else feedback.remainingRequests = count;
}

/** Parses a reset header as an instant: a duration or seconds from now, an epoch, or a date. */
export function parseReset(value: string, wallNow: () => number): Date | undefined {
  if (/^\d+(?:\.\d+)?$/.test(value)) {
    const number = Number(value);
    // No reset is thirty years away: a number that large is an instant, in seconds or in milliseconds.
    if (number > 1e11) return validDate(number);
    if (number > 1e9) return validDate(number * 1000);
    return validDate(wallNow() + number * 1000);
  }
  const duration = parseDurationMs(value);
  if (duration !== undefined) return validDate(wallNow() + duration);
  const at = parseInstant(value);
  return at === undefined ? undefined : validDate(at);
}

const UNIT_MS: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000, ms: 1, us: 0.001 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|us|[dhms]))+$/;

/** Parses a duration such as `12ms`, `1s`, `6m0s` or `1h2m3.5s` to milliseconds. */
export function parseDurationMs(text: string): number | undefined {
  const compact = text.toLowerCase().replace("µs", "us");
  if (!DURATION.test(compact)) return undefined;
  let total = 0;
  for (const [, amount, unit] of compact.matchAll(/(\d+(?:\.\d+)?)(ms|us|[dhms])/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ""] ?? 0);
  }
  return total;
}

function validDate(at: number): Date | undefined {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
