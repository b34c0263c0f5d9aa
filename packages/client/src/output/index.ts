export { partialJson } from "./partial-json.js";
export {
  type OutputMessage,
  type OutputSchema,
  type PartialOutput,
  type RequestedOutput,
  requestOutput,
} from "./request-output.js";
