import type { ErrorCode } from "@parley/core/errors";
import { isParleyError, ParleyError, toParleyError } from "@parley/core/errors";
import { omitUndefined } from "@parley/core/messages";
import type { MigrationProgress } from "../migration/migrations.js";

/** A method of the store, called across the thread: everything in it survives a structured clone. */
export interface Call {
  readonly id: number;
  /** Owner of the store; absent for calls of a node. */
  readonly owner?: string;
  readonly method: string;
  readonly values: readonly unknown[];
}

/** Number of the answer that says that the database is open, or why it is not. No call has it. */
export const openId = 0;

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure };

/** Messages of the thread: answers, the progress of a migration, and once that it cannot be used any more. */
export type ThreadMessage = Answer | { readonly migrating: MigrationProgress } | { readonly broken: Failure };

/** A `ParleyError` as plain data: errors lose their own fields in a structured clone. */
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
    ...omitUndefined({ details }),
    ...(cause instanceof Error ? { cause: cause.message } : {}),
  };
}

export function fromFailure({ code, message, retryable, details, cause }: Failure): ParleyError {
  return new ParleyError(code, message, {
    retryable,
    ...omitUndefined({ details }),
    ...(cause === undefined ? {} : { cause: new Error(cause) }),
  });
}
