import type { Call } from "../call.js";
import { HttpError } from "../errors.js";
import type { HttpClientConfig } from "../http-client-config.js";
import type { Observer } from "../observer.js";
import type { ClassifiedError, ErrorClassifier, ResponseClassification } from "../ports.js";
import { BodyTooLarge } from "../request/body-source.js";
import type { HttpHeaders } from "../request/request-options.js";
import { readRetryAfterMs, readShouldRetry } from "../resilience/retry-after.js";
import { RedirectRefused } from "../transport/follow-redirects.js";
import { DefaultErrorClassifier, isRetryableCategory } from "./classify.js";
import type { ClientResponse } from "./client-response.js";

/** Number of bytes of an error body that are read to classify it. */
const ERROR_BODY_BYTES = 1024 * 1024;

const defaultClassifier = new DefaultErrorClassifier();

/**
 * Decides whether a response is a failure, and which. The response classifier runs first; then status and
 * body are classified; `x-should-retry` overrides both on whether to retry, except that an exhausted quota is
 * never retried.
 */
export async function judgeResponse(
  config: HttpClientConfig,
  observer: Observer,
  call: Call,
  response: ClientResponse,
  wallNow: () => number,
): Promise<HttpError | undefined> {
  const classifier = config.responseClassifier;
  if (response.ok && classifier === undefined) return undefined;

  let bodyText = response.ok ? undefined : await readErrorBody(call, response);
  let verdict: ResponseClassification | undefined;
  try {
    verdict = await classifier?.classify(response, bodyText);
  } catch (error) {
    observer.failed("Response classifier", error);
  }
  if (verdict?.overrideStatus !== undefined) response.overrideStatus(verdict.overrideStatus);
  if (!(verdict?.treatAsError ?? !response.ok)) return undefined;

  bodyText ??= await readErrorBody(call, response);
  const classified = classify(config.errorClassifier, observer, (by) =>
    by.classifyResponse(response, bodyText),
  );
  const category = verdict?.category ?? classified.category;
  const header = (name: string) => response.header(name);
  const byRules =
    verdict?.category === undefined
      ? (classified.retryable ?? isRetryableCategory(category))
      : isRetryableCategory(category);
  const retryAfterMs =
    verdict?.fallback?.retryAfterMs ?? classified.suggestedBackoffMs ?? readRetryAfterMs(header, wallNow);
  const fallback = { ...verdict?.fallback, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  const status = verdict?.overrideStatus ?? classified.statusCode ?? response.status;
  return call.error(describe(status, response.statusText, classified.reason), {
    status,
    category,
    retryable: category !== "quota" && (readShouldRetry(header) ?? byRules),
    headers: plainHeaders(response.headers),
    response,
    body: bodyText,
    ...(classified.reason === undefined ? {} : { reason: classified.reason }),
    ...(Object.keys(fallback).length === 0 ? {} : { fallback }),
  });
}

/** Returns the failure for whatever an attempt threw. */
export function judgeThrown(
  config: HttpClientConfig,
  observer: Observer,
  call: Call,
  error: unknown,
): HttpError {
  if (HttpError.isInstance(error)) return error;
  if (error instanceof BodyTooLarge) {
    return call.error(error.message, { status: call.status, category: "unknown", reason: "body_too_large" });
  }
  if (error instanceof RedirectRefused) {
    const { status, message } = error;
    return call.error(message, { status, category: "unknown", reason: "redirect_refused" });
  }
  return judgeNetworkError(config, observer, call, error);
}

/** Returns the failure for an error that occurred instead of a response or a body. */
function judgeNetworkError(
  config: HttpClientConfig,
  observer: Observer,
  call: Call,
  error: unknown,
): HttpError {
  const classified = classify(config.errorClassifier, observer, (by) => by.classifyNetworkError(error));
  const { category, reason, suggestedBackoffMs } = classified;
  return call.error(`no usable response: ${reason ?? nameOf(error)}`, {
    status: classified.statusCode ?? 0,
    category,
    retryable: category !== "canceled" && (classified.retryable ?? isRetryableCategory(category)),
    cause: error,
    ...(reason === undefined ? {} : { reason }),
    ...(suggestedBackoffMs === undefined ? {} : { fallback: { retryAfterMs: suggestedBackoffMs } }),
  });
}

function classify(
  custom: ErrorClassifier | undefined,
  observer: Observer,
  ask: (classifier: ErrorClassifier) => ClassifiedError,
): ClassifiedError {
  if (custom !== undefined) {
    try {
      return ask(custom);
    } catch (error) {
      observer.failed("Error classifier", error);
    }
  }
  return ask(defaultClassifier);
}

async function readErrorBody(call: Call, response: ClientResponse): Promise<string> {
  try {
    return await response.peekText(ERROR_BODY_BYTES, call.options.keepErrorBody === true);
  } catch {
    // A 500 whose body breaks is still a 500. If the attempt was interrupted, the watch reports it.
    return "";
  }
}

function describe(status: number, statusText: string, reason: string | undefined): string {
  const text = statusText === "" ? "" : ` ${statusText}`;
  return reason === undefined ? `answered ${status}${text}` : `answered ${status}${text}, ${reason}`;
}

function plainHeaders(headers: Headers): HttpHeaders {
  const plain: HttpHeaders = {};
  headers.forEach((value, name) => {
    plain[name] = value;
  });
  return plain;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown error";
}
