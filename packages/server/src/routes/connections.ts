import type { ConnectionApi } from "@parley/core/runtime";
import type { AppContext } from "../app-env.js";
import { endpoint } from "../http/endpoint.js";
import { RequestRefusal } from "../http/request-refusal.js";
import {
  addConnectionRequest,
  changeConnectionRequest,
  connectionParams,
  connectionResponse,
  connectionSettings,
  connectionsResponse,
  deleteConnectionResponse,
  testConnectionResponse,
} from "../schemas/connections.js";

/** A body holds only a key and an address. */
const bodyBytes = 200_000;

function connectionsOf({ runtime }: AppContext): ConnectionApi {
  if (runtime.connections !== undefined) return runtime.connections;
  throw new RequestRefusal("invalid_request", "The models of this server are fixed", { status: 404 });
}

// All of them are for admins: a connection serves every owner, and its address is requested from inside the network.
export const connectionEndpoints = [
  endpoint("GET /connections", {
    operationId: "listConnections",
    refusals: [404],
    summary: "Connections to providers of models, without their keys",
    access: "admin",
    response: connectionsResponse,
    handle: ({ app }) => connectionsOf(app).list(),
  }),
  endpoint("POST /connections", {
    operationId: "addConnection",
    refusals: [404],
    summary: "Connect to a provider: its models can be used at once, on every node",
    access: "admin",
    body: addConnectionRequest,
    bodyBytes,
    response: connectionResponse,
    handle: async ({ app, body }) => ({ connection: await connectionsOf(app).add(body) }),
  }),
  endpoint("PATCH /connections/:name", {
    operationId: "changeConnection",
    summary: "Rename a connection, or change its key, address or models",
    access: "admin",
    params: connectionParams,
    body: changeConnectionRequest,
    bodyBytes,
    response: connectionResponse,
    handle: async ({ app, params: { name }, body }) => ({
      connection: await connectionsOf(app).change(name, body),
    }),
  }),
  endpoint("DELETE /connections/:name", {
    operationId: "removeConnection",
    summary: "Remove a connection with its key. Idempotent",
    access: "admin",
    params: connectionParams,
    response: deleteConnectionResponse,
    handle: async ({ app, params: { name } }) => ({ name, removed: await connectionsOf(app).remove(name) }),
  }),
  endpoint("POST /connections/test", {
    operationId: "testSettings",
    refusals: [404],
    summary: "Ask a provider for its models, and store nothing",
    access: "admin",
    body: connectionSettings,
    bodyBytes,
    response: testConnectionResponse,
    handle: ({ app, body }) => connectionsOf(app).test(body),
  }),
  endpoint("POST /connections/:name/test", {
    operationId: "testConnection",
    summary: "Ask the provider of a connection for its models, which become those of the connection",
    access: "admin",
    params: connectionParams,
    response: testConnectionResponse,
    handle: ({ app, params: { name } }) => connectionsOf(app).test(name),
  }),
];
