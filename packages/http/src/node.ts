import { createDefaultHttpClient } from "./create-default-http-client.js";
import type { HttpClient } from "./http-client.js";
import type { HttpClientConfig } from "./http-client-config.js";
import { createNodeTransport, type NodeTransport } from "./transport/node-transport.js";

export {
  type GuardedAnswer,
  type GuardedFailure,
  type GuardedRequest,
  GuardedRequestError,
  guardedRefusal,
  requestGuarded,
} from "./guard/guarded-request.js";
export { allowAddresses, isPublicAddress } from "./guard/public-address.js";
export {
  createWebhookTransport,
  type GuardedWebhookTransport,
  type WebhookTransportOptions,
} from "./guard/webhook-transport.js";
export type { NodeTransport, NodeTransportOptions } from "./transport/node-transport.js";
export { createNodeTransport } from "./transport/node-transport.js";

let sharedTransport: NodeTransport | undefined;

/** Calls `createDefaultHttpClient` with the Node transport. Clients without their own transport share one. */
export function createNodeHttpClient(config: Partial<HttpClientConfig> = {}): HttpClient {
  if (config.transport !== undefined) return createDefaultHttpClient(config);
  sharedTransport ??= createNodeTransport();
  return createDefaultHttpClient({ ...config, transport: sharedTransport });
}
