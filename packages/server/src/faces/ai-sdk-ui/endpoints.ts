import { z } from "@hono/zod-openapi";
import type { OwnerRuntime } from "@parley/core/runtime";
import type { AppContext } from "../../app-env.js";
import type { Caller } from "../../auth/caller.js";
import { faceEndpoint } from "../../http/endpoint.js";
import { stopResponse } from "../../schemas/conversation.js";
import { id, jsonObject } from "../../schemas/scalars.js";
import type { ResponseStream } from "../../stream/response-stream.js";
import { openFaceStream } from "../face-stream.js";
import { type ChunkFilter, withoutSteps } from "./chunk-filters.js";
import { newestTurn, openAnswer } from "./open-answer.js";
import { PartialViews, replayAfterSealMs } from "./partial-views.js";
import { isUnknown, readMessages } from "./read-messages.js";
import { chatRequest } from "./request.js";
import { afterPosition, parsePosition } from "./stream-position.js";
import { queueFrame, reportQueue, streamTurn, whenDelivered } from "./stream-turn.js";
import { frameOf } from "./ui-chunk.js";
import type { UiMessage } from "./ui-message.js";

const streamHeaders = { "x-vercel-ai-ui-message-stream": "v1" };

const chatParams = z.object({ id });

const uiChunk = z
  .looseObject({ type: z.string() })
  .openapi("UiMessageChunk", { description: "A chunk of a UI message stream; the last frame is `[DONE]`" });

const uiMessages = z.array(
  z
    .object({
      id: z.string(),
      role: z.enum(["user", "assistant"]),
      parts: z.array(z.looseObject({ type: z.string() })),
      metadata: jsonObject.optional(),
    })
    .openapi("StoredUiMessage"),
) as unknown as z.ZodType<readonly UiMessage[]>;

const views = new WeakMap<AppContext, PartialViews>();

function partialViews(app: AppContext): PartialViews {
  let found = views.get(app);
  if (found === undefined) {
    found = new PartialViews();
    views.set(app, found);
  }
  return found;
}

const divergedFrame = frameOf({
  type: "error",
  errorText: "A part of the answer was lost with its server: load the messages again",
});

/** Remembers the turn of a stream that its reader left before the end. */
function rememberCut(
  { app, caller }: { readonly app: AppContext; readonly caller: Caller },
  chat: { readonly id: string; readonly turnId: string },
  stream: ResponseStream,
): void {
  void stream.over.then((end) => {
    if (end !== "ended") partialViews(app).add(caller.owner, chat.id, chat.turnId);
  });
}

/** Follows the turn of a message that waits in the queue, once it has started. */
async function streamWhenDelivered(
  me: OwnerRuntime,
  waiting: { readonly conversationId: string; readonly messageId: string },
  stream: ResponseStream,
): Promise<void> {
  const { conversationId, messageId } = waiting;
  const turnId = await whenDelivered(me, conversationId, messageId, stream.over);
  if (turnId !== undefined) streamTurn(me, { conversationId, turnId }, stream, []);
  else stream.end(frameOf({ type: "error", errorText: "The message was taken out of the queue" }));
}

interface StreamQuery {
  readonly have?: string | undefined;
}

/** Finds the turn to show to a page that opens a chat. */
async function turnToReplay(
  { me, caller, app }: { readonly me: OwnerRuntime; readonly caller: Caller; readonly app: AppContext },
  chat: { readonly id: string; readonly branch: string },
  { have }: StreamQuery,
): Promise<string | undefined> {
  const newest = await newestTurn(me, chat.branch).catch((error: unknown) => {
    if (isUnknown(error)) return undefined;
    throw error;
  });
  if (newest === undefined) return undefined;
  const { status, sealedAt = 0 } = await me.turn(chat.branch, newest);
  if (status === "running") return newest;
  if (have !== undefined) return have === newest ? undefined : newest;
  // History shows all of a turn that waits.
  if (status === "waiting") return undefined;
  const isRecent = app.clock.now() - sealedAt < replayAfterSealMs;
  return isRecent && partialViews(app).has(caller.owner, chat.id, newest) ? newest : undefined;
}

export const aiSdkUiEndpoints = [
  faceEndpoint("POST /", {
    operationId: "uiSendMessage",
    refusals: [404, 409],
    holdsFiles: true,
    summary: "Send, edit, regenerate or continue, by the last message; the answer is a UI message stream",
    access: "write",
    body: chatRequest,
    response: uiChunk,
    format: "sse",
    async handle({ me, caller, body, c, app }) {
      const connection = openFaceStream(c, app, caller);
      try {
        const answer = await openAnswer({ me, caller, body });
        const { conversationId, turnId, messageId = "", steps } = answer;
        c.set("conversationId", conversationId);
        const stream = connection.begin({
          ...streamHeaders,
          "x-conversation-id": conversationId,
          ...(turnId === undefined ? {} : { "x-resumable-stream-id": turnId }),
        });
        await reportQueue(me, conversationId, stream);
        if (turnId === undefined) {
          stream.write(queueFrame(await me.queue.list(conversationId)));
          streamWhenDelivered(me, { conversationId, messageId }, stream).catch(() => stream.cut());
        } else {
          rememberCut({ app, caller }, { id: body.id, turnId }, stream);
          const filters = steps === undefined ? [] : [withoutSteps(steps)];
          streamTurn(me, { conversationId, turnId }, stream, filters);
        }
        return stream.response;
      } catch (thrown) {
        connection.abandon();
        throw thrown;
      }
    },
  }),
  faceEndpoint("GET /:id/stream", {
    operationId: "uiResumeStream",
    summary: "Resume: the running answer from its start, or from `after`; 204 when there is none",
    access: "read",
    isWork: true,
    params: chatParams,
    query: z.object({
      have: z.string().optional().openapi({ description: "The id of the last message that the page has" }),
      after: z
        .string()
        .max(2_000)
        .optional()
        .openapi({ description: "`<turn>~<position>`: goes on in this turn behind this position" }),
      steps: z
        .string()
        .regex(/^\d{1,6}$/)
        .optional()
        .openapi({ description: "With `after`: the steps that the request was answered without" }),
    }),
    response: uiChunk,
    format: "sse",
    async handle({ me, caller, params, query, c, app }) {
      const branch = await me.branchOf(params.id);
      const { after, steps } = query;
      const [turnFrom, position = ""] = after?.split("~") ?? [];
      const place = after === undefined ? undefined : parsePosition(position);
      const chat = { id: params.id, branch };
      const turnId = turnFrom ?? (await turnToReplay({ me, caller, app }, chat, query));
      if (turnId === undefined) return c.body(null, 204);
      // A missing turn has to be detected before the answer begins.
      await me.turn(branch, turnId);
      if (c.req.raw.method === "HEAD") return c.body(null, 200, streamHeaders);
      c.set("conversationId", branch);
      const connection = openFaceStream(c, app, caller);
      const stream = connection.begin({ ...streamHeaders, "x-resumable-stream-id": turnId });
      await reportQueue(me, branch, stream);
      rememberCut({ app, caller }, { id: params.id, turnId }, stream);
      const filters: ChunkFilter[] = steps === undefined ? [] : [withoutSteps(Number(steps))];
      const onDiverged = () => {
        partialViews(app).add(caller.owner, params.id, turnId);
        stream.end(divergedFrame);
      };
      if (place !== undefined) filters.push(afterPosition(place, onDiverged));
      streamTurn(me, { conversationId: branch, turnId }, stream, filters);
      return stream.response;
    },
  }),
  faceEndpoint("POST /:id/stop", {
    operationId: "uiStopTurn",
    summary: "Stop the running answer. What there is of it is kept. Idempotent",
    access: "write",
    isWork: false,
    params: chatParams,
    response: stopResponse,
    async handle({ me, params }) {
      const conversationId = await me.branchOf(params.id);
      const stopped = await me.stop(conversationId).catch((error: unknown) => {
        if (isUnknown(error)) return { abortedTurn: false };
        throw error;
      });
      return { conversationId, ...stopped };
    },
  }),
  faceEndpoint("GET /:id/messages", {
    operationId: "uiListMessages",
    summary: "The messages of a chat, for `useChat({ messages })`; none for one that does not exist",
    access: "read",
    params: chatParams,
    response: uiMessages,
    async handle({ me, caller, params, app }) {
      const branch = await me.branchOf(params.id);
      const { messages, openTurn } = await readMessages(me, branch, app.limits.pageSize);
      if (openTurn !== undefined) partialViews(app).add(caller.owner, params.id, openTurn);
      return messages;
    },
  }),
];
