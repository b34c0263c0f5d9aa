/** Reads one response header by its lower-case name. */
export type HeaderLookup = (name: string) => string | null;

const DECIMAL = /^\d+(?:\.\d+)?$/;
// The date grammar is checked before `Date.parse`, which would take "apple 5" for a day in May 2001.
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +[A-Za-z0-9: -]+$/i;
const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?$/;

/**
 * How long the server asks to wait: `retry-after-ms`, else `retry-after` in seconds or as a date. Undefined
 * where neither says anything readable. A date in the past is a wait of 0.
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

/** What `x-should-retry` says, which overrules a status: true, false, or undefined when it is silent. */
export function readShouldRetry(header: HeaderLookup): boolean | undefined {
  const value = header("x-should-retry")?.trim().toLowerCase();
  if (value === "true") return true;
  if (value === "false") return false;
  return undefined;
}

/** An HTTP date or an RFC 3339 timestamp as milliseconds since the epoch. */
export function parseInstant(text: string): number | undefined {
  if (!HTTP_DATE.test(text) && !RFC3339.test(text)) return undefined;
  // An asctime date carries no zone, and HTTP says it is GMT; Date.parse would take the machine's zone.
  const zoned = HTTP_DATE.test(text) && !/(?:GMT|UTC|[+-]\d{4})$/i.test(text) ? `${text} GMT` : text;
  const at = Date.parse(zoned);
  return Number.isNaN(at) ? undefined : at;
}
