import * as ai6 from "ai";
import * as ai7 from "ai-7";
import type { ChatSdk } from "./sdk-chat.js";

/** The versions of the AI SDK that a page may use. */
export const sdks: readonly { readonly version: string; readonly sdk: ChatSdk }[] = [
  { version: "6", sdk: ai6 as unknown as ChatSdk },
  { version: "7", sdk: ai7 as unknown as ChatSdk },
];
