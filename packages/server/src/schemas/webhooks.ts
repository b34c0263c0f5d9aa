import { z } from "@hono/zod-openapi";
import type {
  ChangeWebhookRequest,
  CreateWebhookRequest,
  CreateWebhookResponse,
  DeleteWebhookResponse,
  DeliveriesQuery,
  DeliveriesResponse,
  DeliveryState,
  ReplayRequest,
  ReplayResponse,
  TestWebhookResponse,
  WebhookEventType,
  WebhookInfo,
  WebhookParams,
  WebhookResponse,
  WebhooksResponse,
} from "@parley/wire";
import { agree } from "./agree.js";
import { count, id, instant, limitInQuery, openWords } from "./scalars.js";

const eventTypes = ["input.requested", "input.answered", "turn.sealed", "conversation.created"] as const;
const eventType = agree<WebhookEventType>()(z.enum(eventTypes));
const events = z.array(eventType).min(1).max(eventTypes.length);
const url = z.string().min(1).max(2_000);
const label = z.string().max(200);
const state = agree<DeliveryState>()(z.enum(["pending", "delivered", "dead"]));

const webhookInfo = agree<WebhookInfo>()(
  z
    .object({
      id,
      url: z.string(),
      label: z.string(),
      events: z.array(openWords<WebhookEventType>(eventTypes)),
      enabled: z.boolean(),
      createdAt: instant,
      disabledReason: openWords<"user" | "gone">(["user", "gone"]).optional(),
      disabledAt: instant.optional(),
      failures: count,
      pending: count,
      dead: count,
    })
    .openapi("WebhookInfo"),
);

export const webhookParams = agree<WebhookParams>()(z.object({ id }));
export const webhooksResponse = agree<WebhooksResponse>()(z.object({ webhooks: z.array(webhookInfo) }));

export const createWebhookRequest = agree<CreateWebhookRequest>()(
  z
    .object({ id: id.optional(), url, events: events.optional(), label: label.optional() })
    .openapi("CreateWebhookRequest"),
);
export const createWebhookResponse = agree<CreateWebhookResponse>()(
  z.object({ webhook: webhookInfo, secret: z.string().optional() }),
);

export const changeWebhookRequest = agree<ChangeWebhookRequest>()(
  z
    .object({
      url: url.optional(),
      events: events.optional(),
      label: label.optional(),
      enabled: z.boolean().optional(),
    })
    .openapi("ChangeWebhookRequest"),
);
export const webhookResponse = agree<WebhookResponse>()(z.object({ webhook: webhookInfo }));
export const deleteWebhookResponse = agree<DeleteWebhookResponse>()(z.object({ id, removed: z.boolean() }));

export const testWebhookResponse = agree<TestWebhookResponse>()(
  z.object({
    delivered: z.boolean(),
    status: z.number().optional(),
    error: z.string().optional(),
    durationMs: z.number(),
  }),
);

export const deliveriesQuery = agree<DeliveriesQuery>()(
  z.object({
    state: state.optional(),
    limit: limitInQuery.optional(),
    before: z
      .string()
      .regex(/^\d{1,15}\.\d{1,9}$/, "expected `nextBefore` of the page before")
      .optional(),
  }),
);
export const deliveriesResponse = agree<DeliveriesResponse>()(
  z.object({
    deliveries: z.array(
      z
        .object({
          id,
          type: openWords<WebhookEventType>(eventTypes),
          conversationId: id,
          state,
          createdAt: instant,
          attempts: count,
          attemptedAt: instant.optional(),
          nextAttemptAt: instant.optional(),
          status: z.number().optional(),
          error: z.string().optional(),
        })
        .openapi("DeliveryInfo"),
    ),
    nextBefore: z.string().optional(),
  }),
);

/** The range of times that a database can compare with. */
const since = z.number().min(0).max(8.64e15);

export const replayRequest = agree<ReplayRequest>()(
  z
    .object({
      since: since.optional(),
      from: z.string().min(1).max(128).optional(),
      state: z.enum(["dead", "delivered"]).optional(),
    })
    .openapi("ReplayRequest"),
);
export const replayResponse = agree<ReplayResponse>()(z.object({ replayed: count }));
