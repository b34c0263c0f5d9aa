import { buildUrl } from "./build-url.js";
import type { Call } from "./call.js";
import { type EncodedBody, encodeBody } from "./encode-body.js";
import type { HttpError } from "./errors.js";
import type { TransportInit } from "./ports.js";
import { addHeaders, findInvalidHeader } from "./request-headers.js";
import type { HttpRequestOptions } from "./request-options.js";

/**
 * One attempt as the transport takes it. `settled` says that no interceptor could have changed the request:
 * then one encoding of the body serves all attempts, so what is retried is what was sent even if the caller
 * changes the object meanwhile, and the headers are in lower case already.
 *
 * Throws an `HttpError` of the category `validation` for what cannot be sent, before anything is sent.
 */
export function composeRequest(
  call: Call,
  request: HttpRequestOptions,
  baseUrl: string | undefined,
  signal: AbortSignal,
  settled: boolean,
): { url: string; init: TransportInit } {
  const url = buildUrl(request, baseUrl);
  if (!URL.canParse(url, pageUrl())) throw invalid(call, "the request has no valid URL", "invalid_url");
  call.url = url;

  const encoded = call.encoded ?? encode(call, request.body);
  if (settled) call.encoded = encoded;
  call.replayable = encoded.replayable;

  const headers =
    settled && request.headers !== undefined ? request.headers : addHeaders({}, request.headers);
  if (encoded.contentType !== undefined) headers["content-type"] ??= encoded.contentType;
  const bad = findInvalidHeader(headers);
  if (bad !== undefined)
    throw invalid(call, `the header ${JSON.stringify(bad)} cannot be sent`, "invalid_header");

  const init: TransportInit = { ...request.fetchOptions, method: request.method, headers, signal };
  if (encoded.body !== undefined) init.body = encoded.body;
  if (encoded.stream) init.duplex = "half";
  return { url, init };
}

/** What relative URLs are relative to: the page, in a browser. */
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
