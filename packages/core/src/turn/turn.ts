import type {
  AgentEvent,
  ContextManifest,
  InputResponseEntry,
  ModelPrices,
  TurnMetrics,
  TurnReason,
} from "@parley/wire";
import type { Clock } from "../clock.js";
import type { ParleyError } from "../errors.js";
import type { IdFactory } from "../messages/ids.js";
import type { ConversationMessage, TokenUsage } from "../messages/message.js";
import type { MessageContentPart, ToolCallContentPart } from "../messages/part.js";
import { type AnswerLimits, defaultAnswerLimits } from "../ports/answer-limits.js";
import type { TurnOutputChoice } from "../ports/conversation-record.js";
import type {
  ProviderAdapter,
  ProviderCallParams,
  ProviderCallRecord,
  ProviderMessage,
  ProviderRetry,
} from "../ports.js";
import type { AskedCall, InputRequest, TurnInputs } from "./approval/turn-inputs.js";
import type { Tool } from "./tools/tool.js";

/** Limits of one turn. Every field has a default in `defaultTurnLimits`. */
export interface TurnLimits extends AnswerLimits {
  /** Model calls in one turn. */
  readonly maxSteps: number;
  /** Tools of one step that run at the same time. */
  readonly toolConcurrency: number;
  /** Maximum duration of one tool's run. */
  readonly toolTimeoutMs: number;
  /**
   * Maximum size of a tool's answer, and of its output, in UTF-8 bytes. The rest is cut, with a note that it was cut.
   */
  readonly toolOutputBytes: number;
}

/** Default limits of a turn. */
export const defaultTurnLimits: TurnLimits = {
  ...defaultAnswerLimits,
  maxSteps: 32,
  toolConcurrency: 8,
  toolTimeoutMs: 120_000,
  toolOutputBytes: 1_000_000,
};

/** Messages and tools that the model is shown in one step. */
export interface StepContext {
  /** Instructions first, then history, then this turn's messages. */
  readonly messages: ProviderMessage[];
  readonly manifest?: ContextManifest | undefined;
  /** Maximum output of this step, if the request leaves fewer tokens than the model could write. */
  readonly maxTokens?: number | undefined;
  /** The tools from this step on, if they change in the middle of a turn. */
  readonly tools?: readonly Tool<never>[];
}

/** One durable write of a step. */
export interface StepCommit {
  readonly stepId: string;
  readonly stepIndex: number;
  /**
   * `generation`: the assistant message and the requests for input, before any tool starts. `results`: the tool
   * messages, in call order, after the responses; for a step that waits, those that exist.
   */
  readonly phase: "generation" | "results";
  readonly messages: readonly ConversationMessage[];
  /** The turn's steps and calls so far, this one included: a node that takes over continues counting from them. */
  readonly steps: TurnMetrics["steps"];
  readonly providerCalls: readonly ProviderCallRecord[];
  /** The requests for input among the messages. */
  readonly inputs?: readonly InputRequest[];
  /** Only undecided calls are left: the turn waits from this commit on, unless a response has arrived meanwhile. */
  readonly wait?: boolean;
}

/** Result of a commit. */
export interface StepCommitted {
  /** Messages that were promoted with the results: the model sees them in the next step. */
  readonly steering?: readonly ConversationMessage[];
  /** True if the turn has to end here without sealing, so that another node continues it. */
  readonly release?: boolean;
  /** True if the turn waits: no node holds it any more, and nothing of it may be written. */
  readonly waiting?: boolean;
  /** Responses to the step's requests that are not in the log yet. */
  readonly responses?: readonly InputResponseEntry[];
}

/** Destination of a turn's durable messages. The loop never sees a store. */
export interface TurnSink {
  /** Resolves when the messages are durable. A rejection ends the turn with that error. */
  commitStep(commit: StepCommit): Promise<StepCommitted>;
  /** Returns true while the node is shutting down: the turn finishes its step and then releases. */
  draining?(): boolean;
}

/** State of a turn that another node started, from which it continues. */
export interface TurnResume {
  /** The step to continue with. */
  readonly stepIndex: number;
  /** That step was committed with calls that have no results yet: they run first. */
  readonly pendingCalls?: readonly ToolCallContentPart[];
  /** Results of those calls that are already known: kept as they are, not made again. */
  readonly settled?: readonly ConversationMessage[];
  /** Messages that the turn has made and committed before, without its user messages. */
  readonly messages?: readonly ConversationMessage[];
  readonly steps?: TurnMetrics["steps"];
  readonly providerCalls?: readonly ProviderCallRecord[];
  /** The pending calls that wait for input, with their recorded decisions. */
  readonly asked?: ReadonlyMap<ToolCallContentPart, AskedCall>;
  /** Pending calls that may have run and may not run again: they are answered as interrupted. */
  readonly lost?: ReadonlySet<ToolCallContentPart>;
  /** Entries of the turn that are in the journal and in no row: the next commit writes them. */
  readonly unwritten?: readonly ConversationMessage[];
  /** Time that the turn had been open, waiting included. */
  readonly elapsedMs?: number;
  /** Time that it had waited. */
  readonly waitedMs?: number;
}

/** Everything one turn needs. */
export interface TurnSetup {
  readonly conversationId: string;
  readonly turnId: string;
  readonly owner?: string;
  readonly provider: ProviderAdapter;
  /** Model, extra parameters, effort. `tools` here are only shown to the model; `tools` below are also run. */
  readonly providerParams: Omit<ProviderCallParams, "messages">;
  /** The model's name as people know it, for events and metrics. Default: the name in `providerParams`. */
  readonly model?: string;
  /** The model's prices, from which the cost of calls is estimated. Absent: unknown. */
  readonly prices?: ModelPrices;
  /** Receives each call that the turn makes, as it is recorded. */
  onCall?(call: ProviderCallRecord): void;
  /** Called when a call of the model failed and is made again. */
  onRetry?(retry: ProviderRetry): void;
  /**
   * The tools that run here. Without any, calls are left to the caller and the turn makes one step. In a step that also
   * calls tools which are only declared, these run, and the turn ends for the others.
   */
  readonly tools?: readonly Tool<never>[];
  /** Data that the turn has to return: if an answer does not match, the model is called again. */
  readonly output?: TurnOutputChoice;
  /** Decides calls that need input. Absent: they are denied. */
  readonly inputs?: TurnInputs;
  /** Time when the turn was opened, as in `turn-start`. Default: now. */
  readonly startedAt?: number;
  /** The user messages that opened the turn: part of the first event. */
  readonly userMessages: readonly ConversationMessage[];
  /** Builds the messages for the model; called once per step with the messages that the turn has made so far. */
  context(step: {
    readonly stepIndex: number;
    readonly stepId: string;
    readonly turnMessages: readonly ConversationMessage[];
    /** Records a call that is made to build it, such as a compaction's. */
    onCall(call: ProviderCallRecord): void;
  }): Promise<StepContext>;
  readonly sink: TurnSink;
  /**
   * Stores the files among parts that hold their bytes, and returns the parts with references in their places. Absent: the
   * bytes stay in the messages.
   */
  storeFiles?(parts: readonly MessageContentPart[]): Promise<readonly MessageContentPart[]>;
  readonly limits?: Partial<TurnLimits>;
  readonly clock?: Clock;
  readonly ids?: IdFactory;
  /** Aborting stops the turn: what exists is kept, every open call gets a result, the reason is `aborted`. */
  readonly signal?: AbortSignal;
  /**
   * Returns the reason that `signal` aborted: the turn ends with this reason, and with `error` if there is one.
   * Default `aborted`.
   */
  abortReason?(): { readonly reason: TurnReason; readonly error?: ParleyError };
  readonly resume?: TurnResume;
  /** Keep the providers' raw responses in the call records. Default false. */
  readonly keepRaw?: boolean;
}

/** End of a turn, with the messages that are not yet durable. */
export interface TurnOutcome {
  /**
   * `released` leaves the turn open for another node, `waiting` until a request is answered; all others are final.
   */
  readonly state: "finished" | "released" | "waiting";
  readonly reason: TurnReason;
  readonly error?: ParleyError;
  /** The model call whose failure ended the turn. */
  readonly failedCall?: ProviderCallRecord;
  /** All messages that the turn made, in order: assistant, tool and steering messages. */
  readonly messages: readonly ConversationMessage[];
  /** The tail of `messages` that no commit has written. The seal writes it. */
  readonly uncommitted: readonly ConversationMessage[];
  readonly providerCalls: readonly ProviderCallRecord[];
  readonly usage?: TokenUsage;
  readonly contextSize?: number;
  readonly metrics: TurnMetrics;
}

/**
 * Receives the events of a turn in their order. The turn continues when a returned promise resolves; only
 * `tool-result`s that arrive together are passed together, and then waited for together.
 */
export type TurnListener = (event: AgentEvent) => Promise<void> | undefined;

/** The events of a turn, from `user-message` to `done`, and its outcome as the return value. */
export type TurnStream = AsyncGenerator<AgentEvent, TurnOutcome, undefined>;
