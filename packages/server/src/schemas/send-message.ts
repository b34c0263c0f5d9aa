import { z } from "@hono/zod-openapi";
import type { SendMessageRequest } from "@parley/wire";
import { agree } from "./agree.js";
import { id, reasoningEffort } from "./scalars.js";

export const sendMessageShape = {
  conversationId: id.optional(),
  messageId: id.optional(),
  message: z.string().min(1),
  model: z.string().min(1).max(256).optional(),
  reasoningEffort: reasoningEffort.optional(),
  instructions: z.string().optional(),
};

export const sendMessageRequest = agree<SendMessageRequest>()(
  z.object(sendMessageShape).openapi("SendMessageRequest"),
);
