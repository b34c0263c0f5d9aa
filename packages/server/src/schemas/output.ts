import { z } from "@hono/zod-openapi";
import type { OutputInvalidEntry, OutputRequest, OutputVerdict, TurnOutput } from "@parley/wire";
import { agree } from "./agree.js";
import { count, jsonObject } from "./scalars.js";

export const outputRequest = agree<OutputRequest>()(
  z
    .object({
      name: z
        .string()
        .regex(/^[A-Za-z0-9_-]{1,64}$/)
        .optional(),
      description: z.string().max(4_000).optional(),
      schema: jsonObject,
      retries: z.number().int().min(0).max(8).optional(),
    })
    .openapi("OutputRequest"),
);

const verdictShape = { valid: z.boolean(), attempts: count, errors: z.array(z.string()).optional() };

export const outputVerdict = agree<OutputVerdict>()(z.object(verdictShape).openapi("OutputVerdict"));

export const turnOutput = agree<TurnOutput>()(
  z.object({ ...verdictShape, value: z.unknown().optional() }).openapi("TurnOutput"),
);

export const outputInvalidEntry = agree<OutputInvalidEntry>()(
  z
    .object({
      type: z.literal("output-invalid"),
      name: z.string(),
      attempt: count,
      errors: z.array(z.string()),
    })
    .openapi("OutputInvalidEntry"),
);
