import type {
  Chunk,
  CostSum,
  ErrorCode,
  OpenUnion,
  OutputVerdict,
  Role,
  StepId,
  ToolTiming,
  TurnReason,
  Usage,
} from "@parley/wire";

/** A failure, for programs (`code`) and for people (`message`). */
export interface Failure {
  readonly code: OpenUnion<ErrorCode>;
  readonly message: string;
  /** True if the same request may succeed later. */
  readonly retryable: boolean;
}

/** One message: its envelope and its parts. */
export interface FoldedMessage {
  /** The message's id: chosen by the sender for user messages, and the same live and in the log. */
  readonly id: string;
  readonly role: Role;
  readonly turnId?: string;
  readonly stepId?: StepId;
  /** In order. A window of history may start inside a message and hold only its last parts. */
  readonly parts: readonly PartState[];
  readonly firstSeq?: number;
  readonly lastSeq?: number;
  /** Epoch milliseconds. For display, never for order. */
  readonly createdAt?: number;
  /** `streaming`: published, and provisional until it is committed. `committed`: in the log, permanently. */
  readonly status: "streaming" | "committed";
}

/** One part of a message. */
export interface PartState {
  /** Unique in the conversation, and the same while it grows and once it is committed. */
  readonly key: string;
  /** Its 0-based place in the message. */
  readonly index: number;
  readonly chunk: Chunk;
  /** True if more of it is expected. */
  readonly streaming: boolean;
  /** Its place in the log, once it is committed. */
  readonly seq?: number;
}

/** One turn. */
export interface TurnState {
  readonly turnId: string;
  readonly status: "running" | "sealed";
  /**
   * Reason why it ended; `aborted` and `interrupted` among others. Absent: it runs, or the reason is not
   * known yet.
   */
  readonly reason?: OpenUnion<TurnReason>;
  /** The model, as `credential/model`. */
  readonly model?: string;
  /** Epoch milliseconds. Only while it runs; a sealed turn started with its first message. */
  readonly startedAt?: number;
  readonly durationMs?: number;
  /** The part of `durationMs` in which it waited for input. */
  readonly waitedMs?: number;
  /** The sum over all steps. Absent: unknown. */
  readonly usage?: Usage;
  readonly contextSize?: number;
  /** Cost of all calls, once generation is over. Absent: unknown. */
  readonly cost?: CostSum;
  /** In order. */
  readonly steps: readonly StepState[];
  readonly error?: Failure;
  /** Output of running tools, by call; once a call's result is committed, the result replaces it. */
  readonly toolOutput: Readonly<Record<string, string>>;
  readonly firstSeq?: number;
  readonly lastSeq?: number;
  /** For a sealed turn that had to return data: the verdict on its answer. The data is its last text. */
  readonly output?: OutputVerdict;
}

/** Tokens and timing of one step. Absent values are unknown. */
export interface StepState {
  readonly stepId: StepId;
  readonly usage?: Usage;
  /** From the start of the stream to the first text or reasoning. */
  readonly ttftMs?: number;
  /** From the first text or reasoning to the end of the stream. */
  readonly decodeMs?: number;
  /** From the start of the stream to its end. */
  readonly genTotalMs?: number;
  /** From the first tool's start to the last tool's end. Only in the metrics of a sealed turn. */
  readonly toolMs?: number;
  /** The step's tools, in call order. */
  readonly tools?: readonly ToolTiming[];
  /** True once the step's generation has ended. */
  readonly complete: boolean;
}
