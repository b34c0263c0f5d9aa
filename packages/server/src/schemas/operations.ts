import { z } from "@hono/zod-openapi";
import type {
  DoctorResponse,
  HealthResponse,
  ModelsResponse,
  Problem,
  ReadyResponse,
  SearchQuery,
  SearchResponse,
} from "@parley/wire";
import { agree } from "./agree.js";
import { inputKind, inputResponseEntry } from "./input-entry.js";
import { count, errorCode, id, instant, limitInQuery, reasoningEffort, role } from "./scalars.js";
import { modelPrices } from "./usage.js";

export const searchQuery = agree<SearchQuery>()(
  z.object({
    q: z.string().min(1).max(1_000),
    limit: limitInQuery.optional(),
    conversationId: id.optional(),
  }),
);
export const searchResponse = agree<SearchResponse>()(
  z.object({
    hits: z.array(
      z
        .object({
          conversationId: id,
          seq: count,
          snippet: z.string(),
          title: z.string().optional(),
          role: role.optional(),
          createdAt: instant.optional(),
        })
        .openapi("SearchHit"),
    ),
    partial: z.literal(true).optional(),
  }),
);

export const modelsResponse = agree<ModelsResponse>()(
  z
    .object({
      models: z.array(z.string()),
      modelInfo: z.record(
        z.string(),
        z.object({
          contextWindow: z.number(),
          isWindowAssumed: z.literal(true).optional(),
          maxOutputTokens: z.number().optional(),
          prices: modelPrices.optional(),
          efforts: z.array(reasoningEffort).optional(),
        }),
      ),
      defaultModel: z.string().optional(),
    })
    .openapi("ModelsResponse"),
);

export const healthResponse = agree<HealthResponse>()(
  z.object({ status: z.literal("ok"), instance: z.string() }),
);
export const readyResponse = agree<ReadyResponse>()(
  z
    .object({
      ready: z.boolean(),
      store: z.boolean(),
      schema: z.boolean(),
      draining: z.boolean(),
      reason: z.string().optional(),
    })
    .openapi("ReadyResponse"),
);

export const doctorResponse = agree<DoctorResponse>()(
  z
    .object({
      healthy: z.boolean(),
      findings: z.array(
        z.object({
          area: z.string(),
          level: z.enum(["ok", "warning", "error"]),
          message: z.string(),
          advice: z.string().optional(),
          fixable: z.boolean().optional(),
          fixed: z.boolean().optional(),
        }),
      ),
    })
    .openapi("DoctorResponse"),
);

export const problem = agree<Problem>()(
  z
    .object({
      type: z.string().optional(),
      title: z.string(),
      status: z.int(),
      detail: z.string().optional(),
      code: errorCode,
      error: z.string(),
      retryable: z.boolean().optional(),
      requestId: z.string().optional(),
      errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
      response: inputResponseEntry.optional(),
      requests: z
        .array(z.object({ requestId: z.string(), kind: inputKind, toolName: z.string() }))
        .optional(),
    })
    .openapi("Problem"),
);
