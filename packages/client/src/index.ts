export type { ClientOptions, ParleyClient } from "./client.js";
export { createClient } from "./client.js";
export type { Connection, ConnectionState } from "./connection/connection.js";
export type { FollowOptions } from "./connection/follow-conversation.js";
export { type ConnectionPace, defaultPace } from "./connection/pace.js";
export type { Socket, SocketCloseEvent, SocketConstructor, SocketMessageEvent } from "./connection/socket.js";
export type { ConversationHandle, InputAnswers, SendOptions } from "./conversations/conversation-handle.js";
export type {
  ConversationListHandle,
  ConversationListState,
  ListFilter,
} from "./conversations/conversation-list.js";
export { frameSchedule, type Schedule } from "./conversations/store.js";
export type { OutboxStorage, StoredMessage } from "./outbox/outbox-storage.js";
export type {
  Call,
  Caller,
  JsonRouteName,
  Request,
  RequestArguments,
  RequestInput,
} from "./requests/request.js";
export { ParleyRequestError } from "./requests/request-error.js";
export { applyDetail, applyFrame } from "./state/apply-frame.js";
export {
  applyHistory,
  applyLoadFailure,
  applyLoadingEarlier,
  applyMeta,
  applyMetrics,
  applyQueue,
} from "./state/apply-history.js";
export {
  applyCancel,
  applyPending,
  applyReceipt,
  applyResponse,
  applySendFailure,
} from "./state/apply-send.js";
export type {
  CallInput,
  ConversationState,
  Failure,
  LogGap,
  MessageState,
  OwnResponse,
  PartState,
  PendingMessage,
  StepState,
  SubscriptionFrame,
  ToolCallState,
  TurnState,
} from "./state/conversation-state.js";
export { initialState } from "./state/fold.js";
