export { checkPlain } from "../plain-data.js";
export { fromCanonical, isCompactionEntry, messageTypeOf, toCanonical } from "./canonical-form.js";
export type {
  CanonicalMessage,
  MessageContentV2,
  MessagePart,
  MessageType,
  ToolInvocationPart,
} from "./canonical-message.js";
export { grownText } from "./grown-text.js";
export { chainHash, hashText } from "./hash.js";
export { createCountingIds, createUuidV7Factory, type IdFactory } from "./ids.js";
export { mergeInvocations } from "./merge-invocations.js";
export {
  type Conversation,
  type ConversationId,
  type ConversationMessage,
  type MessageId,
  type MessageOrigin,
  type MessageRole,
  messageOrigin,
  type ProviderCallId,
  type TokenUsage,
  type TurnId,
  textOf,
} from "./message.js";
export { normalizeMessage, normalizeMessages } from "./normalize-message.js";
export {
  argumentsFromText,
  argumentsTextOf,
  type ErrorContentPart,
  type FileContentPart,
  type MessageContentPart,
  type MetadataContentPart,
  type PartExtras,
  type ReasoningContentPart,
  resultFromText,
  resultTextOf,
  type SourceContentPart,
  type TextContentPart,
  type ToolCallContentPart,
  type ToolResultContentPart,
  textOfValue,
} from "./part.js";
export { toProviderMessages } from "./provider-messages.js";
export {
  collect,
  createProviderStream,
  openProviderStream,
  type ProviderStreamWriter,
  streamOf,
  TextDelta,
} from "./provider-stream.js";
export {
  interruptedResult,
  interruptedResultText,
  type Repair,
  type RepairedHistory,
  type RepairKind,
  repairHistory,
} from "./repair.js";
export { snippetAround } from "./snippet.js";
export { stableValue } from "./stable-value.js";
export { countTextTokens } from "./text-tokens.js";
export type { ModelCalibration, TokenObservation } from "./token-calibration.js";
export {
  createTokenCounter,
  TokenCounter,
  type TokenCounterSnapshot,
  type TokenEstimator,
} from "./token-counter.js";
export { estimateTranscriptTokens, type TranscriptSize, utf8Length } from "./transcript-tokens.js";
export {
  type ChunkPlace,
  fromChatMessage,
  fromChunks,
  toChatMessage,
  toChunks,
  toStoredChunks,
} from "./wire-chunks.js";
