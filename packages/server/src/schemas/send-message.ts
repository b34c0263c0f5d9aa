import { z } from "@hono/zod-openapi";
import type { MessageReceipt, SendMessageRequest, SentPart } from "@parley/wire";
import { agree } from "./agree.js";
import { callerTool } from "./input.js";
import { outputRequest } from "./output.js";
import { count, id, reasoningEffort } from "./scalars.js";

const sentPart = agree<SentPart>()(
  z
    .union([
      z.object({ type: z.literal("text"), text: z.string() }),
      z.object({ type: z.literal("file"), uploadId: id }),
      z.object({ type: z.literal("file"), conversationId: id, seq: count }),
    ])
    .openapi("SentPart"),
);

/** Text and files that follow the text of a message. */
export const sentParts = z.array(sentPart).max(100);

export const sendMessageShape = {
  conversationId: id.optional(),
  messageId: id.optional(),
  message: z.string(),
  parts: sentParts.optional(),
  model: z.string().min(1).max(256).optional(),
  reasoningEffort: reasoningEffort.optional(),
  instructions: z.string().optional(),
  temporary: z.boolean().optional(),
  ifBusy: z.enum(["reject", "queue", "steer"]).optional(),
  whenWaiting: z.enum(["queue", "deny"]).optional(),
  tools: z.array(callerTool).max(128).optional(),
  output: outputRequest.optional(),
};

export const sendMessageRequest = agree<SendMessageRequest>()(
  z.object(sendMessageShape).openapi("SendMessageRequest"),
);

export const messageReceipt = agree<MessageReceipt>()(
  z
    .object({
      conversationId: id,
      messageId: id,
      outcome: z.enum(["started", "queued"]),
      turnId: id.optional(),
    })
    .openapi("MessageReceipt"),
);
