import { z } from "@hono/zod-openapi";
import type {
  CloseResponse,
  ConversationDetail,
  ConversationMeta,
  ConversationParams,
  CreateConversationRequest,
  CreateConversationResponse,
  DeleteQuery,
  DeleteResponse,
  EffectiveChoices,
  EventsQuery,
  ForkRequest,
  ForkResponse,
  HistoryQuery,
  LastResponse,
  ListConversationsQuery,
  ListConversationsResponse,
  OpenResponse,
  QueuedMessageParams,
  StopResponse,
  TurnDetail,
  TurnParams,
} from "@parley/wire";
import { turnProgress } from "./agent-event.js";
import { agree } from "./agree.js";
import { storedChunk } from "./chunk.js";
import { waitingInfo } from "./input-entry.js";
import { providerCall } from "./manifest.js";
import { queuePayload } from "./queue.js";
import {
  count,
  cursor,
  flagInQuery,
  id,
  instant,
  jsonObject,
  limitInQuery,
  reasoningEffort,
  seqInQuery,
  turnReason,
} from "./scalars.js";
import { sentParts } from "./send-message.js";
import { turnMetrics } from "./usage.js";

const status = z.enum(["active", "idle", "closed"]);

/** Statuses in a query string, with commas between them. */
const statusesInQuery = z
  .string()
  .transform((text, context) => {
    const named = z.array(status).safeParse(text.split(","));
    if (named.success) return named.data;
    context.addIssue({
      code: "custom",
      message: `expected ${status.options.join(", ")}: one, or several with commas`,
    });
    return z.NEVER;
  })
  .openapi({ type: "string", description: `${status.options.join(", ")}: one, or several with commas` });

export const modelSource = z.enum(["conversation", "last-turn", "default"]);

const effectiveChoices = agree<EffectiveChoices>()(
  z
    .object({
      model: z.string().optional(),
      modelFrom: modelSource.optional(),
      reasoningEffort,
    })
    .openapi("EffectiveChoices"),
);

const metaShape = {
  id,
  createdAt: instant,
  lastActivityAt: instant,
  title: z.string(),
  status,
  pinned: z.literal(true).optional(),
  compactedFrom: id.optional(),
  model: z.string().optional(),
  reasoningEffort: reasoningEffort.optional(),
  effective: effectiveChoices.optional(),
  parentId: id.optional(),
  forkedAtSeq: count.optional(),
  temporary: z.literal(true).optional(),
  waiting: waitingInfo.optional(),
  lastReason: turnReason.optional(),
};

export const conversationMeta = agree<ConversationMeta>()(z.object(metaShape).openapi("ConversationMeta"));

export const activeTurn = z.object({
  turnId: id,
  model: z.string().optional(),
  startedAt: instant.optional(),
  progress: turnProgress.optional(),
});

export const conversationDetail = agree<ConversationDetail>()(
  z
    .object({
      ...metaShape,
      activeTurn: activeTurn.optional(),
      contextSize: z.number().optional(),
      contextWindow: z.number().optional(),
      queue: queuePayload,
      cursor,
      metadata: jsonObject.optional(),
    })
    .openapi("ConversationDetail"),
);

export const conversationParams = agree<ConversationParams>()(z.object({ id }));
export const queuedMessageParams = agree<QueuedMessageParams>()(z.object({ id, messageId: id }));
export const turnParams = agree<TurnParams>()(z.object({ id, turnId: id }));

/** Titles are shown in lists; a longer text is not a title. */
const title = z.string().max(1_000);
const modelName = z.string().min(1).max(256);

export const createConversationRequest = agree<CreateConversationRequest>()(
  z
    .object({
      id: id.optional(),
      title: title.optional(),
      metadata: jsonObject.optional(),
      model: modelName.optional(),
      reasoningEffort: reasoningEffort.optional(),
      instructions: z.string().optional(),
      temporary: z.boolean().optional(),
    })
    .openapi("CreateConversationRequest"),
);

export const createConversationResponse = agree<CreateConversationResponse>()(
  z.object({ conversation: conversationMeta, created: z.boolean() }),
);

export const listConversationsQuery = agree<ListConversationsQuery>()(
  z.object({
    q: z.string().max(500).optional(),
    status: statusesInQuery.optional(),
    parent: z.string().max(200).optional(),
    model: modelName.optional(),
    pinned: z.literal("first").optional(),
    limit: limitInQuery.optional(),
    before: z.string().max(1_000).optional(),
  }),
);

export const listConversationsResponse = agree<ListConversationsResponse>()(
  z.object({ conversations: z.array(conversationMeta), nextBefore: z.string().optional() }),
);

export const historyQuery = agree<HistoryQuery>()(
  z.object({
    sinceSeq: seqInQuery.optional(),
    beforeSeq: seqInQuery.optional(),
    limit: limitInQuery.optional(),
    open: flagInQuery.optional(),
  }),
);

export const eventsQuery = agree<EventsQuery>()(z.object({ cursor: z.string().max(500).optional() }));

export const lastResponse = agree<LastResponse>()(
  z.object({
    conversationId: id,
    text: z.string(),
    content: z.string(),
    turnId: id.optional(),
    reason: turnReason.optional(),
    waiting: waitingInfo.optional(),
  }),
);

const stopped = z.object({ conversationId: id, abortedTurn: z.boolean() });
export const stopResponse = agree<StopResponse>()(stopped);
export const closeResponse = agree<CloseResponse>()(stopped);
export const openResponse = agree<OpenResponse>()(z.object({ conversationId: id }));

export const forkRequest = agree<ForkRequest>()(
  z
    .object({
      atSeq: count,
      id: id.optional(),
      message: z.string().optional(),
      parts: sentParts.optional(),
      messageId: id.optional(),
      model: modelName.optional(),
      reasoningEffort: reasoningEffort.optional(),
    })
    .openapi("ForkRequest"),
);

export const forkResponse = agree<ForkResponse>()(
  z.object({ conversation: conversationMeta, turnId: id.optional() }),
);

export const turnDetail = agree<TurnDetail>()(
  z
    .object({
      conversationId: id,
      turnId: id,
      status: z.enum(["running", "waiting", "sealed"]),
      reason: turnReason.optional(),
      model: z.string().optional(),
      startedAt: instant,
      sealedAt: instant.optional(),
      chunks: z.array(storedChunk),
      providerCalls: z.array(providerCall),
      metrics: turnMetrics.optional(),
    })
    .openapi("TurnDetail"),
);

export const deleteQuery = agree<DeleteQuery>()(z.object({ cascade: flagInQuery.optional() }));
export const deleteResponse = agree<DeleteResponse>()(
  z.object({ conversationId: id, deletedIds: z.array(id) }),
);
