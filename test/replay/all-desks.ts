import { openAiSdkAnthropicDesk, openAnthropicDesk } from "./anthropic-desks.js";
import type { Desk } from "./desk.js";
import { openDemoDesk, openMockDesk } from "./mock-desks.js";
import { openAiSdkOpenAIDesk, openChatDesk, openResponsesDesk } from "./openai-desks.js";

/** Opens a desk for each provider, in the order of the matrix. */
export function openAllDesks(): Promise<Desk[]> {
  return Promise.all([
    openResponsesDesk(),
    openChatDesk(),
    openAnthropicDesk(),
    openAiSdkOpenAIDesk(),
    openAiSdkAnthropicDesk(),
    openMockDesk(),
    openDemoDesk(),
  ]);
}
