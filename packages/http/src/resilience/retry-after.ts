/** Reads one response header by its lower-case name. */
export type HeaderLookup = (name: string) => string | null;

const DECIMAL = /^\d+(?:\.\d+)?$/;
// The date grammar is checked before `Date.parse`, which would parse "apple 5" as a day in May 2001.
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +[A-Za-z0-9: -]+$/i;
const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?$/;

/**
 * Returns the wait that the server asks for: `retry-after-ms`, else `retry-after` in seconds or as a date.
 * Undefined if neither is readable. A date in the past is a wait of 0.
 */
export function readRetryAfterMs(header: HeaderLookup, wallNow: () => number): number | undefined {
  const millis = header("retry-after-ms")?.trim();
  if (millis !== undefined && DECIMAL.test(millis)) return Number(millis);

  const value = header("retry-after")?.trim();
  if (value === undefined) return undefined;
  if (DECIMAL.test(value)) return Number(value) * 1000;
  const at = parseInstant(value);
  return at === undefined ? undefined : Math.max(0, at - wallNow());
}

/**
 * Returns the value of `x-should-retry`, which overrides the status: true, false, or undefined if it is
 * absent.
 */
export function readShouldRetry(header: HeaderLookup): boolean | undefined {
  const value = header("x-should-retry")?.trim().toLowerCase();
  if (value === "true") return true;
  if (value === "false") return false;
  return undefined;
}

/** Parses an HTTP date or an RFC 3339 timestamp to milliseconds since the epoch. */
export function parseInstant(text: string): number | undefined {
  if (!HTTP_DATE.test(text) && !RFC3339.test(text)) return undefined;
  // An asctime date has no zone, and HTTP defines it as GMT; Date.parse would assume the machine's zone.
  const zoned = HTTP_DATE.test(text) && !/(?:GMT|UTC|[+-]\d{4})$/i.test(text) ? `${text} GMT` : text;
  const at = Date.parse(zoned);
  return Number.isNaN(at) ? undefined : at;
}
