import { z } from "@hono/zod-openapi";
import type {
  CompactionPreview,
  CompactionResult,
  CompactRequest,
  UndoCompactionResponse,
} from "@parley/wire";
import { agree } from "./agree.js";
import { count, id } from "./scalars.js";

export const compactRequest = agree<CompactRequest>()(
  z
    .object({ keepLastN: count.optional(), modelName: z.string().min(1).max(256).optional() })
    .openapi("CompactRequest"),
);

export const compactionResult = agree<CompactionResult>()(
  z
    .object({
      summary: z.string(),
      newConversationId: id,
      messagesSummarized: count,
      messagesKept: count,
    })
    .openapi("CompactionResult"),
);

export const compactionPreview = agree<CompactionPreview>()(
  z
    .object({
      messagesSummarized: count,
      messagesKept: count,
      firstSeq: count,
      lastSeq: count,
      estimatedTokens: z.number(),
    })
    .openapi("CompactionPreview"),
);

export const undoCompactionResponse = agree<UndoCompactionResponse>()(
  z.object({ conversationId: id, compactedFrom: id.optional() }),
);
