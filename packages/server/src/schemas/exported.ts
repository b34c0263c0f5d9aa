import { z } from "@hono/zod-openapi";
import type { ExportLine, ExportQuery, ImportQuery, ImportResponse } from "@parley/wire";
import { agree } from "./agree.js";
import { storedChunkShape } from "./chunk.js";
import { conversationMeta } from "./conversation.js";
import { providerCall } from "./manifest.js";
import { count, id, instant, jsonObject } from "./scalars.js";
import { turnMetrics } from "./usage.js";

export const exportLine = agree<ExportLine>()(
  z
    .discriminatedUnion("type", [
      z.object({
        type: z.literal("conversation"),
        format: z.literal("parley.conversation.1"),
        conversation: conversationMeta,
        instructions: z.string().optional(),
        compactThreshold: count.optional(),
        metadata: jsonObject.optional(),
        lastSeq: count,
      }),
      z.object({ type: z.literal("chunk"), ...storedChunkShape, undone: z.literal(true).optional() }),
      z.object({
        type: z.literal("turn"),
        turnId: id,
        startedAt: instant,
        sealedAt: instant.optional(),
        metrics: turnMetrics,
        providerCalls: z.array(providerCall),
      }),
    ])
    .openapi("ExportLine"),
);

export const exportQuery = agree<ExportQuery>()(
  z.object({ format: z.enum(["jsonl", "markdown"]).optional() }),
);
export const importQuery = agree<ImportQuery>()(z.object({ id: id.optional() }));
export const importResponse = agree<ImportResponse>()(
  z.object({ conversation: conversationMeta, created: z.boolean(), messages: count, turns: count }),
);
