import { aiSdkUi } from "./ai-sdk-ui/ai-sdk-ui.js";
import type { Face } from "./face.js";
import { mcp } from "./mcp/mcp.js";
import { openAi } from "./openai/openai.js";

/** The faces that a server mounts by default. */
export const allFaces: readonly Face[] = [aiSdkUi, openAi, mcp];
