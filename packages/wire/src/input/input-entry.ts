import type { JsonObject, JsonValue, OpenUnion } from "../json.js";

/**
 * Kind of input that a turn asks for. `approval`: a person decides whether a call may run. `question`: a person answers.
 * `tool-output`: the caller runs its own tool and hands in the output.
 */
export type InputKind = "approval" | "question" | "tool-output";

/** Decision on a request. `deny` also ends a request that nobody answered: `via` says why. */
export type InputDecision = "allow" | "deny" | "answer" | "output";

/**
 * Where a decision came from. `expiry`: nobody answered in time. `stop`: the turn was stopped. `send`: a new message took
 * the turn's place. `end`: the turn ended for another reason.
 */
export type InputVia = "http" | "socket" | "runtime" | "expiry" | "stop" | "send" | "end";

/** Whoever decided. */
export interface InputActor {
  readonly owner: string;
  /** The API key that was used. Absent on a server without keys. */
  readonly keyId?: string;
  /** For people: the beginning of the key, or a name. */
  readonly label?: string;
}

/**
 * Scope of a standing approval: calls of the same tool, as it was described when it was approved, in this conversation
 * or in all conversations of the owner.
 */
export interface GrantScope {
  readonly in: "conversation" | "owner";
  /**
   * Only for calls whose arguments match: by path (`path.to.field`), a text in which `*` stands for any characters, or
   * another value that has to be equal. Absent: for any arguments.
   */
  readonly where?: Readonly<Record<string, JsonValue>>;
}

/**
 * A turn asks for input: an entry of the log. The call that it is about stands before it, with the same `toolCallId`,
 * and holds the arguments.
 */
export interface InputRequestEntry {
  readonly type: "input-request";
  /** Names the request in its conversation. */
  readonly requestId: string;
  readonly kind: OpenUnion<InputKind>;
  readonly toolCallId: string;
  readonly toolName: string;
  /** SHA-256 of the call's `argumentsText`, in hexadecimal. An approval names it, so that it holds for these bytes only. */
  readonly argumentsHash: string;
  /** Why it is asked, for people. */
  readonly reason?: string;
  /** JSON Schema of the answer, for a question. */
  readonly schema?: JsonObject;
  /** Epoch milliseconds; unanswered by then, the request is denied. Absent: it waits for ever. */
  readonly expiresAt?: number;
}

/** A request was decided: an entry of the log. Each request gets exactly one. */
export interface InputResponseEntry {
  readonly type: "input-response";
  readonly requestId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly decision: OpenUnion<InputDecision>;
  /** The arguments that the call runs with, where the person changed them. */
  readonly argumentsText?: string;
  /** The answer to a question, or the output of the caller's tool. */
  readonly value?: JsonValue;
  /** The caller's tool failed: `value` says how. */
  readonly isError?: boolean;
  /** Absent where nobody decided. */
  readonly by?: InputActor;
  readonly via: OpenUnion<InputVia>;
  /** The standing approval that was given with it. */
  readonly scope?: GrantScope;
  /** For the model and for people. */
  readonly note?: string;
}

/** An entry of the log about input that a turn waits for. Told apart by `type`. */
export type InputEntry = InputRequestEntry | InputResponseEntry;

/** Requests of a conversation's open turn that nobody has answered yet. */
export interface WaitingInfo {
  readonly turnId: string;
  /** How many there are. */
  readonly count: number;
  /** Their kinds, each once. */
  readonly kinds: readonly OpenUnion<InputKind>[];
}
