export type { Authenticate, HostCaller } from "../auth/caller.js";
export { aiSdkUi } from "./ai-sdk-ui/ai-sdk-ui.js";
export { createFaceApp, type FaceOptions } from "./create-face-app.js";
export type { DescribeFailure, Face, FailureShape } from "./face.js";
export { mcp } from "./mcp/mcp.js";
export { openAi } from "./openai/openai.js";
