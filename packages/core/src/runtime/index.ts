export { defaultKeepLastN } from "./compaction.js";
export type { CursorPlace } from "./cursor.js";
export { formatCursor, parseCursor } from "./cursor.js";
export {
  defaultLeasePace,
  defaultRuntimeLimits,
  type EventContext,
  type LeasePace,
  type RuntimeHooks,
  type RuntimeLimits,
  type SealedTurn,
} from "./environment.js";
export type { Subscriber, SubscriptionFrame } from "./hub.js";
export type { Receipt, SendInput } from "./inbox.js";
export type { JournalPace } from "./journal.js";
export { createModelCatalog, type ModelBinding, type ModelCatalog } from "./models.js";
export type { OwnerRuntime, QueueApi, SettingsChange } from "./owner-runtime.js";
export { createRuntime, type Runtime } from "./runtime.js";
export type { RuntimeOptions } from "./runtime-options.js";
export type { Subscription } from "./subscribe.js";
export type { WatchEvent } from "./watchers.js";
