import { z } from "@hono/zod-openapi";
import type {
  SseMessage,
  WsChatQueue,
  WsChatRespond,
  WsChatSend,
  WsChatStop,
  WsChatSubscribe,
  WsChatUnsubscribe,
  WsClientMessage,
  WsPing,
  WsSurfaceSubscribe,
  WsSurfaceUnsubscribe,
} from "@parley/wire";
import { agentEvent } from "./agent-event.js";
import { agree } from "./agree.js";
import { storedChunk } from "./chunk.js";
import { activeTurn, conversationMeta } from "./conversation.js";
import { respondShape } from "./input.js";
import { enqueueShape, queuePayload } from "./queue.js";
import { cursor, id } from "./scalars.js";
import { sendMessageShape } from "./send-message.js";

const surface = { surfaceId: z.string().min(1).max(128), conversationId: id.optional() };

/** A cursor of a client. A text that is not a cursor is refused when it is parsed. */
const givenCursor = z.string().max(500).optional();

/** Messages that a client may send on the socket, by type. */
export const clientMessages = {
  "chat.send": agree<WsChatSend>()(
    z.object({ type: z.literal("chat.send"), ...sendMessageShape, cursor: givenCursor }),
  ),
  "chat.subscribe": agree<WsChatSubscribe>()(
    z.object({
      type: z.literal("chat.subscribe"),
      conversationId: id,
      cursor: givenCursor,
    }),
  ),
  "chat.unsubscribe": agree<WsChatUnsubscribe>()(
    z.object({ type: z.literal("chat.unsubscribe"), conversationId: id }),
  ),
  "chat.queue": agree<WsChatQueue>()(
    z.object({ type: z.literal("chat.queue"), conversationId: id, ...enqueueShape }),
  ),
  "chat.stop": agree<WsChatStop>()(z.object({ type: z.literal("chat.stop"), conversationId: id })),
  "chat.respond": agree<WsChatRespond>()(
    z.object({
      type: z.literal("chat.respond"),
      conversationId: id,
      requestId: z.string().min(1).max(300),
      ...respondShape,
    }),
  ),
  subscribe: agree<WsSurfaceSubscribe>()(z.object({ type: z.literal("subscribe"), ...surface })),
  unsubscribe: agree<WsSurfaceUnsubscribe>()(z.object({ type: z.literal("unsubscribe"), ...surface })),
  ping: agree<WsPing>()(z.object({ type: z.literal("ping") })),
} satisfies { readonly [Type in WsClientMessage["type"]]: z.ZodType<WsClientMessage & { type: Type }> };

const ofConversation = { conversationId: id };

/** Messages to a subscriber, as the `data` of server-sent events and as messages of the socket. */
export const sseMessage = agree<SseMessage>()(
  z
    .discriminatedUnion("type", [
      z.object({
        type: z.literal("chat.snapshot"),
        ...ofConversation,
        meta: conversationMeta,
        queue: queuePayload,
        cursor,
        activeTurn: activeTurn.optional(),
        contextSize: z.number().optional(),
        contextWindow: z.number().optional(),
      }),
      z.object({ type: z.literal("chat.chunks"), ...ofConversation, chunks: z.array(storedChunk), cursor }),
      z.object({
        type: z.literal("chat.reset"),
        ...ofConversation,
        turnId: id.optional(),
        cursor: cursor.optional(),
      }),
      z.object({ type: z.literal("chat.delta"), event: agentEvent, cursor }),
      z.object({ type: z.literal("queue.changed"), ...ofConversation, queue: queuePayload }),
    ])
    .openapi("SseMessage"),
);
