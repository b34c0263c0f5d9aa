import type { JsonObject, JsonValue, OpenUnion } from "../json.js";

/**
 * Kind of input that a turn asks for. `approval`: a person decides whether a call may run. `question`: a
 * person answers. `tool-output`: the caller runs its own tool and submits the output.
 */
export type InputKind = "approval" | "question" | "tool-output";

/** Decision on a request. `deny` also ends an unanswered request: `via` is the reason. */
export type InputDecision = "allow" | "deny" | "answer" | "output";

/**
 * Source of a decision. `expiry`: no answer arrived in time. `stop`: the turn was stopped. `send`: a new
 * message replaced the turn. `end`: the turn ended for another reason.
 */
export type InputVia = "http" | "socket" | "runtime" | "expiry" | "stop" | "send" | "end";

/** The person or program that decided. */
export interface InputActor {
  readonly owner: string;
  /** The API key that was used. Absent on a server without keys. */
  readonly keyId?: string;
  /** For people: the start of the key, or a name. */
  readonly label?: string;
}

/**
 * Scope of a standing approval: calls of the same tool, as described when it was approved, in this
 * conversation or in all conversations of the owner.
 */
export interface GrantScope {
  readonly in: "conversation" | "owner";
  /**
   * Only for calls whose arguments match: by path (`path.to.field`), a string in which `*` matches any
   * characters, or another value that must be equal. Absent: for any arguments.
   */
  readonly where?: Readonly<Record<string, JsonValue>>;
}

/**
 * Log entry: a turn asks for input. The call that it is about precedes it, with the same `toolCallId`, and
 * holds the arguments.
 */
export interface InputRequestEntry {
  readonly type: "input-request";
  /** Identifies the request in its conversation. */
  readonly requestId: string;
  readonly kind: OpenUnion<InputKind>;
  readonly toolCallId: string;
  readonly toolName: string;
  /**
   * SHA-256 of the call's `argumentsText`, in hexadecimal. An approval includes it, so that it is valid for
   * these bytes only.
   */
  readonly argumentsHash: string;
  /** Reason for the request, for people. */
  readonly reason?: string;
  /** JSON Schema of the answer, for a question. */
  readonly schema?: JsonObject;
  /** Epoch milliseconds; unanswered by then, the request is denied. Absent: it never expires. */
  readonly expiresAt?: number;
}

/** Log entry: a request was decided. Each request gets exactly one. */
export interface InputResponseEntry {
  readonly type: "input-response";
  readonly requestId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly decision: OpenUnion<InputDecision>;
  /** The arguments that the call runs with, if the person changed them. */
  readonly argumentsText?: string;
  /** The answer to a question, or the output of the caller's tool. */
  readonly value?: JsonValue;
  /** True if the caller's tool failed: `value` describes the failure. */
  readonly isError?: boolean;
  /** Absent if no person or program decided. */
  readonly by?: InputActor;
  readonly via: OpenUnion<InputVia>;
  /** The standing approval that was granted with it. */
  readonly scope?: GrantScope;
  /** For the model and for people. */
  readonly note?: string;
}

/** A log entry about input that a turn waits for. Discriminated by `type`. */
export type InputEntry = InputRequestEntry | InputResponseEntry;

/** Unanswered requests of a conversation's open turn. */
export interface WaitingInfo {
  readonly turnId: string;
  /** Number of requests. */
  readonly count: number;
  /** Their kinds, each once. */
  readonly kinds: readonly OpenUnion<InputKind>[];
}
