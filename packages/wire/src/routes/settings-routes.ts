import type { ModelSource } from "../conversation.js";
import type { ReasoningEffort } from "../figures/usage.js";

/** `GET` and `PUT /conversations/:id/title`. */
export interface TitleSetting {
  readonly title: string;
}

/** `GET` and `PUT /conversations/:id/pinned`. */
export interface PinnedSetting {
  readonly pinned: boolean;
}

/**
 * `GET` and `PUT /conversations/:id/model`. Null: the model of the last turn, and before the first one the server's
 * default.
 */
export interface ModelSetting {
  readonly model: string | null;
  /** The model that the next turn uses if it names none. Read only. Absent: the server has no model. */
  readonly effective?: string | undefined;
  /** Source of `effective`. Read only. */
  readonly effectiveFrom?: ModelSource | undefined;
}

/** `GET` and `PUT /conversations/:id/reasoning-effort`. Null: the server's default, `high` unless configured. */
export interface ReasoningEffortSetting {
  readonly reasoningEffort: ReasoningEffort | null;
  /** The effort that the next turn uses if it names none. Read only. */
  readonly effective?: ReasoningEffort | undefined;
}

/** `GET` and `PUT /conversations/:id/instructions`. Null: the server's. */
export interface InstructionsSetting {
  readonly instructions: string | null;
}

/**
 * `GET` and `PUT /conversations/:id/compact-threshold`: the tokens in context above which a conversation is
 * compacted before its next step. 0: only on request. Null: the default, a share of the model's window.
 */
export interface CompactThresholdSetting {
  readonly compactThreshold: number | null;
  /** The default in tokens, with the conversation's model. Read only. Absent: unknown. */
  readonly defaultThreshold?: number | undefined;
}

/**
 * `GET` and `PUT /conversations/:id/temporary`. A temporary conversation is left out of lists, searches and exports of
 * everything, gets no generated title, and is deleted when nothing has happened in it for the time that the server is
 * configured with; a turn that runs keeps it, one that waits for input does not. Its forks are temporary when they are
 * made. False keeps it.
 */
export interface TemporarySetting {
  readonly temporary: boolean;
}
