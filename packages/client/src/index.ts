export { applyFrame, applyHistory, applyMetrics, initialState, toolCallsOf } from "./apply-frame.js";
export type { ClientOptions, ParleyClient, Socket, SocketConstructor } from "./client.js";
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
} from "./conversation-state.js";
export type { JsonRouteName, Request, RequestArguments, RequestInput } from "./request.js";
export { ParleyRequestError } from "./request-error.js";
