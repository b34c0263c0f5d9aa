import type { GrantScope, InputActor, InputKind, InputResponseEntry, OpenUnion } from "@parley/wire";
import type { ConversationId, TurnId } from "../messages/message.js";
import type { InputRequest } from "../turn/approval/turn-inputs.js";
import type { LogNumber } from "./conversation-record.js";
import type { Lease } from "./log-store.js";

/** A request for input as the store holds it: the truth about whether, and how, it was decided. */
export interface InputRecord extends Omit<InputRequest, "expiresMs"> {
  readonly turnId: TurnId;
  /** By the store's clock, as `expiresAt`. */
  readonly createdAt: number;
  /** The decision in force. */
  readonly response?: InputResponseEntry;
  readonly decidedAt?: number;
}

/** A request that nobody has answered, with its conversation. */
export interface PendingInput extends InputRecord {
  readonly conversationId: ConversationId;
  /** The conversation's. */
  readonly title: string;
}

/** Requests of an open turn that nobody has answered. */
export interface OpenInputs {
  count: number;
  kinds: OpenUnion<InputKind>[];
}

/** A response to a request. */
export interface RespondInput {
  conversationId: ConversationId;
  requestId: string;
  /** The node that goes on with the turn, if nobody holds it; empty: whoever claims it next. */
  node: string;
  /** What the response was decided on. Another hash than the request's is `invalid_request`. */
  argumentsHash?: string;
  response: InputResponseEntry;
  /** The id of the standing approval that is written where the response, or the request, asks for one. */
  grantId: string;
}

/**
 * - `recorded`: this response is in force. `repeated`: the same one was recorded before. `decided`: another one is in
 *   force, which may be that nobody answered in time.
 */
export interface RespondResult {
  outcome: "recorded" | "repeated" | "decided";
  log: LogNumber;
  turnId: TurnId;
  /** The response in force. */
  response: InputResponseEntry;
  /** Set where the turn waited: this is its lease now, of `node` where the response was recorded, else of nobody. */
  lease?: Lease;
}

/** Requests of calls that run. */
export interface AddInputs {
  conversationId: ConversationId;
  turnId: TurnId;
  fence: number;
  inputs: InputRequest[];
}

/** A standing approval. */
export interface GrantRecord {
  id: string;
  toolName: string;
  /** The tool as it was described when it was approved. */
  toolHash: string;
  scope: GrantScope;
  /** Set where the scope is a conversation. */
  conversationId?: ConversationId;
  createdAt: number;
  /** The request that it was given with. */
  requestId: string;
  by?: InputActor;
}

/** One owner's requests for input and standing approvals. */
export interface InputStore {
  /** The request; null where the conversation has none by this id. */
  readInput(id: ConversationId, requestId: string): Promise<InputRecord | null>;
  /**
   * Requests of open turns that nobody has answered and that have not expired, oldest first: at most `limit`, and fewer
   * where their texts are long (at least one). `next` is the place behind the last one, to be given as `after`; absent
   * on the last page. An `after` of another form is `invalid_request`.
   */
  pendingInputs(query: {
    conversationId?: ConversationId;
    limit: number;
    after?: string;
  }): Promise<{ inputs: PendingInput[]; next?: string }>;
  /**
   * Decides a request, if it is pending by the store's clock. The first response wins. A turn that waits is reopened with
   * fence + 1. The entry in the log is written by whoever holds the turn, before the call starts: so a response without
   * an entry belongs to a call that has not started. Once a stop was requested, what is pending is denied instead.
   * `conversation_not_found` for an unknown request.
   */
  respond(input: RespondInput): Promise<RespondResult>;
  /**
   * Writes requests of calls that run, for the node that holds the turn. Their entries in the log are written with the
   * results of the step. Requests that are there already stay as they are. `stale_fence` where the turn is another's.
   */
  addInputs(input: AddInputs): Promise<void>;
  /** Responses to requests of an open turn that are not in its log yet, for the node that holds it. */
  readResponses(query: { conversationId: ConversationId; turnId: TurnId }): Promise<InputResponseEntry[]>;
  /** Standing approvals, newest first, at most 1,000; with `toolName` and `conversationId` those that may hold for a call there. */
  grants(query: { toolName?: string; conversationId?: ConversationId }): Promise<GrantRecord[]>;
  /** Returns false where there was none. */
  removeGrant(id: string): Promise<boolean>;
}
