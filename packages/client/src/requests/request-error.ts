import type { ErrorCode, Problem } from "@parley/wire";
import type { Failure } from "../state/conversation-state.js";

/** A failed call. Branch on `code`; the message is for people. */
export class ParleyRequestError extends Error {
  override readonly name = "ParleyRequestError";
  readonly code: ErrorCode;
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
  /** Id of the request in the server's log. */
  readonly requestId?: string;
  /** The server's answer, if there was one. */
  readonly problem?: Problem;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      readonly status?: number;
      readonly retryable?: boolean;
      readonly requestId?: string | undefined;
      readonly problem?: Problem | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options);
    this.code = code;
    this.status = options.status ?? 0;
    this.retryable = options.retryable ?? false;
    if (options.requestId !== undefined) this.requestId = options.requestId;
    if (options.problem !== undefined) this.problem = options.problem;
  }
}

/** Returns a failure as the state shows it. */
export function toFailure(error: unknown): Failure {
  if (error instanceof ParleyRequestError) {
    const { code, message, retryable } = error;
    return { code, message, retryable };
  }
  return {
    code: "internal",
    message: error instanceof Error ? error.message : String(error),
    retryable: false,
  };
}
