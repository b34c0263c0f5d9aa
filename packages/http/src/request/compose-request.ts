import type { Call } from "../call.js";
import type { HttpError } from "../errors.js";
import type { TransportInit } from "../ports.js";
import type { AttemptWatch } from "../resilience/attempt-watch.js";
import { buildUrl } from "./build-url.js";
import { type EncodedBody, encodeBody } from "./encode-body.js";
import { findInvalidHeader } from "./request-headers.js";
import type { HttpHeaders, HttpRequestOptions } from "./request-options.js";

// Most requests go to the same URL as the last one, and a URL that was valid once stays valid.
let lastValidUrl: string | undefined;

/** The parts of a request that do not belong to a single attempt. */
export interface ComposedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: HttpHeaders;
  readonly encoded: EncodedBody;
}

/**
 * Composes what is sent for `request`, whose headers are complete. Throws an `HttpError` of the category
 * `validation`, before anything is sent, for a request that cannot be sent.
 */
export function composeRequest(
  call: Call,
  request: HttpRequestOptions,
  headers: HttpHeaders,
  baseUrl: string | undefined,
): ComposedRequest {
  const url = buildUrl(request, baseUrl);
  if (url !== lastValidUrl) {
    if (!URL.canParse(url, pageUrl())) throw invalid(call, "the request has no valid URL", "invalid_url");
    lastValidUrl = url;
  }
  const encoded = encode(call, request.body);
  if (encoded.contentType !== undefined) headers["content-type"] ??= encoded.contentType;
  const bad = findInvalidHeader(headers);
  if (bad !== undefined) {
    throw invalid(call, `the header ${JSON.stringify(bad)} cannot be sent`, "invalid_header");
  }
  return { url, method: request.method, headers, encoded };
}

/**
 * Converts one attempt for the transport. By default redirects are returned as responses: the client follows
 * them itself.
 */
export function toTransportInit(
  { method, headers, encoded }: ComposedRequest,
  fetchOptions: HttpRequestOptions["fetchOptions"],
  watch: AttemptWatch,
  redirect: "manual" | "follow" = "manual",
): TransportInit {
  const init: Omit<TransportInit, "signal"> & Partial<Pick<TransportInit, "signal">> & Watched = {
    ...fetchOptions,
    method,
    headers,
    redirect,
    onAbort: (listener) => watch.onAbort(listener),
    [WATCH]: watch,
  };
  if (encoded.body !== undefined) init.body = encoded.body;
  if (encoded.stream) init.duplex = "half";
  Object.defineProperty(init, "signal", LAZY_SIGNAL);
  return init as TransportInit;
}

const WATCH = Symbol("watch");

interface Watched {
  readonly [WATCH]: AttemptWatch;
}

// A signal is created only for a transport that reads it: it costs more than the rest of the request
// together. All requests share one getter, because a getter per request would give every request its own
// object shape.
const LAZY_SIGNAL: PropertyDescriptor & ThisType<Watched> = {
  get() {
    return this[WATCH].signal;
  },
  enumerable: true,
  configurable: true,
};

/** Returns the URL that relative URLs are resolved against: the page, in a browser. */
export function pageUrl(): string | undefined {
  return (globalThis as { location?: { href?: string } }).location?.href;
}

function encode(call: Call, body: unknown): EncodedBody {
  try {
    return encodeBody(body);
  } catch (cause) {
    throw invalid(call, "the body cannot be sent as JSON", "invalid_body", cause);
  }
}

function invalid(call: Call, what: string, reason: string, cause?: unknown): HttpError {
  return call.error(what, { status: 0, category: "validation", reason, cause });
}
