import { omitUndefined } from "@parley/core/messages";
import { endpoint } from "../http/endpoint.js";
import {
  compactionPreview,
  compactionResult,
  compactRequest,
  undoCompactionResponse,
} from "../schemas/compaction.js";
import { conversationParams } from "../schemas/conversation.js";

export const compactionEndpoints = [
  endpoint("POST /conversations/:id/compact", {
    operationId: "compactConversation",
    refusals: [402, 409, 422],
    summary: "Summarize all but the newest messages for the model. The log stays whole",
    access: "write",
    params: conversationParams,
    body: compactRequest,
    response: compactionResult,
    handle: ({ me, params, body }) => me.compact(params.id, body),
  }),
  endpoint("POST /conversations/:id/compact/preview", {
    operationId: "previewCompaction",
    refusals: [409],
    summary: "What a compaction would cover. Changes nothing",
    // Part of compacting: a key that may only read can do every GET, and nothing else.
    access: "write",
    params: conversationParams,
    body: compactRequest,
    response: compactionPreview,
    handle: ({ me, params, body }) => me.previewCompaction(params.id, body),
  }),
  endpoint("POST /conversations/:id/compact/undo", {
    operationId: "undoCompaction",
    refusals: [409],
    summary: "Take the latest compaction out of force",
    access: "write",
    params: conversationParams,
    response: undoCompactionResponse,
    handle: async ({ me, params }) => {
      const { compactedFrom } = await me.undoCompaction(params.id);
      return { conversationId: params.id, ...omitUndefined({ compactedFrom }) };
    },
  }),
];
