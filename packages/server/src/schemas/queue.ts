import { z } from "@hono/zod-openapi";
import type { EnqueueRequest, EnqueueResponse, QueueEdit, QueuePayload, QueueResponse } from "@parley/wire";
import { agree } from "./agree.js";
import { fileReference } from "./chunk.js";
import { id, instant, queueMode, reasoningEffort } from "./scalars.js";
import { sentParts } from "./send-message.js";

export const queuePayload = agree<QueuePayload>()(
  z
    .object({
      messages: z.array(
        z
          .object({
            id,
            text: z.string(),
            files: z.array(fileReference).optional(),
            queuedAt: instant,
            mode: queueMode.optional(),
            model: z.string().optional(),
            reasoningEffort: reasoningEffort.optional(),
          })
          .openapi("QueuedMessage"),
      ),
      paused: z.boolean().optional(),
    })
    .openapi("QueuePayload"),
);

export const enqueueShape = {
  text: z.string(),
  parts: sentParts.optional(),
  messageId: id.optional(),
  mode: queueMode.optional(),
  model: z.string().optional(),
  reasoningEffort: reasoningEffort.optional(),
};

export const enqueueRequest = agree<EnqueueRequest>()(
  z
    .object(enqueueShape)
    .refine(({ text, parts = [] }) => /\S/.test(text) || parts.length > 0, {
      path: ["text"],
      message: "must not be empty",
    })
    .openapi("EnqueueRequest"),
);

export const queueEdit = agree<QueueEdit>()(
  z
    .object({
      text: z.string().min(1).optional(),
      mode: queueMode.optional(),
      model: z.string().nullable().optional(),
      reasoningEffort: reasoningEffort.nullable().optional(),
      before: id.nullable().optional(),
    })
    .openapi("QueueEdit"),
);

export const queueResponse = agree<QueueResponse>()(z.object({ conversationId: id, queue: queuePayload }));

export const enqueueResponse = agree<EnqueueResponse>()(
  z.object({
    conversationId: id,
    startedTurn: z.boolean(),
    queue: queuePayload,
    turnId: id.optional(),
  }),
);
