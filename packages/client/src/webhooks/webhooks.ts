import type {
  ChangeWebhookRequest,
  CreateWebhookRequest,
  CreateWebhookResponse,
  DeliveriesQuery,
  DeliveriesResponse,
  ReplayRequest,
  TestWebhookResponse,
  WebhookInfo,
} from "@parley/wire";
import type { Request } from "../requests/request.js";

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Endpoints that the server posts events to. All calls need a key with the scope `admin`. */
export interface WebhookRequests {
  /** Lists them, oldest first. */
  list(options?: CallOptions): Promise<readonly WebhookInfo[]>;
  /** Registers one. `secret` is in this answer and nowhere else. */
  add(webhook: CreateWebhookRequest, options?: CallOptions): Promise<CreateWebhookResponse>;
  /** Changes one, or enables or disables it. */
  change(id: string, change: ChangeWebhookRequest, options?: CallOptions): Promise<WebhookInfo>;
  /** Removes one. Returns false if there was none. */
  remove(id: string, options?: CallOptions): Promise<boolean>;
  /** Posts one event `webhook.test` to it. */
  test(id: string, options?: CallOptions): Promise<TestWebhookResponse>;
  /** Lists its deliveries, newest first. */
  deliveries(id: string, query?: DeliveriesQuery, options?: CallOptions): Promise<DeliveriesResponse>;
  /** Delivers again what was delivered or given up. Returns how many there are. */
  replay(id: string, request?: ReplayRequest, options?: CallOptions): Promise<number>;
}

/** Makes the calls of a client: `webhookRequests(client.request)`. */
export function webhookRequests(ask: Request): WebhookRequests {
  return {
    list: async ({ signal } = {}) => (await ask("GET /webhooks", { signal })).webhooks,
    add: (body, { signal } = {}) => ask("POST /webhooks", { body, signal }),
    change: async (id, body, { signal } = {}) =>
      (await ask("PATCH /webhooks/:id", { params: { id }, body, signal })).webhook,
    remove: async (id, { signal } = {}) =>
      (await ask("DELETE /webhooks/:id", { params: { id }, signal })).removed,
    test: (id, { signal } = {}) => ask("POST /webhooks/:id/test", { params: { id }, signal }),
    deliveries: (id, query = {}, { signal } = {}) =>
      ask("GET /webhooks/:id/deliveries", { params: { id }, query, signal }),
    replay: async (id, body = {}, { signal } = {}) =>
      (await ask("POST /webhooks/:id/replay", { params: { id }, body, signal })).replayed,
  };
}
