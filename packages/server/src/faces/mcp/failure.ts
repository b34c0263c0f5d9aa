import type { ParleyError } from "@parley/core";
import type { FailureShape } from "../face.js";

/** Codes of JSON-RPC: of a request that is none, and of everything else. */
const invalidRequest = -32_600;
const serverError = -32_000;

/** Describes a failure as an error of JSON-RPC. Which request it answers is not known where checks come before reading. */
export function describeFailure(error: ParleyError, requestId: string): FailureShape {
  const { code, message, retryable } = error;
  return {
    body: {
      jsonrpc: "2.0",
      error: {
        code: code === "invalid_request" ? invalidRequest : serverError,
        message,
        data: { code, retryable, requestId },
      },
      id: null,
    },
    headers: { "content-type": "application/json" },
  };
}
