import { z } from "@hono/zod-openapi";
import type { ContextManifest, ContextTransformKind, OpenUnion, ProviderCallInfo } from "@parley/wire";
import { agree } from "./agree.js";
import { count, errorCode, id, instant, role, stepId } from "./scalars.js";
import { cost, modelPrices, usage } from "./usage.js";

const segmentKinds = ["instructions", "tools", "summary", "messages"] as const;

const manifest = agree<ContextManifest>()(
  z
    .object({
      instructionsHash: z.string().optional(),
      toolsHash: z.string().optional(),
      segments: z.array(
        z.object({
          kind: z.enum(segmentKinds),
          role: role.optional(),
          firstSeq: count.optional(),
          lastSeq: count.optional(),
          estimatedTokens: z.number(),
          hash: z.string().optional(),
        }),
      ),
      dropped: z.array(
        z.object({
          firstSeq: count,
          lastSeq: count,
          reason: z.enum(["budget", "compacted"]),
          estimatedTokens: z.number().optional(),
          summarySeq: count.optional(),
        }),
      ),
      files: z
        .array(
          z.object({
            seq: count.optional(),
            name: z.string(),
            mediaType: z.string(),
            size: count,
            as: z.enum(["image", "document", "text", "note"]),
            detail: z.string().optional(),
          }),
        )
        .optional(),
      transforms: z.array(
        z.object({
          kind: z.string() as unknown as z.ZodType<OpenUnion<ContextTransformKind>>,
          firstSeq: count.optional(),
          lastSeq: count.optional(),
          detail: z.string().optional(),
        }),
      ),
      estimatedTokens: z.number(),
      contextWindow: z.number().optional(),
      prefixHash: z.string(),
      prefixKept: z.boolean().optional(),
      prefixKeptTokens: z.number().optional(),
      prefixBreak: z
        .object({
          at: z.enum(["model", "parameters", ...segmentKinds]),
          seq: count.optional(),
          detail: z.string().optional(),
        })
        .optional(),
    })
    .openapi("ContextManifest"),
);

export const providerCall = agree<ProviderCallInfo>()(
  z
    .object({
      id,
      stepId,
      purpose: z.enum(["step", "compaction"]).optional(),
      model: z.string(),
      provider: z.string(),
      providerModel: z.string().optional(),
      providerRequestId: z.string().optional(),
      startedAt: instant.optional(),
      createdAt: instant.optional(),
      attempts: z.number().optional(),
      usage: usage.optional(),
      cost: cost.optional(),
      prices: modelPrices.optional(),
      ttftMs: z.number().optional(),
      decodeMs: z.number().optional(),
      genTotalMs: z.number().optional(),
      manifest: manifest.optional(),
      error: z.object({ code: errorCode, message: z.string() }).optional(),
      raw: z.unknown().optional(),
    })
    .openapi("ProviderCallInfo"),
);
