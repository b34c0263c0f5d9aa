import type { HttpRequestOptions, Query, QueryValue } from "./request-options.js";

const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Returns true if the request's URL depends on a base URL configured elsewhere. */
export function needsBaseUrl(request: HttpRequestOptions): boolean {
  if (request.url !== undefined || request.urlParts?.baseUrl !== undefined) return false;
  return !ABSOLUTE.test(request.urlParts?.path ?? request.path ?? "");
}

/**
 * Builds the URL of a request: `url` as it is, else the parts on their base, else the legacy path on the
 * base. A path is appended to its base (`https://host/v1` and `/models` make `https://host/v1/models`), not
 * resolved.
 */
export function buildUrl(request: HttpRequestOptions, baseUrl: string | undefined): string {
  if (request.url !== undefined) return request.url;
  const parts = request.urlParts;
  const path = parts?.path ?? request.path ?? "";
  const target = ABSOLUTE.test(path) ? path : join(parts?.baseUrl ?? baseUrl ?? "", path);

  let pairs = encodeQuery(request.query);
  pairs = append(pairs, encodeQuery(parts?.query));
  pairs = append(pairs, encodePair("limit", request.pageSize));
  pairs = append(pairs, encodePair("offset", request.pageOffset));
  if (pairs === "") return target;

  const hashAt = target.indexOf("#");
  const bare = hashAt === -1 ? target : target.slice(0, hashAt);
  const hash = hashAt === -1 ? "" : target.slice(hashAt);
  const separator = !bare.includes("?") ? "?" : bare.endsWith("?") || bare.endsWith("&") ? "" : "&";
  return bare + separator + pairs + hash;
}

function join(base: string, path: string): string {
  if (path === "") return base;
  if (base === "") return path;
  // A base may have its own query (for example an API version): the path is inserted before it.
  const queryAt = base.indexOf("?");
  const stem = queryAt === -1 ? base : base.slice(0, queryAt);
  const query = queryAt === -1 ? "" : base.slice(queryAt);
  const joined = `${stem.replace(/\/+$/, "")}${/^[/?#]/.test(path) ? "" : "/"}${path}`;
  return query === "" ? joined : joined.includes("?") ? `${joined}&${query.slice(1)}` : joined + query;
}

function encodeQuery(query: Query | undefined): string {
  let pairs = "";
  if (query === undefined) return pairs;
  for (const [name, value] of Object.entries(query)) {
    if (isList(value)) for (const one of value) pairs = append(pairs, encodePair(name, one));
    else pairs = append(pairs, encodePair(name, value));
  }
  return pairs;
}

function isList(value: Query[string]): value is readonly QueryValue[] {
  return Array.isArray(value);
}

function encodePair(name: string, value: QueryValue): string {
  if (value === undefined || value === null) return "";
  return `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`;
}

function append(pairs: string, more: string): string {
  return pairs === "" || more === "" ? pairs + more : `${pairs}&${more}`;
}
