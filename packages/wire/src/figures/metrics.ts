import type { OpenUnion } from "../json.js";
import type { StepId } from "../log/ids.js";
import type { OutputVerdict } from "../log/output.js";
import type { TurnReason } from "../log/turn-reason.js";
import type { CostSum } from "./cost.js";
import type { Usage } from "./usage.js";

/** Duration of one tool call. */
export interface ToolTiming {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly isError: boolean;
  /** From dispatch to result. */
  readonly durationMs?: number;
}

/**
 * Tokens and timing of one finished step. Equal to the live `usage` and `step-complete` events, so a
 * conversation that is opened later shows the same figures.
 *
 * If a first token was seen, `genTotalMs` is exactly `ttftMs + decodeMs`. Absent timings are unknown, not
 * zero.
 */
export interface StepMetrics {
  readonly stepId: StepId;
  /** All 0 if the provider reported none; then there was no `usage` event. */
  readonly usage: Usage;
  /** From the start of the stream to the first text or reasoning. */
  readonly ttftMs?: number;
  /** From the first text or reasoning to the end of the stream. */
  readonly decodeMs?: number;
  /** From the start of the stream to its end. */
  readonly genTotalMs?: number;
  /** The time in which tools of the step ran; they run in parallel. Waiting for decisions is not included. */
  readonly toolMs?: number;
  /** The step's tools, in call order. */
  readonly tools?: readonly ToolTiming[];
  /** The model that answered, as `credential/model`. */
  readonly model?: string;
}

/** Tokens and timing of one sealed turn: the stored form of its live events, and equal to them. */
export interface TurnMetrics {
  readonly turnId: string;
  /** The sum over all steps; all 0 if none was reported, in which case `done` omits it. */
  readonly usage: Usage;
  /** From the turn's start to its end, including waiting. */
  readonly durationMs?: number;
  /** The part of it in which the turn waited for input and nothing ran. Absent: it did not wait. */
  readonly waitedMs?: number;
  /** In step order. */
  readonly steps: readonly StepMetrics[];
  /**
   * Tokens that the conversation occupies after this turn: input + output of the **last** step. Not the sum
   * in `usage`, which counts the prompt once per step. The newest turn's value is the conversation's. Absent
   * means unknown, which is never shown as 0.
   */
  readonly contextSize?: number;
  /** Reason why the turn ended. */
  readonly reason?: OpenUnion<TurnReason>;
  /** The model that the turn was started with, as `credential/model`. */
  readonly model?: string;
  /** For a turn that had to return data: the verdict on its answer. The data itself is its last text. */
  readonly output?: OutputVerdict;
  /**
   * Cost of all calls, including compactions. Absent: the cost of every call, one for each step, is unknown.
   */
  readonly cost?: CostSum;
  /** Tokens of the compactions that the turn made; they are not part of `usage`. Absent: none, or not reported. */
  readonly compactionUsage?: Usage;
}
