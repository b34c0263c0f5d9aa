import type { InputKind, InputRequestEntry, InputResponseEntry, JsonObject, JsonValue } from "@parley/wire";
import type { ToolCallContentPart } from "../../messages/part.js";
import type { ApprovalRule } from "./approval.js";

/** A request for input, with what the log does not repeat of its call. */
export interface InputRequest extends InputRequestEntry {
  readonly stepId: string;
  /** See `toolHash`. */
  readonly toolHash: string;
  /** What is approved, byte for byte. */
  readonly argumentsText: string;
  /** How long it waits, by the store's clock. Absent: for ever. */
  readonly expiresMs?: number;
  /** An approval of this request stands for later calls of the tool in the conversation. */
  readonly remember?: true;
}

/** A call that waits for input, and the decision on it once there is one. */
export interface AskedCall {
  readonly request: InputRequest;
  response: InputResponseEntry | undefined;
  /** Whether the response is in the log, or in the journal on its way there. */
  isLogged: boolean;
}

/** The calls of a step that wait for input. */
export type AskedCalls = ReadonlyMap<ToolCallContentPart, AskedCall>;

/** A call that needs a decision, for a host that decides at once. */
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
  /** Why it is asked; the question itself where it is one. */
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

/** Decides on a call at once: for hosts whose turns cannot wait. */
export type Approve = (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>;

/**
 * How a turn gets decisions on its calls. With `listen` it can wait: requests are committed with the step, the turn
 * ends as `waiting` when only undecided calls are left, and goes on in a resumed turn. With `approve` it asks and goes
 * on. With neither, a call that needs a decision is denied.
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
  /** How long a request waits. Absent: for ever. */
  readonly expiresMs?: number;
  /** Reads the responses that are recorded and not in the log. */
  responses?(): Promise<readonly InputResponseEntry[]>;
  /** Records a question of a call that runs: whoever may answer sees it when this resolves. */
  ask?(request: InputRequest): Promise<void>;
  /** Ends such a question with a denial, unless it was answered. Returns the response in force. */
  endQuestion?(denial: InputResponseEntry): Promise<InputResponseEntry>;
  /** Calls back with each response that is recorded while the turn runs. Returns a function that stops. */
  listen?(onResponse: (response: InputResponseEntry) => void): () => void;
}
