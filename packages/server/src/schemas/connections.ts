import { z } from "@hono/zod-openapi";
import type {
  AddConnectionRequest,
  ChangeConnectionRequest,
  ConnectionInfo,
  ConnectionKind,
  ConnectionModel,
  ConnectionParams,
  ConnectionResponse,
  ConnectionSettings,
  ConnectionsResponse,
  DeleteConnectionResponse,
  TestConnectionResponse,
} from "@parley/wire";
import { agree } from "./agree.js";
import { instant, openWords } from "./scalars.js";

const name = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, "1 to 64 letters, digits and . _ -")
  .openapi({ description: "The first part of its models' names" });
const kind = z.string().min(1).max(64).openapi({ description: "One of `kinds` of GET /connections" });
const baseUrl = z.string().min(1).max(2_000);
const apiKey = z.string().min(1).max(4_000).openapi({ writeOnly: true, description: "Never returned" });
const models = z.array(z.string().min(1).max(200)).min(1).max(500);

const connectionModel = agree<ConnectionModel>()(
  z.object({ name: z.string(), contextWindow: z.number().optional() }).openapi("ConnectionModel"),
);

const connectionInfo = agree<ConnectionInfo>()(
  z
    .object({
      name: z.string(),
      kind: z.string(),
      source: openWords<"stored" | "file" | "environment" | "built-in">([
        "stored",
        "file",
        "environment",
        "built-in",
      ]),
      baseUrl: z.string().optional(),
      hasKey: z.boolean(),
      models: z.array(connectionModel),
      problem: z.string().optional().openapi({ description: "Why it cannot be used" }),
      createdAt: instant.optional(),
      changedAt: instant.optional(),
    })
    .openapi("ConnectionInfo"),
);

const connectionKind = agree<ConnectionKind>()(
  z
    .object({
      kind: z.string(),
      title: z.string(),
      key: z.enum(["required", "optional"]),
      baseUrl: z.enum(["required", "optional"]),
      usualBaseUrl: z.string().optional(),
    })
    .openapi("ConnectionKind"),
);

export const connectionParams = agree<ConnectionParams>()(z.object({ name }));
export const connectionsResponse = agree<ConnectionsResponse>()(
  z.object({
    connections: z.array(connectionInfo),
    kinds: z.array(connectionKind),
    cannotAdd: z.string().optional().openapi({ description: "Why nothing can be added" }),
  }),
);

const settings = { kind, baseUrl: baseUrl.optional(), apiKey: apiKey.optional() };
export const connectionSettings = agree<ConnectionSettings>()(
  z.object(settings).openapi("ConnectionSettings"),
);
export const addConnectionRequest = agree<AddConnectionRequest>()(
  z.object({ ...settings, name: name.optional(), models: models.optional() }).openapi("AddConnectionRequest"),
);
export const changeConnectionRequest = agree<ChangeConnectionRequest>()(
  z
    .object({
      name: name.optional(),
      baseUrl: baseUrl.optional(),
      apiKey: apiKey.optional(),
      models: models.nullable().optional(),
    })
    .openapi("ChangeConnectionRequest"),
);
export const connectionResponse = agree<ConnectionResponse>()(z.object({ connection: connectionInfo }));
export const deleteConnectionResponse = agree<DeleteConnectionResponse>()(
  z.object({ name: z.string(), removed: z.boolean() }),
);
export const testConnectionResponse = agree<TestConnectionResponse>()(
  z.object({
    ok: z.boolean(),
    models: z.array(connectionModel).optional(),
    error: z.string().optional(),
    durationMs: z.number(),
  }),
);
