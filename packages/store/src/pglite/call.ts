import type { ErrorCode } from "@parley/core/errors";
import { isParleyError, ParleyError, toParleyError } from "@parley/core/errors";

/** What the name of a method begins with that is one of the store's keys. */
export const keyPrefix = "keys.";

/** What the name of a method begins with that is one of an owner's store of canonical messages. */
export const memoryPrefix = "memory.";

/** A method of the store, called across the thread: everything in it survives a structured clone. */
export interface Call {
  readonly id: number;
  /** Whose store; absent for what a node needs. */
  readonly owner?: string;
  readonly method: string;
  readonly values: readonly unknown[];
}

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure };

/** A `ParleyError` as plain data: errors lose their own fields on the way. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: string;
}

export function toFailure(error: unknown): Failure {
  const known = isParleyError(error) ? error : toParleyError(error);
  const { code, message, retryable, details, cause } = known;
  return {
    code,
    message,
    retryable,
    ...(details === undefined ? {} : { details }),
    ...(cause instanceof Error ? { cause: cause.message } : {}),
  };
}

export function fromFailure({ code, message, retryable, details, cause }: Failure): ParleyError {
  return new ParleyError(code, message, {
    retryable,
    ...(details === undefined ? {} : { details }),
    ...(cause === undefined ? {} : { cause: new Error(cause) }),
  });
}
