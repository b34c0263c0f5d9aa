import type { Face } from "../face.js";
import { aiSdkUiEndpoints } from "./endpoints.js";

/** The protocol of the AI SDK's `useChat` and `DefaultChatTransport`, versions 6 and 7. */
export const aiSdkUi: Face = { name: "ai-sdk-ui", path: "/api/chat", endpoints: aiSdkUiEndpoints };
