import { z } from "@hono/zod-openapi";
import type { ModelsResponse } from "@parley/wire";
import { faceEndpoint } from "../../http/endpoint.js";
import { modelOf } from "./request.js";
import { idParams, model as modelSchema, modelsAnswer } from "./schemas.js";

/** Models have no date here, and clients want one: the same for all, and never in the future. */
const created = 1_700_000_000;

function modelObject(id: string) {
  return { id, object: "model" as const, created, owned_by: id.slice(0, Math.max(0, id.indexOf("/"))) };
}

function find(name: string, models: ModelsResponse) {
  return modelObject(modelOf(name, models) ?? "");
}

export const modelEndpoints = [
  faceEndpoint("GET /models", {
    operationId: "openaiListModels",
    summary: "The models, as `credential/model`",
    access: "read",
    response: modelsAnswer,
    async handle({ app }) {
      return { object: "list" as const, data: app.runtime.models().models.map(modelObject) };
    },
  }),
  faceEndpoint("GET /models/:id", {
    operationId: "openaiGetModel",
    summary: "One model; its name encoded as one segment",
    access: "read",
    params: idParams,
    response: modelSchema,
    handle: async ({ params, app }) => find(params.id, app.runtime.models()),
  }),
  faceEndpoint("GET /models/:credential/:name", {
    operationId: "openaiGetConnectionModel",
    summary: "One model; its name with a plain slash",
    access: "read",
    params: z.object({ credential: z.string().min(1).max(256), name: z.string().min(1).max(256) }),
    response: modelSchema,
    handle: async ({ params, app }) => find(`${params.credential}/${params.name}`, app.runtime.models()),
  }),
];
