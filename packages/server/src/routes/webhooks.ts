import { endpoint } from "../http/endpoint.js";
import {
  changeWebhookRequest,
  createWebhookRequest,
  createWebhookResponse,
  deleteWebhookResponse,
  deliveriesQuery,
  deliveriesResponse,
  replayRequest,
  replayResponse,
  testWebhookResponse,
  webhookParams,
  webhookResponse,
  webhooksResponse,
} from "../schemas/webhooks.js";

// All of them are for admins: an endpoint outlives the key that it was registered with, and its address may be a secret.
export const webhookEndpoints = [
  endpoint("GET /webhooks", {
    summary: "Endpoints that events are posted to, oldest first, without their secrets",
    access: "admin",
    response: webhooksResponse,
    handle: async ({ me }) => ({ webhooks: await me.webhooks.list() }),
  }),
  endpoint("POST /webhooks", {
    summary: "Register an endpoint. Its secret is shown this once",
    access: "admin",
    body: createWebhookRequest,
    bodyBytes: 20_000,
    response: createWebhookResponse,
    handle: ({ me, body }) => me.webhooks.add(body),
  }),
  endpoint("PATCH /webhooks/:id", {
    summary: "Change an endpoint, or enable or disable it",
    access: "admin",
    params: webhookParams,
    body: changeWebhookRequest,
    bodyBytes: 20_000,
    response: webhookResponse,
    handle: async ({ me, params: { id }, body }) => ({ webhook: await me.webhooks.change(id, body) }),
  }),
  endpoint("DELETE /webhooks/:id", {
    summary: "Remove an endpoint, with what it was to receive. Idempotent",
    access: "admin",
    params: webhookParams,
    response: deleteWebhookResponse,
    handle: async ({ me, params: { id } }) => ({ id, removed: await me.webhooks.remove(id) }),
  }),
  endpoint("POST /webhooks/:id/test", {
    summary: "Post an event `webhook.test` to an endpoint, once, and say what came of it",
    access: "admin",
    params: webhookParams,
    response: testWebhookResponse,
    handle: ({ me, params: { id } }) => me.webhooks.test(id),
  }),
  endpoint("GET /webhooks/:id/deliveries", {
    summary: "What was reported to an endpoint and what became of it, newest first",
    access: "admin",
    params: webhookParams,
    query: deliveriesQuery,
    response: deliveriesResponse,
    handle: ({ me, params: { id }, query }) => me.webhooks.deliveries(id, query),
  }),
  endpoint("POST /webhooks/:id/replay", {
    summary: "Deliver again, in order, what was delivered or given up",
    access: "admin",
    params: webhookParams,
    body: replayRequest,
    bodyBytes: 20_000,
    response: replayResponse,
    handle: async ({ me, params: { id }, body }) => ({ replayed: await me.webhooks.replay(id, body) }),
  }),
];
