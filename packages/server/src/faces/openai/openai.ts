import type { Face } from "../face.js";
import { chatEndpoints } from "./chat-completions.js";
import { conversationEndpoints } from "./conversations.js";
import { describeFailure, failureContent } from "./failure.js";
import { modelEndpoints } from "./models.js";
import { responseEndpoints } from "./responses.js";

/**
 * OpenAI's API: responses, conversations, chat completions and models. A program written for it runs on any model, and
 * creates ordinary conversations.
 */
export const openAi: Face = {
  name: "openai",
  path: "/v1",
  endpoints: [...responseEndpoints, ...conversationEndpoints, ...chatEndpoints, ...modelEndpoints],
  describeFailure,
  failureContent,
};
