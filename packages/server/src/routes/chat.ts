import { z } from "@hono/zod-openapi";
import type { ErrorCode, ParleyError } from "@parley/core";
import { omitUndefined } from "@parley/core/messages";
import type { OwnerRuntime } from "@parley/core/runtime";
import type { MessageReceipt, SseMessage } from "@parley/wire";
import type { Context } from "hono";
import type { AppEnv } from "../app-env.js";
import { breakOffError, whenGone } from "../http/connections.js";
import { endpoint } from "../http/endpoint.js";
import { RequestRefusal } from "../http/request-refusal.js";
import { agentEvent } from "../schemas/agent-event.js";
import { conversationParams, eventsQuery } from "../schemas/conversation.js";
import { messageReceipt, sendMessageRequest } from "../schemas/send-message.js";
import { sseMessage } from "../schemas/socket.js";
import { sseBytes } from "../stream/frame-bytes.js";
import { writeTurn } from "../stream/ndjson.js";
import { queueFrames } from "../stream/queue-frames.js";
import { openResponseStream } from "../stream/response-stream.js";

const retryMs = 2_000;
const opening = Buffer.from(`retry: ${retryMs}\n\n`);
const heartbeat = Buffer.from(": here\n\n");

/**
 * Returns the comment with the reason why an event stream ends, if it matters to the reader: a comment is not an
 * event.
 */
function farewell(code: ErrorCode): Buffer {
  return Buffer.from(`: ${code}\n\n`);
}

function isHead(c: Context<AppEnv>): boolean {
  return c.req.raw.method === "HEAD";
}

/**
 * Returns the refusal of a message that waits: its turn has not started, and while the queue is paused it does not
 * start by itself.
 */
async function waitsInQueue(me: OwnerRuntime, conversationId: string): Promise<RequestRefusal> {
  const { paused = false } = await me.queue.list(conversationId);
  return new RequestRefusal(
    "turn_active",
    paused ? "The queue is paused: resume it, or remove the message" : "It is sent when its turn comes",
    { title: "This message waits in the queue of its conversation", retryable: !paused },
  );
}

export const chatEndpoints = [
  endpoint("POST /chat", {
    operationId: "chat",
    refusals: [404, 409],
    summary: "Send a message and follow its turn, or queue it. The same `messageId` again re-attaches",
    access: "write",
    body: sendMessageRequest,
    response: agentEvent,
    answerHeaders: z.object({
      "X-Conversation-Id": z.string().openapi({ description: "Where the message went" }),
      "X-Message-Id": z.string().openapi({ description: "The message, to be sent again under this id" }),
    }),
    format: "ndjson",
    otherAnswers: {
      202: { description: "The message was queued by its `ifBusy`", response: messageReceipt },
    },
    async handle({ me, caller, body, c, app }) {
      // Before the message is admitted: a refused request must not have started anything.
      app.connections.checkCapacity(caller);
      let why: ParleyError | undefined;
      let breakOff: ((why: ParleyError) => void) | undefined;
      const forget = app.connections.add({
        caller,
        close(reason) {
          // A node that shuts down lets its turns end, and streams them as long as it can.
          if (reason === "draining") return;
          why = breakOffError(reason);
          breakOff?.(why);
        },
      });
      try {
        const { conversationId, messageId, outcome, turnId } = await me.send(body);
        c.set("conversationId", conversationId);
        const names = { "x-conversation-id": conversationId, "x-message-id": messageId };
        const isReattaching = body.ifBusy === undefined || body.ifBusy === "reject";
        if (outcome === "queued" && !isReattaching) {
          forget();
          const receipt: MessageReceipt = {
            conversationId,
            messageId,
            outcome,
            ...omitUndefined({ turnId }),
          };
          return c.json(receipt, 202, { "cache-control": "no-store", ...names });
        }
        if (turnId === undefined) throw await waitsInQueue(me, conversationId);
        if (why !== undefined) throw why;
        const stream = openResponseStream(c, {
          headers: {
            "content-type": "application/x-ndjson; charset=utf-8",
            ...names,
          },
          bufferedBytes: app.limits.bufferedBytes,
        });
        c.set("streaming", stream.over);
        breakOff = writeTurn(stream, me.events(conversationId, turnId), { conversationId, turnId });
        void stream.over.then(() => whenGone(c.env?.outgoing, forget));
        return stream.response;
      } catch (thrown) {
        forget();
        throw thrown;
      }
    },
  }),
  endpoint("GET /conversations/:id/events", {
    operationId: "followConversation",
    summary: "Follow a conversation by server-sent events, from `Last-Event-ID` or `cursor` on",
    access: "read",
    isWork: true,
    params: conversationParams,
    query: eventsQuery,
    headers: z.object({
      "Last-Event-ID": z
        .string()
        .optional()
        .openapi({ description: "The id of the last event that was seen; counts before `cursor`" }),
    }),
    response: sseMessage,
    format: "sse",
    async handle({ me, caller, params, query, c, app }) {
      const lastEventId = c.req.header("last-event-id");
      const cursor = lastEventId === undefined || lastEventId === "" ? query.cursor : lastEventId;
      // The conversation and the position in it have to be checked before the answer begins.
      await me.checkCursor(params.id, cursor);
      const headers = { "content-type": "text/event-stream; charset=utf-8" };
      if (isHead(c)) {
        app.checkDraining();
        return c.body(null, 200, headers);
      }
      const write = (frame: SseMessage) => stream.write(sseBytes(frame));
      // Without a cursor there is no snapshot, and so no queue that could change.
      const queue = cursor === undefined ? undefined : await queueFrames(me, params.id, write);
      try {
        // The node may have started to shut down meanwhile, and has ended the streams that were open by then.
        app.checkDraining();
        app.connections.checkCapacity(caller);
      } catch (thrown) {
        queue?.stop();
        throw thrown;
      }
      const stream = openResponseStream(c, { headers, bufferedBytes: app.limits.bufferedBytes });
      const leave = me.attach(params.id, cursor, {
        onFrame: queue?.onFrame ?? write,
        onEnd: (error) => stream.end(error === undefined ? undefined : farewell(error.code)),
      });
      stream.write(opening);
      const stopHeartbeat = app.heartbeat.add(() => stream.write(heartbeat));
      const forget = app.connections.add({ caller, close: () => stream.end() });
      app.telemetry?.streamOpened();
      c.set("streaming", stream.over);
      void stream.over.then(() => {
        leave();
        queue?.stop();
        stopHeartbeat();
        whenGone(c.env?.outgoing, forget);
        app.telemetry?.streamClosed();
      });
      return stream.response;
    },
  }),
];
