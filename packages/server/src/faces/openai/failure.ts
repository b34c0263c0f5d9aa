import { z } from "@hono/zod-openapi";
import type { ParleyError } from "@parley/core";
import { toProblem } from "../../http/problem.js";
import { RequestRefusal } from "../../http/request-refusal.js";
import type { FailureShape } from "../face.js";

/** A failure as the SDK reads it. */
interface FaceError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** Failures as the published contract describes them. */
export const failureContent = {
  "application/json": {
    schema: z
      .object({
        error: z.object({
          message: z.string(),
          type: z.string(),
          param: z.string().nullable(),
          code: z.string().nullable(),
        }),
      })
      .openapi("OpenAIError"),
  },
} as const;

/** Codes that clients of this protocol know by another name. */
const codes: Readonly<Record<string, string>> = {
  model_unavailable: "model_not_found",
  rate_limited: "rate_limit_exceeded",
  turn_active: "conversation_locked",
  unauthorized: "invalid_api_key",
  context_overflow: "context_length_exceeded",
};

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

/** Returns the error of a failure. */
function faceError(error: ParleyError): FaceError {
  const { details, status } = error;
  const [first] = toProblem(error).errors ?? [];
  const field = first?.path === "" ? undefined : first?.path;
  const param = typeof details?.param === "string" ? details.param : (field ?? null);
  const code = typeof details?.code === "string" ? details.code : (codes[error.code] ?? error.code);
  return {
    message: messageOf(error, first?.message),
    type: types[status] ?? (status >= 500 ? "server_error" : "invalid_request_error"),
    param,
    code,
  };
}

function messageOf(error: ParleyError, problem: string | undefined): string {
  return problem === undefined || error.message.includes(problem)
    ? error.message
    : `${error.message}: ${problem}`;
}

/**
 * Describes a failure in the protocol's shape. The SDK repeats 408, 409, 429 and 5xx by itself: errors that would be
 * refused again are marked so, and errors that have to wait carry the delay.
 */
export function describeFailure(error: ParleyError): FailureShape {
  const isWorthRetrying =
    error.retryable && error.code !== "turn_active" && error.code !== "message_conflict";
  return {
    body: { error: faceError(error) },
    headers: {
      "content-type": "application/json",
      "x-should-retry": String(isWorthRetrying),
      ...(error.retryAfterMs === undefined
        ? {}
        : { "retry-after-ms": String(Math.ceil(error.retryAfterMs)) }),
    },
  };
}

/** Creates a refusal with the code and the parameter that clients of this protocol know. */
export function refusal(
  status: number,
  message: string,
  names: { readonly code?: string; readonly param?: string } = {},
): RequestRefusal {
  const isUnknown = status === 404;
  return new RequestRefusal(isUnknown ? "conversation_not_found" : "invalid_request", message, {
    status,
    details: { code: names.code ?? null, param: names.param ?? null },
  });
}
