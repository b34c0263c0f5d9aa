import { z } from "@hono/zod-openapi";
import type { ParleyError } from "@parley/core";
import type { FailureShape } from "../face.js";

/** Codes of JSON-RPC: of an invalid request, and of everything else. */
const invalidRequest = -32_600;
const serverError = -32_000;

/** Failures as the published contract describes them. */
export const failureContent = {
  "application/json": {
    schema: z
      .object({
        jsonrpc: z.literal("2.0"),
        error: z.object({
          code: z.int(),
          message: z.string(),
          data: z.object({ code: z.string(), retryable: z.boolean(), requestId: z.string() }),
        }),
        id: z.null(),
      })
      .openapi("McpError"),
  },
} as const;

/** Describes a failure as an error of JSON-RPC. The request's id is unknown if a check failed before reading it. */
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
