export { omitUndefined } from "@parley/fold";
export { copyOf } from "../copy-of.js";
export { checkPlain, isPlain } from "../plain-data.js";
export { onAbort, untilAborted } from "./abort.js";
export { fromCanonical, toCanonical } from "./canonical/canonical-form.js";
export type {
  CanonicalMessage,
  MessageContentV2,
  MessagePart,
  MessageType,
  ToolInvocationPart,
} from "./canonical/canonical-message.js";
export { mergeInvocations } from "./canonical/merge-invocations.js";
export { isOwnMessage, normalizeMessages } from "./canonical/normalize-message.js";
export { toStoredForm, withToolValues } from "./canonical/tool-values.js";
export { derivedBytes, pieceBytes } from "./file-pieces.js";
export {
  type HiddenEntry,
  HiddenParts,
  hiddenEntryOf,
  hiddenEntryOfMessage,
  hiddenMessageId,
} from "./hidden-entry.js";
export { createUuidV7Factory, type IdFactory } from "./ids.js";
export { imageSize } from "./image-size.js";
export {
  inputEntryOf,
  inputEntryOfMessage,
  inputMessage,
  inputMessageId,
  inputRequestId,
  isRequestOfCall,
} from "./input-entry.js";
export {
  type Conversation,
  type ConversationId,
  type ConversationMessage,
  type MessageId,
  type MessageOrigin,
  type MessageRole,
  messageOrigin,
  type ProviderCallId,
  requireConversationId,
  type TokenUsage,
  type TurnId,
  textOf,
} from "./message.js";
export { outputEntryOf, outputEntryOfMessage, outputMessage } from "./output-entry.js";
export {
  argumentsFromText,
  argumentsTextOf,
  type ErrorContentPart,
  type FileContentPart,
  isStoredFile,
  type MessageContentPart,
  type MetadataContentPart,
  type PartExtras,
  type ReasoningContentPart,
  resultFromText,
  resultTextOf,
  type SourceContentPart,
  type StoredFilePart,
  type TextContentPart,
  type ToolCallContentPart,
  type ToolResultContentPart,
  textOfValue,
} from "./part.js";
export { toProviderMessages } from "./provider/provider-messages.js";
export {
  collect,
  createProviderStream,
  type ProviderStreamWriter,
  streamOf,
  TextDelta,
  toProviderFailure,
} from "./provider/provider-stream.js";
export {
  interruptedResultText,
  type Repair,
  type RepairedHistory,
  repairHistory,
} from "./provider/repair.js";
export { grownText } from "./text/grown-text.js";
export { hashText } from "./text/hash.js";
export {
  findTerms,
  parseSearch,
  searchableText,
  searchedBytes,
  searchTerms,
  type WantedTerm,
  withinSearchedBytes,
} from "./text/search-text.js";
export { sha256 } from "./text/sha256.js";
export { snippetAround } from "./text/snippet.js";
export { stableValue } from "./text/stable-value.js";
export { titleOf } from "./text/title.js";
export { type CountedTokens, countForRow, tokenRule } from "./tokens/count-message.js";
export { countTextTokens } from "./tokens/text-tokens.js";
export type { TokenObservation } from "./tokens/token-calibration.js";
export {
  createTokenCounter,
  type TokenCounter,
  type TokenEstimator,
} from "./tokens/token-counter.js";
export { estimateTranscriptTokens } from "./tokens/transcript-tokens.js";
export {
  type ChunkPlace,
  fromChatMessage,
  fromChunks,
  toChatMessage,
  toChunks,
  toStoredChunks,
} from "./wire-chunks.js";
