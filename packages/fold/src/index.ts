export { applyEvent, partKeyOf } from "./apply-event.js";
export { foldDetail, foldFrame } from "./apply-frame.js";
export { withRows } from "./apply-rows.js";
export { type ConversationFold, emptyFold } from "./conversation-fold.js";
export {
  addCosts,
  type CachedCall,
  type CacheLoss,
  cacheLoss,
  costSum,
  defaultCurrency,
  estimatedCost,
  noCost,
  roundAmount,
  sumCosts,
} from "./cost.js";
export {
  type CursorPlace,
  checkOfChunk,
  formatCursor,
  hashRow,
  isCheckedRow,
  openCursor,
  pageCursor,
  parseCursor,
  type RowCheck,
} from "./cursor.js";
export {
  type EventTraits,
  eventTraits,
  type NumberedEvent,
  onceKey,
  type TurnEvent,
} from "./event-traits.js";
export { fileChunk, inlineFileChunk, isFileChunk, sizeText, userText } from "./file-chunk.js";
export { inputChunk } from "./input-chunk.js";
export { knownUsage } from "./known-usage.js";
export {
  gapsOf,
  type LogGap,
  logOf,
  type MessageLog,
  messagesOf,
  partKey,
  withProvisional,
} from "./message-log.js";
export type { Failure, FoldedMessage, PartState, StepState, TurnState } from "./message-state.js";
export { omitUndefined } from "./omit-undefined.js";
export { outputChunk, outputInvalidText } from "./output-chunk.js";
export { isDelivered, withQueue } from "./queue.js";
export {
  type CommittedMessage,
  type CommittedTurn,
  closingEvents,
  replayTurn,
  sealedEvent,
} from "./replay-turn.js";
export { isRetryable } from "./retryable.js";
export { addToHash, emptyHash } from "./stream-hash.js";
export type { SubscriptionFrame } from "./subscription-frame.js";
export { nothingPrinted, type TurnTable, tableOf, turnOf, turnsOf } from "./turn-table.js";
