import type { ConversationStatus } from "../conversation.js";
import type { ErrorCode } from "../error-code.js";
import type { CostSum } from "../figures/cost.js";
import type { Usage } from "../figures/usage.js";
import type { InputRequestEntry, InputResponseEntry, WaitingInfo } from "../input/input-entry.js";
import type { OpenUnion, ProviderMetadata } from "../json.js";
import type { SourceChunk } from "./chunk.js";
import type { StepId } from "./ids.js";
import type { OutputInvalidEntry, TurnOutput } from "./output.js";
import type { TurnReason } from "./turn-reason.js";

/**
 * An event that the runtime publishes while a turn runs. Discriminated by `type`.
 *
 * Order within a turn: `user-message`, `turn-start`; per step `reasoning-delta`s, `text-delta`s and
 * `tool-call`s as the model produces them, `usage`, `step-complete`, then `input-request`s, and in any order
 * `input-response`s, `tool-output`s and `tool-result`s, and at most one `steering`, or an `output-invalid`;
 * then perhaps `error`; and always `done` and `turn-sealed`, also after a stop, a failure or a crash.
 * `status` is outside: `active` before the turn, `idle` after it, unless the next turn follows at once; and
 * `active` with `waiting` in the middle of a turn that continues when a request is answered. `turn-progress`
 * may occur anywhere inside a turn.
 *
 * Guarantees: `input-request`, `input-response`, `tool-result`, `output-invalid`, `steering` and
 * `turn-sealed` are durable when they are seen, and a tool starts only after its call, and the decision on
 * it, are durable. A delta guarantees nothing: it is provisional, and after a crash the stored text is a
 * prefix of what was shown.
 *
 * Types may be added; a client ignores those it does not know.
 */
export type AgentEvent =
  | StatusEvent
  | TurnStartEvent
  | TurnInputEvent
  | TurnTextDeltaEvent
  | TurnReasoningDeltaEvent
  | TurnToolCallEvent
  | TurnToolResultEvent
  | TurnToolOutputEvent
  | TurnInputRequestEvent
  | TurnInputResponseEvent
  | TurnOutputInvalidEvent
  | TurnUsageEvent
  | TurnStepCompleteEvent
  | TurnErrorEvent
  | TurnDoneEvent
  | TurnSealedEvent
  | TurnSteeringEvent
  | TurnProgressEvent;

/**
 * The conversation's status changed. Not journaled: it is published live and read from the metadata later.
 */
export interface StatusEvent {
  readonly type: "status";
  readonly conversationId: string;
  readonly status: OpenUnion<ConversationStatus>;
  /** With `active`: the turn waits for these requests, and nothing runs until one of them is answered. */
  readonly waiting?: WaitingInfo;
}

/** The turn has started. */
export interface TurnStartEvent {
  readonly type: "turn-start";
  readonly conversationId: string;
  readonly turnId: string;
  /** The model of the turn, as `credential/model`. */
  readonly model?: string;
  /** Epoch milliseconds. */
  readonly startedAt?: number;
}

/**
 * The input that opened the turn, and its first event: a watcher sees the prompt as early as the sender does.
 * A sender that already shows its own message recognizes it by `messageId`.
 *
 * When several queued messages open a turn together, `text` joins them and `messages` has each.
 */
export interface TurnInputEvent {
  readonly type: "user-message";
  readonly conversationId: string;
  readonly turnId: string;
  readonly text: string;
  /** The sender's id of the message; of the first one if there are several. */
  readonly messageId?: string;
  /** Epoch milliseconds. */
  readonly createdAt?: number;
  /** Each message separately, in order. Present if there is more than one. */
  readonly messages?: readonly DeliveredMessage[];
}

/** One user message, with the id under which it was sent and is stored in the log. */
export interface DeliveredMessage {
  readonly messageId: string;
  readonly text: string;
}

/**
 * More text of the answer. Provisional until its step is committed.
 *
 * Parts of one step may interleave: `stepId` and `partIndex` identify the part that the text belongs to, and
 * the same pair is on the stored chunk that replaces it.
 */
export interface TurnTextDeltaEvent {
  readonly type: "text-delta";
  readonly conversationId: string;
  readonly turnId: string;
  /** The increment only, never the text so far. */
  readonly delta: string;
  readonly stepId?: StepId;
  /** The message that the text will be a part of. */
  readonly messageId?: string;
  /** The part's 0-based place in that message. */
  readonly partIndex?: number;
  readonly providerMetadata?: ProviderMetadata;
}

/** More of the model's reasoning. As `text-delta`, for a `thinking` part. */
export interface TurnReasoningDeltaEvent {
  readonly type: "reasoning-delta";
  readonly conversationId: string;
  readonly turnId: string;
  /** The increment only; may be empty if it only carries `providerMetadata`. */
  readonly delta: string;
  readonly stepId?: StepId;
  /** The message that the reasoning will be a part of. */
  readonly messageId?: string;
  /** The part's 0-based place in that message. */
  readonly partIndex?: number;
  readonly providerMetadata?: ProviderMetadata;
}

/** The model calls a tool. The calls of a step share `stepId`, here and in the stored chunks. */
export interface TurnToolCallEvent {
  readonly type: "tool-call";
  readonly conversationId: string;
  readonly turnId: string;
  readonly stepId: StepId;
  readonly toolCallId: string;
  readonly toolName: string;
  /** The arguments as a value, derived from `argumentsText`. */
  readonly input: unknown;
  /** The arguments exactly as the model wrote them. */
  readonly argumentsText?: string;
  /** The assistant message that the call will be a part of. */
  readonly messageId?: string;
  /** The part's 0-based place in that message. */
  readonly partIndex?: number;
  readonly providerMetadata?: ProviderMetadata;
}

/** A tool has finished. Durable when seen; exactly one per call, also for a call that was cut short. */
export interface TurnToolResultEvent {
  readonly type: "tool-result";
  readonly conversationId: string;
  readonly turnId: string;
  /** Equal to the `stepId` of the call. */
  readonly stepId: StepId;
  readonly toolCallId: string;
  readonly toolName: string;
  /** The exact text that the model is shown. */
  readonly content: string;
  readonly isError: boolean;
  /** From dispatch to result, by the server's clock. */
  readonly durationMs?: number;
  /** True if the tool was stopped, or its node failed, before it had answered: `content` only says so. */
  readonly interrupted?: boolean;
  /** The id that the result's tool message will have. */
  readonly messageId?: string;
  readonly providerMetadata?: ProviderMetadata;
}

/** Output of a tool while it runs. For watching only: it is not part of the log. */
export interface TurnToolOutputEvent {
  readonly type: "tool-output";
  readonly conversationId: string;
  readonly turnId: string;
  readonly toolCallId: string;
  readonly data: string;
  readonly stream: "stdout" | "stderr";
  readonly stepId?: StepId;
}

/** A call of the turn waits for a person or for the caller. Durable when seen, together with its call. */
export interface TurnInputRequestEvent {
  readonly type: "input-request";
  readonly conversationId: string;
  readonly turnId: string;
  /** Equal to the `stepId` of the call. */
  readonly stepId: StepId;
  /** The id of the request's message in the log. */
  readonly messageId: string;
  readonly input: InputRequestEntry;
}

/** A request was decided. Durable when seen; exactly one per request. */
export interface TurnInputResponseEvent {
  readonly type: "input-response";
  readonly conversationId: string;
  readonly turnId: string;
  /** Equal to the `stepId` of the request. */
  readonly stepId: StepId;
  /** The id of the response's message in the log, now or later. */
  readonly messageId: string;
  readonly input: InputResponseEntry;
}

/**
 * The answer does not match the data that the turn must return: the model is called again. Durable when seen.
 */
export interface TurnOutputInvalidEvent {
  readonly type: "output-invalid";
  readonly conversationId: string;
  readonly turnId: string;
  /** The step that answered. */
  readonly stepId: StepId;
  /** The id of the message in the log that describes the problem to the model. */
  readonly messageId: string;
  readonly output: OutputInvalidEntry;
}

/** Token counts of a step. */
export interface TurnUsageEvent {
  readonly type: "usage";
  readonly conversationId: string;
  readonly turnId: string;
  /** The step whose tokens these are; joins with its `step-complete`. */
  readonly stepId?: StepId;
  readonly usage: Usage;
}

/**
 * A step's generation has ended, once per step, with its final timing. If a first token was seen,
 * `genTotalMs` is exactly `ttftMs + decodeMs`. Absent timings are unknown.
 */
export interface TurnStepCompleteEvent {
  readonly type: "step-complete";
  readonly conversationId: string;
  readonly turnId: string;
  readonly stepId: StepId;
  /** From the start of the stream to the first text or reasoning. */
  readonly ttftMs?: number;
  /** From the first text or reasoning to the end of the stream. */
  readonly decodeMs?: number;
  /** From the start of the stream to its end. */
  readonly genTotalMs?: number;
  /** Sources of the step's answer, as its message will have them. Absent: none was named. */
  readonly sources?: readonly SourceChunk[];
}

/**
 * The turn has failed; `done` with reason `error` follows. If `POST /chat` ends with it and without `done`,
 * only that response was cut off (`draining`, `unauthorized`): the turn continues, and its `messageId` leads
 * back to it.
 */
export interface TurnErrorEvent {
  readonly type: "error";
  readonly conversationId: string;
  readonly turnId: string;
  /** For people. */
  readonly message: string;
  readonly code?: OpenUnion<ErrorCode>;
  /** True if the same request may succeed later. */
  readonly retryable?: boolean;
}

/** Generation is over. `turn-sealed` follows when everything is durable. */
export interface TurnDoneEvent {
  readonly type: "done";
  readonly conversationId: string;
  readonly turnId: string;
  readonly reason: OpenUnion<TurnReason>;
  /** From the turn's start to its end, including waiting. */
  readonly durationMs?: number;
  /** The part of it in which the turn waited for input and nothing ran. Absent: it did not wait. */
  readonly waitedMs?: number;
  /** The sum over all steps. Absent if no step reported usage. */
  readonly usage?: Usage;
  /**
   * Tokens that the conversation occupies now: input + output of the **last** step, not the sum in `usage`.
   * Absent means unknown, which is never shown as 0.
   */
  readonly contextSize?: number;
  /** Cost of all calls of the turn, including compactions. Absent: the cost of every call is unknown. */
  readonly cost?: CostSum;
}

/** The turn is final: all its chunks are durable and will never change. Emitted after that commit. */
export interface TurnSealedEvent {
  readonly type: "turn-sealed";
  readonly conversationId: string;
  readonly turnId: string;
  /** The seq of the turn's first chunk, its opening user message. */
  readonly firstSeq?: number;
  /** The seq of the turn's last chunk; every seq between belongs to the turn. */
  readonly lastSeq?: number;
  /** Equal to the reason of `done`. */
  readonly reason?: OpenUnion<TurnReason>;
  /** For a turn that had to return data: the data, or why there is none. */
  readonly output?: TurnOutput;
}

/**
 * Queued messages were added to the running turn at a tool-result boundary, and the model sees them with the
 * results. Durable when seen; at most one per boundary. Messages that instead open the next turn are
 * published as its
 * `user-message`, without this event.
 */
export interface TurnSteeringEvent {
  readonly type: "steering";
  readonly conversationId: string;
  readonly turnId: string;
  /** All delivered texts, joined. */
  readonly text: string;
  /** The ids of the delivered messages, in order: the queue entries that are now in the log. */
  readonly messageIds?: readonly string[];
  /** Each message separately, in order. */
  readonly messages?: readonly DeliveredMessage[];
  /** Epoch milliseconds. */
  readonly createdAt?: number;
}

/**
 * The turn's state while no part of its answer arrives. Live only: it is in no log, no journal and no export,
 * a client that joins later reads the state from `ActiveTurn`, and clients on another node are not sent it.
 */
export interface TurnProgressEvent {
  readonly type: "turn-progress";
  readonly conversationId: string;
  readonly turnId: string;
  /** Absent: the previously published state has ended. */
  readonly progress?: TurnProgress;
}

/** The reason why a running turn shows nothing new, other than that the model has not answered yet. */
export interface TurnProgress {
  /** `retrying`: the model call failed and is retried. `compacting`: older messages are being summarized. */
  readonly activity: OpenUnion<"retrying" | "compacting">;
  /** Epoch milliseconds. */
  readonly since: number;
  /** For `retrying`: the time of the next attempt, in epoch milliseconds. */
  readonly retryAt?: number;
  /** For `retrying`: the reason why the call failed. */
  readonly code?: OpenUnion<ErrorCode>;
}
