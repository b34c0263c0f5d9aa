import { omitUndefined } from "@parley/core/messages";
import { endpoint } from "../http/endpoint.js";
import { conversationParams, queuedMessageParams } from "../schemas/conversation.js";
import { enqueueRequest, enqueueResponse, queueEdit, queueResponse } from "../schemas/queue.js";

export const queueEndpoints = [
  endpoint("GET /conversations/:id/queue", {
    operationId: "listQueue",
    summary: "Read what waits",
    access: "read",
    params: conversationParams,
    response: queueResponse,
    handle: async ({ me, params }) => ({
      conversationId: params.id,
      queue: await me.queue.list(params.id),
    }),
  }),
  endpoint("POST /conversations/:id/queue", {
    operationId: "queueMessage",
    refusals: [409],
    summary: "Queue a message, or open a turn when none runs. Idempotent by `messageId`",
    access: "write",
    params: conversationParams,
    body: enqueueRequest,
    response: enqueueResponse,
    handle: async ({ me, params, body: { text, ...choices }, app }) => {
      const receipt = await me.queue.add({ conversationId: params.id, message: text, ...choices });
      const queue = await me.queue.list(params.id);
      app.telemetry?.queueSeen(params.id, queue);
      return {
        conversationId: params.id,
        startedTurn: receipt.outcome === "started",
        queue,
        ...omitUndefined({ turnId: receipt.turnId }),
      };
    },
  }),
  endpoint("PATCH /conversations/:id/queue/:messageId", {
    operationId: "changeQueuedMessage",
    refusals: [409],
    summary: "Edit, move or switch a message that waits",
    access: "write",
    params: queuedMessageParams,
    body: queueEdit,
    response: queueResponse,
    handle: async ({ me, params, body }) => ({
      conversationId: params.id,
      queue: await me.queue.edit(params.id, params.messageId, body),
    }),
  }),
  endpoint("DELETE /conversations/:id/queue/:messageId", {
    operationId: "removeQueuedMessage",
    summary: "Remove a message that waits",
    access: "write",
    params: queuedMessageParams,
    response: queueResponse,
    handle: async ({ me, params, app }) => {
      const queue = await me.queue.remove(params.id, params.messageId);
      app.telemetry?.queueSeen(params.id, queue);
      return { conversationId: params.id, queue };
    },
  }),
  endpoint("POST /conversations/:id/queue/resume", {
    operationId: "resumeQueue",
    refusals: [409],
    summary: "Go on after a pause",
    access: "write",
    params: conversationParams,
    response: enqueueResponse,
    handle: async ({ me, params, app }) => {
      const { queue, turnId } = await me.queue.resume(params.id);
      app.telemetry?.queueSeen(params.id, queue);
      return {
        conversationId: params.id,
        startedTurn: turnId !== undefined,
        queue,
        ...omitUndefined({ turnId }),
      };
    },
  }),
];
