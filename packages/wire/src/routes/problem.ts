import type { ErrorCode } from "../error-code.js";
import type { InputKind, InputResponseEntry } from "../input/input-entry.js";
import type { OpenUnion } from "../json.js";

/** One invalid field of a request. */
export interface FieldProblem {
  /** Path of the field: names and indexes joined by dots, `message` or `metadata.tags.0`. */
  readonly path: string;
  /** Description of the problem, for people. */
  readonly message: string;
}

/** A request that a turn waits for. */
export interface OpenRequestInfo {
  readonly requestId: string;
  readonly kind: OpenUnion<InputKind>;
  readonly toolName: string;
}

/** The body of every error response, as `application/problem+json`. */
export interface Problem {
  /** A URL that describes the code. */
  readonly type?: string;
  /** The code in words; the same for every occurrence. */
  readonly title: string;
  /** The HTTP status, repeated. */
  readonly status: number;
  /** Description of this occurrence, for people. Contains no secrets and no other owner's data. */
  readonly detail?: string;
  readonly code: ErrorCode;
  /** The same as one line, for clients that read only this. */
  readonly error: string;
  /** True if the same request may succeed later. */
  readonly retryable?: boolean;
  /** Identifies the request in the server's log. */
  readonly requestId?: string;
  /** The fields at fault, with `invalid_request`. */
  readonly errors?: readonly FieldProblem[];
  /** The decision in force, with `already_decided`. */
  readonly response?: InputResponseEntry;
  /** The requests that the turn waits for, with `turn_active`. */
  readonly requests?: readonly OpenRequestInfo[];
}
