import type { GrantScope, InputActor, InputKind, InputResponseEntry, OpenUnion } from "@parley/wire";
import type { ConversationId, TurnId } from "../messages/message.js";
import type { InputRequest } from "../turn/approval/turn-inputs.js";
import type { LogNumber } from "./conversation-record.js";
import type { Lease } from "./log-store.js";

/** A request for input as the store holds it: the source of truth for its decision. */
export interface InputRecord extends Omit<InputRequest, "expiresMs"> {
  readonly turnId: TurnId;
  /** By the store's clock, as `expiresAt`. */
  readonly createdAt: number;
  /** The decision in force. */
  readonly response?: InputResponseEntry;
  readonly decidedAt?: number;
}

/** An unanswered request, with its conversation. */
export interface PendingInput extends InputRecord {
  readonly conversationId: ConversationId;
  /** The conversation's. */
  readonly title: string;
}

/** Unanswered requests of an open turn. */
export interface OpenInputs {
  count: number;
  kinds: OpenUnion<InputKind>[];
}

/** A response to a request. */
export interface RespondInput {
  conversationId: ConversationId;
  requestId: string;
  /** The node that continues the turn, if no node holds it; empty: any node that claims it next. */
  node: string;
  /** Hash of the arguments that the response was decided on. Another hash than the request's is `invalid_request`. */
  argumentsHash?: string;
  response: InputResponseEntry;
  /** The id of the standing approval that is written if the response, or the request, calls for one. */
  grantId: string;
}

/**
 * - `recorded`: this response is in force. `repeated`: the same one was recorded before. `decided`: another one is in
 * force, possibly the expiry of the request.
 */
export interface RespondResult {
  outcome: "recorded" | "repeated" | "decided";
  log: LogNumber;
  turnId: TurnId;
  /** The response in force. */
  response: InputResponseEntry;
  /** Set if the turn waited: its lease now, held by `node` if the response was recorded, otherwise by no node. */
  lease?: Lease;
}

/** Requests of running calls. */
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
  /** Hash of the tool's description when it was approved. */
  toolHash: string;
  scope: GrantScope;
  /** Set if the scope is a conversation. */
  conversationId?: ConversationId;
  createdAt: number;
  /** The request that it was given with. */
  requestId: string;
  by?: InputActor;
}

/** One owner's requests for input and standing approvals. */
export interface InputStore {
  /** Returns the request; null if the conversation has none with this id. */
  readInput(id: ConversationId, requestId: string): Promise<InputRecord | null>;
  /**
   * Lists unanswered requests of open turns that have not expired, oldest first: at most `limit`, and fewer if their
   * texts are long (at least one). `next` is the place after the last one, to be passed as `after`; absent on the
   * last page. An `after` of another form is `invalid_request`.
   */
  pendingInputs(query: {
    conversationId?: ConversationId;
    limit: number;
    after?: string;
  }): Promise<{ inputs: PendingInput[]; next?: string }>;
  /**
   * Decides a request, if it is pending by the store's clock. The first response wins. A turn that waits is reopened
   * with fence + 1. The entry in the log is written by the node that holds the turn, before the call starts: so a
   * response without an entry belongs to a call that has not started. Once a stop was requested, pending requests are
   * denied instead. `conversation_not_found` for an unknown request.
   */
  respond(input: RespondInput): Promise<RespondResult>;
  /**
   * Writes requests of running calls, for the node that holds the turn. Their entries in the log are written with the
   * results of the step. Existing requests stay as they are. `stale_fence` if another node holds the turn.
   */
  addInputs(input: AddInputs): Promise<void>;
  /** Returns responses to requests of an open turn that are not in its log yet, for the node that holds it. */
  readResponses(query: { conversationId: ConversationId; turnId: TurnId }): Promise<InputResponseEntry[]>;
  /**
   * Lists standing approvals, newest first, at most 1,000; with `toolName` and `conversationId` those that may apply
   * to a call there.
   */
  grants(query: { toolName?: string; conversationId?: ConversationId }): Promise<GrantRecord[]>;
  /** Returns false if there was none. */
  removeGrant(id: string): Promise<boolean>;
}
