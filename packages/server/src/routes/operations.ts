import { z } from "@hono/zod-openapi";
import { omitUndefined } from "@parley/core/messages";
import type { StoreCheck } from "@parley/core/ports";
import type { Runtime } from "@parley/core/runtime";
import type { ReadyResponse } from "@parley/wire";
import { endpoint } from "../http/endpoint.js";
import { RequestRefusal } from "../http/request-refusal.js";
import {
  doctorResponse,
  healthResponse,
  modelsResponse,
  readyResponse,
  searchQuery,
  searchResponse,
} from "../schemas/operations.js";
import { jsonObject } from "../schemas/scalars.js";

const checks = new WeakMap<Runtime, Promise<StoreCheck | undefined>>();

/**
 * Returns the store's check, or undefined if it failed. Concurrent callers share one check, since any caller may
 * request it.
 */
function checkOnce(runtime: Runtime): Promise<StoreCheck | undefined> {
  const known = checks.get(runtime);
  if (known !== undefined) return known;
  const check = runtime
    .check()
    .catch(() => undefined)
    .finally(() => checks.delete(runtime));
  checks.set(runtime, check);
  return check;
}

function reasonNotToBeReady(
  check: StoreCheck | undefined,
  { alive, draining }: { readonly alive: boolean; readonly draining: boolean },
): string | undefined {
  if (draining) return "The server is shutting down";
  if (check === undefined) return "The store does not answer";
  if (check.schema !== "current") return `The schema of the store is ${check.schema} than this version's`;
  if (check.trouble !== undefined) return check.trouble;
  return alive
    ? undefined
    : "The node could not renew its leases in time and is coming back under a new name";
}

export const operationEndpoints = [
  endpoint("GET /search", {
    operationId: "search",
    summary:
      "Full text over the messages and titles of the caller's conversations, or over the messages of one",
    access: "read",
    query: searchQuery,
    refusals: [404],
    response: searchResponse,
    handle: ({ me, query }) => me.search(query),
  }),
  endpoint("GET /models", {
    operationId: "listModels",
    summary: "The models that can be asked",
    access: "read",
    response: modelsResponse,
    handle: async ({ app }) => app.runtime.models(),
  }),
  endpoint("GET /doctor", {
    operationId: "examineStore",
    summary: "Look the store over",
    access: "admin",
    response: doctorResponse,
    handle: ({ app }) => app.runtime.examine({ fix: false }),
  }),
  endpoint("POST /doctor", {
    operationId: "repairStore",
    summary: "Look the store over, and put right what is safe to",
    access: "admin",
    response: doctorResponse,
    handle: ({ app }) => app.runtime.examine({ fix: true }),
  }),
  endpoint("GET /health", {
    operationId: "getHealth",
    summary: "The process answers",
    access: "public",
    response: healthResponse,
    handle: async ({ app }) => ({ status: "ok", instance: app.instance }),
  }),
  endpoint("GET /ready", {
    operationId: "getReadiness",
    summary: "Whether the server can take work",
    access: "public",
    response: readyResponse,
    statuses: [503],
    async handle({ c, app }) {
      const check = await checkOnce(app.runtime);
      const { alive } = app.runtime.status();
      const draining = app.draining();
      const reason = reasonNotToBeReady(check, { alive, draining });
      const answer: ReadyResponse = {
        ready: reason === undefined,
        store: check !== undefined && check.trouble === undefined && alive,
        schema: check?.schema === "current",
        draining,
        ...omitUndefined({ reason }),
      };
      return c.json(answer, answer.ready ? 200 : 503, { "cache-control": "no-store" });
    },
  }),
  endpoint("GET /openapi.json", {
    operationId: "getContract",
    summary: "This contract",
    access: "public",
    response: jsonObject,
    handle: async ({ app }) => app.contract(),
  }),
  endpoint("GET /metrics", {
    operationId: "getServerMetrics",
    refusals: [404],
    summary: "Figures for Prometheus, of all owners together",
    access: "admin",
    response: z.string(),
    format: "text",
    async handle({ c, app }) {
      if (app.telemetry === undefined) {
        throw new RequestRefusal("invalid_request", "This server keeps no figures", { status: 404 });
      }
      const { text, type } = await app.telemetry.exposition();
      return c.body(text, 200, { "content-type": type, "cache-control": "no-store" });
    },
  }),
];
