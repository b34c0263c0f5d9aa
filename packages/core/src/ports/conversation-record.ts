import type { ConversationStatus, QueueMode, ReasoningEffort, TurnReason } from "@parley/wire";
import type { ConversationId, ConversationMessage, TurnId } from "../messages/message.js";
import type { OpenInputs } from "./input-store.js";

/**
 * Model, effort and instructions as chosen for one turn. Absent fields fall back to the conversation's. Where
 * several waiting messages open a turn together, the last one that names a field wins. A turn's model is fixed when it
 * opens: see `DefaultModel`.
 */
export interface TurnChoices {
  model?: string;
  reasoningEffort?: ReasoningEffort;
  instructions?: string;
  /** Tools of the caller: a call of one waits until the caller hands its output in. */
  tools?: CallerTool[];
  /** Data that the turn has to return. */
  output?: TurnOutputChoice;
  /** Names of the node's own tools that the turn is offered. Absent: all of them. */
  toolNames?: string[];
  /** The most tokens of one answer, where that is less than the model gives. */
  maxOutputTokens?: number;
  /** Kept with the turn for whoever sent the message; nothing here reads it. */
  metadata?: Record<string, unknown>;
}

/** Data that a turn has to return. */
export interface TurnOutputChoice {
  name: string;
  description?: string;
  /** JSON Schema of an object. */
  schema: Record<string, unknown>;
  /** How often the model is asked again after an answer that does not match. */
  retries: number;
}

/** A tool that the caller of a turn runs itself. */
export interface CallerTool {
  name: string;
  description?: string;
  /** JSON Schema of the arguments. */
  schema?: Record<string, unknown>;
}

/** What a conversation keeps about itself. `null` in an update means: back to the default. */
export interface ConversationSettings
  extends Pick<TurnChoices, "model" | "reasoningEffort" | "instructions"> {
  title?: string;
  /** In tokens; 0 compacts only by hand. */
  compactThreshold?: number;
  metadata?: Record<string, unknown>;
  /** Lists that ask for it have pinned conversations first. */
  pinned?: true;
  /**
   * Set on a conversation that is removed once nobody uses it any more. Lists and searches leave it out. Archives follow
   * their conversation in this.
   */
  temporary?: true;
}

/**
 * The number by which a store and its nodes know a log. An id belongs to its owner, and may be used again once its
 * conversation was removed; a number is one log's for ever. It never leaves the nodes: clients know ids.
 */
export type LogNumber = number;

/** A conversation with all that one look should tell. */
export interface ConversationRecord extends ConversationSettings {
  id: ConversationId;
  /** See `LogNumber`. */
  log: LogNumber;
  /** Empty until there is one. */
  title: string;
  /** `closed` while put away, else `active` while a turn is open. A compaction by hand leaves it `idle`. */
  status: ConversationStatus;
  createdAt: number;
  lastActivityAt: number;
  /** Moves with every change a watcher should hear of; never equal for two changes of one owner. */
  changedAt: number;
  parentId?: ConversationId;
  parentSeq?: number;
  /** Set while a summary is in force: the model does not read the whole log. */
  compacted?: true;
  /** The archive of the summary in force, where there is one: that of an imported summary stayed behind. */
  compactedFrom?: ConversationId;
  /** Set on the archive that a compaction made: the conversation it belongs to. Such a one refuses sends. */
  archiveOf?: ConversationId;
  /** The last seq given, 0 for none. */
  lastSeq: number;
  /** The last seq of sealed turns. */
  sealedSeq: number;
  /** The open turn, or the compaction, if there is one. */
  active?: ActiveLease;
  queue: QueueEntry[];
  queuePaused: boolean;
  /** Of the newest sealed turn that knows it. */
  contextSize?: number;
  /** The model of the newest turn that names one, open or sealed, inherited ones included. */
  lastModel?: string;
  /** Why its own newest turn ended. Absent: a turn is open, or it has had none. */
  lastReason?: TurnReason;
}

/** What runs in a conversation, and who holds it. */
export interface ActiveLease {
  turnId: TurnId;
  purpose: "turn" | "compaction";
  /** Empty while nobody holds it. */
  node: string;
  fence: number;
  stopRequested: boolean;
  startedAt: number;
  model?: string;
  /** When the turn began to wait for input, if it does: nobody holds it until a request is answered. */
  waitingSince?: number;
  /** Its requests that nobody has answered. Absent: there are none. */
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

/** What waits, in order, and whether it may go on. */
export interface QueueState {
  entries: QueueEntry[];
  paused: boolean;
}

/** What changed in an owner's conversations. */
export interface Changes {
  conversations: ConversationRecord[];
  notices: ConversationNotice[];
  last: number;
}

/**
 * What happened to a conversation and cannot be seen in its record. Kept for minutes: long enough for every node that
 * looks now and then. `changedAt` stands among those of the owner's records.
 */
export type ConversationNotice =
  | { kind: "removed"; changedAt: number; conversationIds: ConversationId[] }
  | ({ kind: "compacted"; changedAt: number; conversationId: ConversationId } & CompactionNotice);

/** What watchers are told of a compaction. */
export interface CompactionNotice {
  /** Its archive. */
  newConversationId: ConversationId;
  messagesSummarized: number;
  messagesKept: number;
}
