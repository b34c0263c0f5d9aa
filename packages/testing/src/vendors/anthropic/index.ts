export {
  answer,
  citing,
  type Ending,
  frames,
  redacted,
  serverToolUse,
  text,
  thinking,
  toolUse,
  whole,
} from "./anthropic-events.js";
export {
  type Answer,
  type AnthropicServer,
  begin,
  fail,
  refusedUrl,
  reset,
  type SeenRequest,
  startAnthropicServer,
  stream,
  streamOpen,
} from "./anthropic-server.js";
export { type RequestProblem, validateRequest } from "./validate-request.js";
