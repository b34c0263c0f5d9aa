export type {
  AnthropicMessage,
  AnthropicMessages,
  OpenAIMessage,
  TranscriptProblem,
} from "./to-provider-form.js";
export { knowledgeMarker, Transcript, type TranscriptJson } from "./transcript.js";
export {
  TranscriptMessage,
  type TranscriptMessageJson,
  type TranscriptToolCall,
} from "./transcript-message.js";
export type { Truncation } from "./truncate-messages.js";
