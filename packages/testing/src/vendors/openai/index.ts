export { type ChatAnswer, chatChunk, chatChunks } from "./openai-chat-chunks.js";
export {
  type Answer,
  type AnswerScript,
  type OpenAIHttpServer,
  type SeenCall,
  startOpenAIHttpServer,
} from "./openai-http-server.js";
export {
  type AnswerEnding,
  type AnswerItem,
  pieces,
  type ResponsesStreamEvent,
  responsesEvents,
} from "./openai-responses-events.js";
export { validateChatRequest } from "./validate-chat-request.js";
export { validateResponsesRequest } from "./validate-responses-request.js";
