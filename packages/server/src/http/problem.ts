import type { ParleyError } from "@parley/core";
import { errorTrait } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { FieldProblem, Problem } from "@parley/wire";
import { RequestRefusal } from "./request-refusal.js";

export const problemType = "application/problem+json";

/** Titles of codes that mean something else to a caller of this server than to one of a provider. */
const titles: Partial<Record<ParleyError["code"], string>> = {
  rate_limited: "Too many requests for now",
};

/** Returns a failure as the body of an answer. */
export function toProblem(error: ParleyError, requestId?: string): Problem {
  const refusal = error instanceof RequestRefusal ? error : undefined;
  const title = refusal?.title ?? titles[error.code] ?? errorTrait(error.code).title;
  const errors = refusal?.errors ?? fieldAtFault(error);
  const { response, requests } = inputIn(error);
  return {
    title,
    status: error.status,
    detail: error.message,
    code: error.code,
    error: error.message === title ? title : `${title}: ${error.message}`,
    retryable: error.retryable,
    ...omitUndefined({ requestId, errors, response, requests }),
  };
}

/** Returns the field that a refusal of the runtime is about (`invalidField`). */
function fieldAtFault({ details }: ParleyError): readonly FieldProblem[] | undefined {
  const { field, problem } = details ?? {};
  return typeof field === "string" && typeof problem === "string"
    ? [{ path: field, message: problem }]
    : undefined;
}

/** Returns the input details of a refusal: the decision in force, or the requests that a turn waits for. */
export function inputIn({ code, details }: ParleyError): Pick<Problem, "response" | "requests"> {
  if (code === "already_decided")
    return omitUndefined({ response: details?.response as Problem["response"] });
  if (code === "turn_active") return omitUndefined({ requests: details?.requests as Problem["requests"] });
  return {};
}

/** Returns the headers of a failure. */
export function problemHeaders(error: ParleyError): Record<string, string> {
  const headers: Record<string, string> = { "content-type": problemType, "cache-control": "no-store" };
  if (error.code === "unauthorized") headers["www-authenticate"] = 'Bearer realm="parley"';
  if (error.retryAfterMs !== undefined) {
    headers["retry-after"] = String(Math.max(1, Math.ceil(error.retryAfterMs / 1_000)));
  }
  if (error instanceof RequestRefusal) Object.assign(headers, error.headers);
  return headers;
}

/** Returns a failure as a response, for callers without a request context. */
export function problemResponse(error: ParleyError, requestId?: string): Response {
  return new Response(JSON.stringify(toProblem(error, requestId)), {
    status: error.status,
    headers: problemHeaders(error),
  });
}
