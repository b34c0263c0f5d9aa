export { applyDetail, applyFrame } from "./apply-frame.js";
export {
  applyHistory,
  applyLoadFailure,
  applyLoadingEarlier,
  applyMeta,
  applyMetrics,
  applyQueue,
} from "./apply-history.js";
export { applyDiscard, applyOptimistic, applyReceipt, applySendFailure } from "./apply-send.js";
export type { ClientOptions, ParleyClient } from "./client.js";
export { createClient } from "./client.js";
export type { Connection, ConnectionState } from "./connection.js";
export type {
  ConversationHandle,
  EnqueueOptions,
  SendOptions,
  SendOutcome,
} from "./conversation-handle.js";
export type { ConversationListHandle, ConversationListState } from "./conversation-list.js";
export type {
  ConversationState,
  Failure,
  MessageState,
  PartState,
  StepState,
  SubscriptionFrame,
  ToolCallState,
  TurnState,
  UnsentMessage,
} from "./conversation-state.js";
export { initialState } from "./fold.js";
export type { FollowOptions } from "./follow-conversation.js";
export { type ConnectionPace, defaultPace } from "./pace.js";
export { applyUnsent, applyUnsentDone } from "./queue.js";
export type { JsonRouteName, Request, RequestArguments, RequestInput } from "./request.js";
export { ParleyRequestError } from "./request-error.js";
export type { Socket, SocketCloseEvent, SocketConstructor, SocketMessageEvent } from "./socket.js";
export { frameSchedule, type Schedule } from "./store.js";
export { toolCallsOf } from "./tool-calls.js";
