import type { ReasoningEffort } from "./figures/usage.js";
import type { WaitingInfo } from "./input/input-entry.js";
import type { OpenUnion } from "./json.js";
import type { TurnReason } from "./log/turn-reason.js";

/**
 * `active`: a turn is running, or waits for input. `idle`: none is. `closed`: put away, but not deleted; a
 * send reopens it. The server owns the transitions and notifies every client of them.
 */
export type ConversationStatus = "active" | "idle" | "closed";

/** Source of a conversation's model: its setting, else its last turn, else the server's default. */
export type ModelSource = "conversation" | "last-turn" | "default";

/** Choices as resolved for a turn that makes none itself. */
export interface EffectiveChoices {
  /** Absent: the server has no model. A model that is no longer configured is named anyway. */
  readonly model?: string;
  /** Present with `model`. */
  readonly modelFrom?: ModelSource;
  readonly reasoningEffort: ReasoningEffort;
}

/** The fields of a conversation that a list shows. */
export interface ConversationMeta {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds; moves with every commit. */
  readonly lastActivityAt: number;
  /** The first user message, shortened, until a user sets another. */
  readonly title: string;
  readonly status: ConversationStatus;
  /** Lists that ask for it show pinned ones first. Absent: it is not pinned. */
  readonly pinned?: true;
  /** The archive that shows the conversation as it was before its latest compaction. */
  readonly compactedFrom?: string;
  /** The conversation's own model, as `credential/model`. Absent: see `effective`. */
  readonly model?: string;
  /** The conversation's own effort. Absent: see `effective`. */
  readonly reasoningEffort?: ReasoningEffort;
  /** The choices for its next turn, unless that turn makes its own. */
  readonly effective?: EffectiveChoices;
  /** The conversation that this one was forked from. */
  readonly parentId?: string;
  /** The last seq that this fork shares with its parent; its own seqs continue from there. */
  readonly forkedAtSeq?: number;
  /** Present: it is deleted some time after its last use, and lists, searches and exports of everything leave it out. */
  readonly temporary?: true;
  /** Unanswered requests of the open turn. Absent: there are none. */
  readonly waiting?: WaitingInfo;
  /** Reason why its newest turn ended. Absent: a turn is open, or it has had none of its own. */
  readonly lastReason?: OpenUnion<TurnReason>;
}
