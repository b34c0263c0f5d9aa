import { z } from "@hono/zod-openapi";
import type { MetricsQuery, MetricsResponse, StepMetrics, TurnMetrics, Usage } from "@parley/wire";
import { agree } from "./agree.js";
import { outputVerdict } from "./output.js";
import { limitInQuery, stepId, turnReason } from "./scalars.js";

export const usage = agree<Usage>()(
  z
    .object({
      inputTokens: z.number(),
      outputTokens: z.number(),
      cacheReadTokens: z.number().optional(),
      cacheWriteTokens: z.number().optional(),
      reasoningTokens: z.number().optional(),
    })
    .openapi("Usage"),
);

const stepMetrics = agree<StepMetrics>()(
  z
    .object({
      stepId,
      usage,
      ttftMs: z.number().optional(),
      decodeMs: z.number().optional(),
      genTotalMs: z.number().optional(),
      toolMs: z.number().optional(),
      tools: z
        .array(
          z.object({
            toolCallId: z.string(),
            toolName: z.string(),
            isError: z.boolean(),
            durationMs: z.number().optional(),
          }),
        )
        .optional(),
      model: z.string().optional(),
    })
    .openapi("StepMetrics"),
);

export const turnMetrics = agree<TurnMetrics>()(
  z
    .object({
      turnId: z.string(),
      usage,
      durationMs: z.number().optional(),
      waitedMs: z.number().optional(),
      steps: z.array(stepMetrics),
      contextSize: z.number().optional(),
      reason: turnReason.optional(),
      model: z.string().optional(),
      output: outputVerdict.optional(),
    })
    .openapi("TurnMetrics"),
);

export const metricsQuery = agree<MetricsQuery>()(
  z.object({ limit: limitInQuery.optional(), before: z.string().max(1_000).optional() }),
);

export const metricsResponse = agree<MetricsResponse>()(
  z.object({ turns: z.array(turnMetrics), nextBefore: z.string().optional() }),
);
