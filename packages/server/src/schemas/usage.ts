import { z } from "@hono/zod-openapi";
import type {
  Cost,
  CostSum,
  MetricsQuery,
  MetricsResponse,
  ModelPrices,
  StepMetrics,
  TurnMetrics,
  Usage,
  UsageQuery,
  UsageResponse,
} from "@parley/wire";
import { agree } from "./agree.js";
import { outputVerdict } from "./output.js";
import { id, limitInQuery, openWords, stepId, turnReason } from "./scalars.js";

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

const money = z.number().min(0);

export const modelPrices = agree<ModelPrices>()(
  z
    .object({
      input: money,
      cachedInput: money.optional(),
      cacheWrite: money.optional(),
      output: money,
      currency: z.string().optional(),
    })
    .openapi("ModelPrices"),
);

export const cost = agree<Cost>()(
  z
    .object({
      amount: money,
      currency: z.string(),
      source: openWords<"billed" | "estimated">(["billed", "estimated"]),
    })
    .openapi("Cost"),
);

const costFields = {
  calls: z.number(),
  unknownCalls: z.number(),
  amounts: z.array(z.object({ currency: z.string(), billed: money, estimated: money })),
};

export const costSum = agree<CostSum>()(z.object(costFields).openapi("CostSum"));

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
      turnId: id,
      usage,
      durationMs: z.number().optional(),
      waitedMs: z.number().optional(),
      steps: z.array(stepMetrics),
      contextSize: z.number().optional(),
      reason: turnReason.optional(),
      model: z.string().optional(),
      output: outputVerdict.optional(),
      cost: costSum.optional(),
      compactionUsage: usage.optional(),
    })
    .openapi("TurnMetrics"),
);

export const metricsQuery = agree<MetricsQuery>()(
  z.object({ limit: limitInQuery.optional(), before: z.string().max(1_000).optional() }),
);

export const metricsResponse = agree<MetricsResponse>()(
  z.object({ turns: z.array(turnMetrics), nextBefore: z.string().optional() }),
);

const groupings = ["day", "model", "conversation", "owner"] as const;
const day = z.string().regex(/^\d{4}-\d{2}-\d{2}$/, "a day as YYYY-MM-DD");

export const usageQuery = agree<UsageQuery>()(
  z.object({
    from: day.optional(),
    to: day.optional(),
    by: z.enum(groupings).optional(),
    limit: limitInQuery.optional(),
    owner: z.string().min(1).max(1_000).optional(),
    owners: z.literal("all").optional(),
  }),
);

const usageFields = { ...costFields, usage };

export const usageResponse = agree<UsageResponse>()(
  z
    .object({
      from: z.string(),
      to: z.string(),
      by: z.enum(groupings),
      groups: z.array(
        z
          .object({
            day: z.string().optional(),
            model: z.string().optional(),
            conversationId: id.optional(),
            title: z.string().optional(),
            owner: z.string().optional(),
            ...usageFields,
          })
          .openapi("UsageGroup"),
      ),
      total: z.object(usageFields).openapi("UsageSums"),
      omitted: z.number().optional(),
    })
    .openapi("UsageResponse"),
);
