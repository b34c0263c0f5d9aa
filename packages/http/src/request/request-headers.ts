import type { HttpHeaders } from "./request-options.js";

/**
 * Copies headers into `target` under lower-case names, so that one name cannot be present in two letter
 * cases.
 */
export function addHeaders(target: HttpHeaders, headers: HttpHeaders | undefined): HttpHeaders {
  if (headers === undefined) return target;
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) target[name.toLowerCase()] = value;
  }
  return target;
}

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FORBIDDEN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Returns the name of the first header that cannot be sent, or undefined. Checked before the transport sees
 * the headers, because platforms quote the offending value in their error, and that value may be a key.
 */
export function findInvalidHeader(headers: HttpHeaders): string | undefined {
  for (const name in headers) {
    const value = headers[name];
    if (!NAME.test(name) || typeof value !== "string" || FORBIDDEN_VALUE.test(value)) return name;
  }
  return undefined;
}
