import type { ParleyError } from "@parley/core";
import { isParleyError } from "@parley/core/errors";
import { breakOffError } from "../http/connections.js";
import { endpoint } from "../http/endpoint.js";
import { historyResponse } from "../schemas/chunk.js";
import {
  closeResponse,
  conversationDetail,
  conversationParams,
  createConversationRequest,
  createConversationResponse,
  deleteQuery,
  deleteResponse,
  forkRequest,
  forkResponse,
  historyQuery,
  lastResponse,
  listConversationsQuery,
  listConversationsResponse,
  openResponse,
  stopResponse,
  turnDetail,
  turnParams,
} from "../schemas/conversation.js";
import { metricsQuery, metricsResponse } from "../schemas/usage.js";

/** Returns true if there is no such conversation. */
export function isUnknown(error: unknown): boolean {
  return isParleyError(error) && error.code === "conversation_not_found";
}

/** Returns the settings of a new conversation, without those that were left out. */
function given<T extends object>(settings: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const named = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(named) as { [Key in keyof T]: Exclude<T[Key], undefined> };
}

export const conversationEndpoints = [
  endpoint("POST /conversations", {
    operationId: "createConversation",
    refusals: [409],
    summary: "Create a conversation. Idempotent by `id`",
    access: "write",
    body: createConversationRequest,
    response: createConversationResponse,
    handle: ({ me, body: { id, temporary, ...settings } }) =>
      me.create({ id, ...given(settings), ...(temporary === true ? { temporary } : {}) }),
  }),
  endpoint("GET /conversations", {
    operationId: "listConversations",
    summary:
      "List conversations, newest activity first; with `pinned=first`, the pinned ones before all others",
    access: "read",
    query: listConversationsQuery,
    response: listConversationsResponse,
    handle: ({ me, query }) => me.list(query),
  }),
  endpoint("GET /conversations/:id", {
    operationId: "readHistory",
    summary: "Read a window of the log, ascending by seq",
    access: "read",
    params: conversationParams,
    query: historyQuery,
    response: historyResponse,
    async handle({ me, params, query: { limit, ...bounds }, app }) {
      try {
        return await me.history({
          conversationId: params.id,
          ...bounds,
          ...(limit === undefined ? {} : { limit: Math.min(limit, app.limits.pageSize) }),
        });
      } catch (error) {
        // A client that names its seq may follow a conversation before its first message has created it.
        if (bounds.sinceSeq === undefined || !isUnknown(error)) throw error;
        return { chunks: [], latestSeq: 0 };
      }
    },
  }),
  endpoint("GET /conversations/:id/meta", {
    operationId: "getConversation",
    summary: "Read the metadata and what is going on right now",
    access: "read",
    params: conversationParams,
    response: conversationDetail,
    handle: ({ me, params }) => me.meta(params.id),
  }),
  endpoint("GET /conversations/:id/metrics", {
    operationId: "getTurnMetrics",
    summary: "Read tokens and timing of the sealed turns",
    access: "read",
    params: conversationParams,
    query: metricsQuery,
    response: metricsResponse,
    async handle({ me, params, query: { limit, before }, app }) {
      if (limit === undefined) return { turns: await me.metrics(params.id, { before }) };
      const most = Math.min(limit, app.limits.pageSize);
      // One more than is shown reveals if there are earlier ones.
      const turns = await me.metrics(params.id, { before, limit: most + 1 });
      const shown = turns.slice(-most);
      const [first] = shown;
      return {
        turns: shown,
        ...(shown.length === turns.length || first === undefined ? {} : { nextBefore: first.turnId }),
      };
    },
  }),
  endpoint("GET /conversations/:id/last", {
    operationId: "getLastAnswer",
    summary: "Wait for a running turn, then read the last answer",
    access: "read",
    params: conversationParams,
    response: lastResponse,
    async handle({ me, caller, params, c, app }) {
      app.connections.checkCapacity(caller);
      const leaving = new AbortController();
      let why: ParleyError | undefined;
      const forget = app.connections.add({
        caller,
        close(reason) {
          // A node that shuts down lets its turns end, and answers requests that wait for them as long as it can.
          if (reason === "draining") return;
          why = breakOffError(reason);
          leaving.abort();
        },
      });
      try {
        const answer = await me.last(params.id, {
          signal: AbortSignal.any([c.req.raw.signal, leaving.signal]),
        });
        if (why !== undefined) throw why;
        return answer;
      } catch (thrown) {
        throw why ?? thrown;
      } finally {
        forget();
      }
    },
  }),
  endpoint("GET /conversations/:id/turns/:turnId", {
    operationId: "getTurn",
    summary: "Read a turn: messages, provider calls, manifests, metrics",
    access: "read",
    params: turnParams,
    response: turnDetail,
    handle: ({ me, params }) => me.turn(params.id, params.turnId),
  }),
  endpoint("DELETE /conversations/:id", {
    operationId: "deleteConversation",
    refusals: [409],
    summary: "Delete a conversation and its archives, with `cascade` also its forks",
    access: "write",
    params: conversationParams,
    query: deleteQuery,
    response: deleteResponse,
    async handle({ me, params, query, app }) {
      const deletedIds = await me.remove(params.id, query);
      // The messages that waited there do not wait any more.
      for (const id of deletedIds) app.telemetry?.queueSeen(id, { messages: [] });
      return { conversationId: params.id, deletedIds };
    },
  }),
  endpoint("POST /conversations/:id/stop", {
    operationId: "stopTurn",
    summary: "Stop the running turn. Its partial answer is kept. Idempotent",
    access: "write",
    // A node that shuts down still does what lets its turns end.
    isWork: false,
    params: conversationParams,
    response: stopResponse,
    handle: async ({ me, params }) => ({ conversationId: params.id, ...(await me.stop(params.id)) }),
  }),
  endpoint("POST /conversations/:id/close", {
    operationId: "closeConversation",
    summary: "Stop, pause the queue and hide. A send reopens it",
    access: "write",
    params: conversationParams,
    response: closeResponse,
    handle: async ({ me, params }) => ({ conversationId: params.id, ...(await me.close(params.id)) }),
  }),
  endpoint("POST /conversations/:id/open", {
    operationId: "reopenConversation",
    refusals: [409],
    summary: "Unhide, and ask every connected client to show it",
    access: "write",
    params: conversationParams,
    response: openResponse,
    handle: async ({ me, params }) => {
      await me.open(params.id);
      return { conversationId: params.id };
    },
  }),
  endpoint("POST /conversations/:id/fork", {
    operationId: "forkConversation",
    refusals: [409],
    summary: "Make a conversation that shares the log up to `atSeq`; with `message`, edit or regenerate",
    access: "write",
    params: conversationParams,
    body: forkRequest,
    response: forkResponse,
    handle: ({ me, params, body }) => me.fork({ conversationId: params.id, ...body }),
  }),
];
