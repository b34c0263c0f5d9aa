import { createDefaultHttpClient } from "./create-default-http-client.js";
import { HttpError, TimeoutError } from "./errors.js";
import type { HttpClient } from "./http-client.js";
import type { HttpClientConfig } from "./http-client-config.js";
import type { Extensions, HttpHeaders, HttpMethod, HttpRequestOptions } from "./request/request-options.js";
import type { ResilienceProfile } from "./resilience/resilience.js";
import type { HttpResponse } from "./response/http-response.js";

/** Settings shared by all requests of a resilient `fetch`. */
export interface ResilientFetchOptions {
  /** The operation's name in metrics and traces. Default `fetch`. */
  operation?: string;
  resilience?: ResilienceProfile;
  extensions?: Extensions;
}

/**
 * Creates a `fetch` that retries internally, for any library that accepts one. It keeps `fetch`'s contract: a
 * final failure with a response resolves with that response, not an error; an abort rejects with the signal's
 * reason; anything else rejects with a `TypeError` whose cause is the `HttpError`, or with a `TimeoutError`.
 *
 * A `Request` passed in is read into memory, so that it can be sent again. Turn off the library's own
 * retries, or the two multiply.
 */
export function resilientFetch(
  clientOrConfig: HttpClient | Partial<HttpClientConfig> = {},
  options: ResilientFetchOptions = {},
): typeof fetch {
  const client = isClient(clientOrConfig) ? clientOrConfig : createDefaultHttpClient(clientOrConfig);
  return async (input, init) => {
    const request = await toRequestOptions(input, init, options);
    try {
      return toResponse(await client.requestRaw(request), request.method);
    } catch (error) {
      if (!HttpError.isInstance(error)) throw error;
      if (error.response !== undefined) return toResponse(error.response, request.method);
      if (error.category === "canceled" && request.signal?.aborted === true) throw request.signal.reason;
      if (TimeoutError.isInstance(error)) throw error;
      throw new TypeError("fetch failed", { cause: error });
    }
  };
}

function isClient(value: HttpClient | Partial<HttpClientConfig>): value is HttpClient {
  return "requestRaw" in value;
}

async function toRequestOptions(
  input: RequestInfo | URL,
  init: RequestInit | undefined,
  options: ResilientFetchOptions,
): Promise<HttpRequestOptions> {
  const { method, headers, body, signal, ...fetchOptions } = init ?? {};
  const base = input instanceof Request ? input : undefined;
  const request: HttpRequestOptions = {
    ...options,
    operation: options.operation ?? "fetch",
    // `fetch` accepts any method; the type lists those that the client's own callers use.
    method: (method ?? base?.method ?? "GET").toUpperCase() as HttpMethod,
    url: base === undefined ? String(input) : base.url,
    keepErrorBody: true,
    fetchOptions: base === undefined ? fetchOptions : { redirect: base.redirect, ...fetchOptions },
  };
  request.headers = plainHeaders(headers ?? base?.headers);
  const content = body ?? (base === undefined || base.body === null ? undefined : await base.arrayBuffer());
  if (content !== undefined) request.body = content;
  const effective = signal === undefined ? base?.signal : signal;
  if (effective) request.signal = effective;
  return request;
}

function plainHeaders(headers: HeadersInit | undefined): HttpHeaders {
  const plain: HttpHeaders = {};
  if (headers === undefined) return plain;
  new Headers(headers).forEach((value, name) => {
    plain[name] = value;
  });
  return plain;
}

const NULL_BODY = new Set([101, 103, 204, 205, 304]);

/** Creates a real `Response`, for code that checks `instanceof` or passes it on. */
function toResponse(response: HttpResponse, method: string): Response {
  const { status, statusText, headers } = response;
  const empty = NULL_BODY.has(status) || method === "HEAD";
  if (empty) response.cancel?.();
  const real = new Response(empty ? null : response.body, { status, statusText, headers });
  Object.defineProperties(real, {
    url: { value: response.url },
    redirected: { value: response.redirected },
  });
  return real;
}
