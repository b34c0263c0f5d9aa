import type { InputKind, InputRequestEntry, InputResponseEntry, JsonObject, JsonValue } from "@parley/wire";
import type { ToolCallContentPart } from "../../messages/part.js";
import type { ApprovalRule } from "./approval.js";

/** A request for input, with the data of its call that the log does not repeat. */
export interface InputRequest extends InputRequestEntry {
  readonly stepId: string;
  /** See `toolHash`. */
  readonly toolHash: string;
  /** The approved arguments, byte for byte. */
  readonly argumentsText: string;
  /** Time that it waits, by the store's clock. Absent: forever. */
  readonly expiresMs?: number;
  /** True if an approval of this request also holds for later calls of the tool in the conversation. */
  readonly remember?: true;
}

/** A call that waits for input, and the decision on it once there is one. */
export interface AskedCall {
  readonly request: InputRequest;
  response: InputResponseEntry | undefined;
  /** True if the response is in the log, or in the journal that will be committed to it. */
  isLogged: boolean;
}

/** The calls of a step that wait for input. */
export type AskedCalls = ReadonlyMap<ToolCallContentPart, AskedCall>;

/** A call that needs a decision, for a host that decides immediately. */
export interface ApprovalRequest {
  readonly kind: InputKind;
  readonly conversationId: string;
  readonly turnId: string;
  readonly stepId: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly owner?: string;
  /** The arguments as a value, and as the model wrote them. */
  readonly arguments: unknown;
  readonly argumentsText: string;
  /** Reason for the request; the question itself if it is one. */
  readonly reason?: string;
  /** JSON Schema of the answer, for a question. */
  readonly schema?: JsonObject;
  /** Aborts when the turn is stopped. */
  readonly signal?: AbortSignal;
}

/** A decision on a call. `true` allows it as it is, `false` denies it. */
export type ApprovalAnswer =
  | boolean
  | { readonly decision: "allow"; readonly arguments?: unknown }
  | { readonly decision: "deny"; readonly note?: string }
  | { readonly decision: "answer" | "output"; readonly value: JsonValue; readonly isError?: boolean };

/** Decides on a call immediately: for hosts whose turns cannot wait. */
export type Approve = (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>;

/**
 * Source of decisions on a turn's calls. With `listen` it can wait: requests are committed with the step, the turn
 * ends as `waiting` when only undecided calls are left, and continues in a resumed turn. With `approve` it asks and
 * continues. With neither, a call that needs a decision is denied.
 */
export interface TurnInputs {
  readonly rules?: readonly ApprovalRule[];
  readonly approve?: Approve;
  /** Returns true if a standing approval covers a call. */
  isGranted?(call: {
    readonly toolName: string;
    readonly toolHash: string;
    readonly arguments: unknown;
  }): Promise<boolean>;
  /** Time that a request waits. Absent: forever. */
  readonly expiresMs?: number;
  /** Reads the responses that are recorded and not in the log. */
  responses?(): Promise<readonly InputResponseEntry[]>;
  /** Records a question of a running call: people who may answer see it when this resolves. */
  ask?(request: InputRequest): Promise<void>;
  /** Ends such a question with a denial, unless it was answered. Returns the response in force. */
  endQuestion?(denial: InputResponseEntry): Promise<InputResponseEntry>;
  /** Calls back with each response that is recorded while the turn runs. Returns a function that stops it. */
  listen?(onResponse: (response: InputResponseEntry) => void): () => void;
}
