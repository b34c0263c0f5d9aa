import type { ErrorCode } from "../error-code.js";
import type { InputKind, InputResponseEntry } from "../input/input-entry.js";
import type { OpenUnion } from "../json.js";

/** One field of a request that is not as it should be. */
export interface FieldProblem {
  /** Where: names and indexes joined by dots, `message` or `metadata.tags.0`. */
  readonly path: string;
  /** What is wrong, for people. */
  readonly message: string;
}

/** A request that a turn waits for. */
export interface OpenRequestInfo {
  readonly requestId: string;
  readonly kind: OpenUnion<InputKind>;
  readonly toolName: string;
}

/** The body of every answer that is not a success, as `application/problem+json`. */
export interface Problem {
  /** An address that describes the code. */
  readonly type?: string;
  /** The code in words; the same for every occurrence. */
  readonly title: string;
  /** The HTTP status, again. */
  readonly status: number;
  /** What happened this time, for people. Holds no secrets and no other owner's data. */
  readonly detail?: string;
  readonly code: ErrorCode;
  /** The same as one line, for clients that read only this. */
  readonly error: string;
  /** Whether the same request may succeed later. */
  readonly retryable?: boolean;
  /** Names the request in the server's log. */
  readonly requestId?: string;
  /** The fields at fault, with `invalid_request`. */
  readonly errors?: readonly FieldProblem[];
  /** The decision in force, with `already_decided`. */
  readonly response?: InputResponseEntry;
  /** What the turn waits for, with `turn_active`. */
  readonly requests?: readonly OpenRequestInfo[];
}
