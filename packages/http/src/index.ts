export type { ByteSource, HttpResponse } from "./http-response.js";
export { SseLimitError } from "./sse-limit-error.js";
export {
  createSseParser,
  type SseEnding,
  type SseEvent,
  type SseLimits,
  type SseParser,
  type SseParserOptions,
} from "./sse-parser.js";
export { consumeSse, type ReadSseOptions, readSse, readSseBatches } from "./sse-reader.js";
