import { type ErrorCode, isParleyError, ParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import { HttpError } from "@parley/http";
import {
  AISDKError,
  APICallError,
  DownloadError,
  EmptyResponseBodyError,
  InvalidArgumentError,
  InvalidDataContentError,
  InvalidPromptError,
  LoadAPIKeyError,
  LoadSettingError,
  MessageConversionError,
  NoOutputGeneratedError,
  NoSuchModelError,
  RetryError,
  TypeValidationError,
  UnsupportedFunctionalityError,
} from "ai";
import { readAnthropicFailure } from "../anthropic/failure.js";
import { failureDetails, toProviderError, unreadableAnswer } from "../call/http-failure.js";
import { readOpenAIFailure } from "../openai/failure.js";
import type { ModelFamily } from "./model-family.js";
import { isFields } from "./provider-options.js";

/** The provider and model family of a failed call. */
export interface FailedCall {
  readonly provider: string;
  readonly family: ModelFamily;
}

const longestMessage = 500;

/**
 * Converts any failure of a call to a `ParleyError`. The provider's payload decides, then the status, then
 * the kind of the SDK's error. The SDK's errors contain requests, answers and prompts, also in their
 * messages: only the provider's description of a failure is passed on, bounded, and the cause keeps only a
 * name and a stack.
 */
export function toCallError(error: unknown, call: FailedCall): ParleyError {
  if (isParleyError(error)) return error;
  if (RetryError.isInstance(error)) return toCallError(error.lastError, call);
  const refused = httpErrorBehind(error);
  if (refused !== undefined) return toProviderError(refused, call.provider, () => undefined);
  if (APICallError.isInstance(error)) return fromApiError(error, call);
  const name = nameOf(error);
  if (name === "AbortError" || name === "ResponseAborted") return new ParleyError("canceled");
  const known = fromKind(error, name);
  if (known !== undefined) {
    const [code, message] = known;
    return new ParleyError(code, `${call.provider}: ${message}`, { cause: causeOf(error) });
  }
  // A failure in the middle of a stream: version 6 passes the provider's payload on unchanged, version 7
  // wraps it.
  if (!(error instanceof Error) || name === "AI_StreamProviderError") return fromPayload(error, call);
  if (AISDKError.isInstance(error)) {
    const message = `${call.provider}: the answer could not be understood`;
    return new ParleyError("provider_rejected", message, { cause: causeOf(error) });
  }
  // A model from another package: the error it threw is reported with its own message.
  return new ParleyError(
    "provider_rejected",
    `${call.provider}: ${clip(error.message || "the call failed")}`,
    {
      cause: causeOf(error),
    },
  );
}

/**
 * Returns true if a call that was never answered failed because of content that plainer messages do not have.
 * A provider's package also validates the types of its own tools' output, which another provider's tools do
 * not match.
 */
export function isAboutMessages(error: unknown): boolean {
  return isRefusedByPackage(error) || TypeValidationError.isInstance(error);
}

function isRefusedByPackage(error: unknown): boolean {
  return (
    UnsupportedFunctionalityError.isInstance(error) ||
    DownloadError.isInstance(error) ||
    InvalidArgumentError.isInstance(error) ||
    InvalidDataContentError.isInstance(error) ||
    InvalidPromptError.isInstance(error) ||
    MessageConversionError.isInstance(error)
  );
}

function fromKind(error: unknown, name: string | undefined): [ErrorCode, string] | undefined {
  if (name === "TimeoutError") return ["timeout", "the time limit passed"];
  if (NoOutputGeneratedError.isInstance(error) || EmptyResponseBodyError.isInstance(error)) {
    return ["network", "the stream ended before its last event"];
  }
  if (LoadAPIKeyError.isInstance(error)) return ["provider_auth", "no key is configured"];
  if (LoadSettingError.isInstance(error)) return ["model_unavailable", "a setting is missing"];
  if (NoSuchModelError.isInstance(error)) return ["model_unavailable", "there is no such model"];
  // By name: `isInstance` of this one class returns true for every error of the SDK.
  if (name === "AI_UnsupportedModelVersionError") {
    return ["model_unavailable", "the model was made for another version of the AI SDK"];
  }
  if (UnsupportedFunctionalityError.isInstance(error)) {
    return ["invalid_request", `the model has no ${clip(error.functionality)}`];
  }
  if (DownloadError.isInstance(error)) return ["invalid_request", "a file could not be fetched"];
  if (isRefusedByPackage(error)) return ["invalid_request", "the provider's package refused the call"];
  // The error of `fetch` if a connection cannot be opened or breaks.
  if (error instanceof TypeError) return ["network", "the connection broke"];
  return undefined;
}

/** Returns the failure of `resilientFetch`, which the SDK wraps in its own error for a rejected `fetch`. */
function httpErrorBehind(error: unknown): HttpError | undefined {
  let cause = error;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth += 1) {
    if (HttpError.isInstance(cause)) return cause;
    ({ cause } = cause);
  }
  return undefined;
}

function fromApiError(error: APICallError, call: FailedCall): ParleyError {
  const { statusCode, responseHeaders: headers } = error;
  const payload = error.data ?? parse(error.responseBody);
  // A package that cannot read the first event reports its own failure as a refusal, with a made-up status.
  if (isFields(payload) && unreadNames.has(String(payload.name))) {
    return unreadableAnswer(call.provider, "an event has an unexpected form", causeOf(error));
  }
  const said = readPayload(payload, statusCode ?? 0, call);
  const code = said?.code ?? codeOfStatus(statusCode);
  const message =
    said?.message ?? (statusCode === undefined ? "the connection failed" : `status ${statusCode}`);
  const requestId = headers?.["x-request-id"] ?? headers?.["request-id"];
  const retryAfterMs = retryAfter(headers);
  return new ParleyError(code, `${call.provider}: ${clip(message)}`, {
    cause: causeOf(error),
    ...(said?.code === undefined ? { retryable: error.isRetryable } : {}),
    ...omitUndefined({ retryAfterMs }),
    details: {
      ...omitUndefined({ status: statusCode, requestId }),
      ...(said === undefined ? {} : failureDetails(said)),
    },
  });
}

const unreadNames = new Set(["AI_JSONParseError", "AI_TypeValidationError"]);

function fromPayload(payload: unknown, call: FailedCall): ParleyError {
  const inner = isFields(payload) && payload.data !== undefined ? payload.data : payload;
  const said = readPayload(inner, 0, call) ?? readPayload(payload, 0, call);
  const status = isFields(payload) && typeof payload.statusCode === "number" ? payload.statusCode : undefined;
  const code = said?.code ?? (status === undefined ? "provider_rejected" : codeOfStatus(status));
  const message = said?.message ?? "the provider reported a failure inside its stream";
  return new ParleyError(code, `${call.provider}: ${clip(message)}`, {
    ...(said === undefined || Object.keys(failureDetails(said)).length === 0
      ? {}
      : { details: failureDetails(said) }),
  });
}

function readPayload(payload: unknown, status: number, { family }: FailedCall) {
  if (family === "anthropic") return readAnthropicFailure(payload, status);
  // An event of the Responses API contains the failed response.
  const response = isFields(payload) && isFields(payload.response) ? payload.response : payload;
  return readOpenAIFailure(response, status);
}

function codeOfStatus(status: number | undefined): ErrorCode {
  if (status === undefined) return "network";
  if (status === 401 || status === 403) return "provider_auth";
  if (status === 402) return "quota_exceeded";
  if (status === 404) return "model_unavailable";
  if (status === 408 || status === 504) return "timeout";
  if (status === 413) return "too_large";
  if (status === 429) return "rate_limited";
  return status >= 500 ? "provider_overloaded" : "provider_rejected";
}

function retryAfter(headers: Record<string, string> | undefined): number | undefined {
  const ms = Number.parseFloat(headers?.["retry-after-ms"] ?? "");
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const after = headers?.["retry-after"] ?? "";
  const seconds = Number.parseFloat(after);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000;
  const at = Date.parse(after);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/**
 * Returns the name and the stack of an error, without the request and the answer that the SDK attaches to it.
 */
function causeOf(error: unknown): Error {
  const cause = new Error(nameOf(error) ?? "unknown");
  const frames = error instanceof Error ? (error.stack ?? "").split("\n").filter(isFrame) : [];
  cause.stack = [`Error: ${cause.message}`, ...frames].join("\n");
  return cause;
}

function isFrame(line: string): boolean {
  return /^\s+at /.test(line);
}

function nameOf(error: unknown): string | undefined {
  return isNamed(error) ? error.name : undefined;
}

function isNamed(value: unknown): value is { name: string } {
  return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string";
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

function clip(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage)}…`;
}
