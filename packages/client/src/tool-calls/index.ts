export { toolCallsOf, waitingCallsOf } from "./tool-calls.js";
