export type { SubscriptionFrame } from "@parley/fold";
export type { OutputInput } from "./admission/checked-output.js";
export type { ExternalMessage, Receipt, SendInput } from "./admission/inbox.js";
export type { OwnerRuntime, QueueApi, SettingsChange } from "./api/owner-runtime.js";
export {
  type CompactionPolicy,
  type CompactionRules,
  createCompactionPolicy,
  defaultCompactionRules,
} from "./compaction/compaction-policy.js";
export type { ConnectionProviders, Discovered } from "./connections/connection-providers.js";
export {
  type ConnectionApi,
  type ConnectionOptions,
  type ModelConnections,
  openModelConnections,
} from "./connections/model-connections.js";
export type { Subscriber } from "./delivery/hub.js";
export type { JournalPace } from "./delivery/journal.js";
export type { Subscription, TurnFollower } from "./delivery/subscribe.js";
export type { WatchEvent } from "./delivery/watchers.js";
export {
  type CallContext,
  defaultLeasePace,
  defaultRuntimeLimits,
  type EventContext,
  type LeasePace,
  type RuntimeHooks,
  type RuntimeLimits,
  type SealedTurn,
  type TurnTakeover,
} from "./environment.js";
export type { FileDeriver } from "./files/derived-files.js";
export { defaultFileLimits, type FileLimits } from "./files/file-limits.js";
export type { FileApi, FileToken, OpenOptions } from "./files/file-verbs.js";
export type { FilePlace, OpenedFile } from "./files/opened-file.js";
export type { BytesHash, IncomingFile } from "./files/receive-upload.js";
export type { ApprovalOptions } from "./input/approvals.js";
export type { InputApi } from "./input/input-verbs.js";
export type { InputAnswer, InputSender } from "./input/respond.js";
export {
  type ChangingModelCatalog,
  createModelCatalog,
  type ModelBinding,
  type ModelCatalog,
} from "./models.js";
export { singleResponse } from "./nodes/retention.js";
export { createRuntime, type Runtime } from "./runtime.js";
export type { RuntimeOptions } from "./runtime-options.js";
export { exportConversation } from "./transfer/export-conversation.js";
export { ImportLines } from "./transfer/import-lines.js";
export type { WebhookAttempt } from "./webhooks/webhook-delivery.js";
export { defaultWebhookLimits, type WebhookLimits } from "./webhooks/webhook-limits.js";
export type { WebhookAnswer, WebhookPost, WebhookTransport } from "./webhooks/webhook-transport.js";
export { type WebhookApi, webhookEventTypes } from "./webhooks/webhook-verbs.js";
export {
  createWindowPolicy,
  defaultWindowRules,
  type FittingRequest,
  type OverflowingRequest,
  type WindowChange,
  type WindowPolicy,
  type WindowRules,
  type WindowUse,
} from "./window-policy.js";
