import type { ConversationStatus, QueueMode, ReasoningEffort, TurnReason } from "@parley/wire";
import type { ConversationId, ConversationMessage, TurnId } from "../messages/message.js";
import type { OpenInputs } from "./input-store.js";

/**
 * Model, effort and instructions as chosen for one turn. Absent fields fall back to the conversation's. If several
 * waiting messages open a turn together, the last one that sets a field wins. A turn's model is fixed when it opens:
 * see `DefaultModel`.
 */
export interface TurnChoices {
  model?: string;
  reasoningEffort?: ReasoningEffort;
  instructions?: string;
  /** Tools of the caller: a call of one waits until the caller sends its output. */
  tools?: CallerTool[];
  /** Data that the turn has to return. */
  output?: TurnOutputChoice;
  /** Names of the node's own tools that the turn is offered. Absent: all of them. */
  toolNames?: string[];
  /** Maximum number of tokens of one answer, if that is less than the model's own limit. */
  maxOutputTokens?: number;
  /** Kept with the turn for the sender of the message; nothing here reads it. */
  metadata?: Record<string, unknown>;
}

/** Data that a turn has to return. */
export interface TurnOutputChoice {
  name: string;
  description?: string;
  /** JSON Schema of an object. */
  schema: Record<string, unknown>;
  /** Number of times the model is called again after an answer that does not match. */
  retries: number;
}

/** A tool that the caller of a turn runs itself. */
export interface CallerTool {
  name: string;
  description?: string;
  /** JSON Schema of the arguments. */
  schema?: Record<string, unknown>;
}

/** Settings of a conversation. `null` in an update means: back to the default. */
export interface ConversationSettings
  extends Pick<TurnChoices, "model" | "reasoningEffort" | "instructions"> {
  title?: string;
  /** In tokens; 0 compacts only by hand. */
  compactThreshold?: number;
  metadata?: Record<string, unknown>;
  /** True for a conversation that lists show first on request. */
  pinned?: true;
  /**
   * Set on a conversation that is removed once it is no longer used. Lists and searches leave it out. Archives follow
   * their conversation in this.
   */
  temporary?: true;
}

/**
 * The number that identifies a log for a store and its nodes. An id belongs to its owner, and may be reused once its
 * conversation was removed; a number belongs to one log permanently. It never leaves the nodes: clients know ids.
 */
export type LogNumber = number;

/** A conversation with everything that a single read returns. */
export interface ConversationRecord extends ConversationSettings {
  id: ConversationId;
  /** See `LogNumber`. */
  log: LogNumber;
  /** Empty until there is one. */
  title: string;
  /** `closed` while closed, otherwise `active` while a turn is open. A compaction by hand leaves it `idle`. */
  status: ConversationStatus;
  createdAt: number;
  lastActivityAt: number;
  /** Increases with every change that is published to watchers; never equal for two changes of one owner. */
  changedAt: number;
  parentId?: ConversationId;
  parentSeq?: number;
  /** Set while a summary is in force: the model does not read the whole log. */
  compacted?: true;
  /** The archive of the summary in force, if there is one: an imported summary's archive is not imported. */
  compactedFrom?: ConversationId;
  /** Set on the archive that a compaction made: the conversation it belongs to. An archive refuses sends. */
  archiveOf?: ConversationId;
  /** The last seq assigned, 0 for none. */
  lastSeq: number;
  /** The last seq of sealed turns. */
  sealedSeq: number;
  /** The open turn, or the compaction, if there is one. */
  active?: ActiveLease;
  queue: QueueEntry[];
  queuePaused: boolean;
  /** Context size of the newest sealed turn that knows it. */
  contextSize?: number;
  /** The model of the newest turn that names one, open or sealed, inherited ones included. */
  lastModel?: string;
  /** Reason that its own newest turn ended. Absent: a turn is open, or it has had none. */
  lastReason?: TurnReason;
}

/** The turn or compaction that runs in a conversation, and its holder. */
export interface ActiveLease {
  turnId: TurnId;
  purpose: "turn" | "compaction";
  /** Empty while no node holds it. */
  node: string;
  fence: number;
  stopRequested: boolean;
  startedAt: number;
  model?: string;
  /** Time when the turn began to wait for input, if it does: no node holds it until a request is answered. */
  waitingSince?: number;
  /** Its unanswered requests. Absent: there are none. */
  inputs?: OpenInputs;
}

/** A message that waits for its turn. */
export interface QueueEntry {
  /** The message id under which it was sent. */
  id: string;
  message: ConversationMessage;
  mode: QueueMode;
  queuedAt: number;
  choices: TurnChoices;
}

/** Waiting messages, in order; `paused` if they may not continue. */
export interface QueueState {
  entries: QueueEntry[];
  paused: boolean;
}

/** Changes in an owner's conversations. */
export interface Changes {
  conversations: ConversationRecord[];
  notices: ConversationNotice[];
  last: number;
}

/**
 * Event of a conversation that cannot be seen in its record. Kept for minutes: long enough for every node that polls.
 * `changedAt` is ordered with those of the owner's records.
 */
export type ConversationNotice =
  | { kind: "removed"; changedAt: number; conversationIds: ConversationId[] }
  | ({ kind: "compacted"; changedAt: number; conversationId: ConversationId } & CompactionNotice);

/** Data that is published to watchers about a compaction. */
export interface CompactionNotice {
  /** Its archive. */
  newConversationId: ConversationId;
  messagesSummarized: number;
  messagesKept: number;
}
