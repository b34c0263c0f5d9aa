import { singleResponse } from "@parley/core/runtime";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../../app-env.js";
import { faceEndpoint } from "../../http/endpoint.js";
import { type FaceStream, openFaceStream } from "../face-stream.js";
import { refusal } from "./failure.js";
import {
  collectResponse,
  type FoundTurn,
  headOf,
  holdsText,
  ResponseWriter,
  storedResponse,
  stretchEvents,
  writeResponse,
} from "./follow-response.js";
import { parseResponseId } from "./ids.js";
import { listOf, rowsToItems } from "./list-items.js";
import { openResponse, type ResponseRequest } from "./open-response.js";
import { TurnProjection } from "./project-turn.js";
import { isResponseHidden } from "./response-hidden.js";
import { responseObject } from "./response-object.js";
import {
  createResponseBody,
  deletedAnswer,
  idParams,
  listAnswer,
  listQuery,
  responseAnswer,
  streamFlags,
} from "./schemas.js";
import { unkeptResponse } from "./unkept-response.js";

type Me = ResponseRequest["me"];

/** Finds the turn of a response, and its stretch of the turn. */
async function findResponse(me: Me, id: string): Promise<{ found: FoundTurn; stretch: number }> {
  const place = parseResponseId(id);
  const found = place === undefined ? undefined : await me.findTurn(place.turnId);
  if (place !== undefined && found !== undefined && !(await isResponseHidden(me, found))) {
    const isThere = storedResponse(found, place.stretch).projection.hasBegun;
    if (isThere || found.turn.status === "running") return { found, stretch: place.stretch };
  }
  throw refusal(404, `Response with id '${id}' not found.`, {
    code: "response_not_found",
    param: "response_id",
  });
}

async function turnOf(me: Me, turnId: string): Promise<FoundTurn> {
  const found = await me.findTurn(turnId);
  if (found !== undefined) return found;
  throw refusal(404, "The turn of this response is gone");
}

interface Followed {
  readonly c: Context<AppEnv>;
  readonly app: AppContext;
  readonly caller: ResponseRequest["caller"];
  readonly me: Me;
}

/** A response to be shown, and the number after which to begin. */
interface ShownResponse {
  readonly found: FoundTurn;
  readonly stretch: number;
  readonly startingAfter?: number | undefined;
}

/** Streams a response from its first event, or after a number. */
function streamResponse({ app, me }: Followed, connection: FaceStream, shown: ShownResponse): Response {
  const { found, stretch, startingAfter } = shown;
  try {
    const stream = connection.begin({});
    const head = headOf(found, stretch);
    const writer = new ResponseWriter(stream, head, { startingAfter, holdsText: holdsText(found.turn) });
    writer.begin();
    const leave = writeResponse(me, head, { writer, stream, after: (ms, run) => app.clock.after(ms, run) });
    void stream.over.then(leave);
    return stream.response;
  } catch (error) {
    connection.abandon();
    throw error;
  }
}

/** Waits for a response. */
function waitForResponse({ app, me }: Followed, { found, stretch }: ShownResponse): Promise<object> {
  const head = headOf(found, stretch);
  const projection = new TurnProjection({ stretch, holdsText: holdsText(found.turn) });
  const events = stretchEvents(
    me,
    head,
    () => projection,
    (ms, run) => app.clock.after(ms, run),
  );
  return collectResponse(head, projection, events);
}

/** Opens a response and answers with it: at once, as it comes, or when it is complete. */
async function makeResponse(request: ResponseRequest, followed: Followed): Promise<Response> {
  const { body, me } = request;
  const { c, app, caller } = followed;
  const answersAtOnce = body.background === true && body.stream !== true;
  // A caller that may not wait for an answer must not open a turn for it.
  const connection = answersAtOnce ? undefined : openFaceStream(c, app, caller);
  let isStreaming = false;
  try {
    const { conversationId, place } = await openResponse(request);
    c.set("conversationId", conversationId);
    const shown = { found: await turnOf(me, place.turnId), stretch: place.stretch };
    if (connection === undefined) {
      const empty = { output: [], usage: undefined };
      return c.json(responseObject(headOf(shown.found, shown.stretch), empty));
    }
    if (body.stream !== true) return c.json(await waitForResponse(followed, shown));
    isStreaming = true;
    return streamResponse(followed, connection, shown);
  } finally {
    if (!isStreaming) connection?.abandon();
  }
}

export const responseEndpoints = [
  faceEndpoint("POST /responses", {
    operationId: "openaiCreateResponse",
    refusals: [404, 409],
    holdsFiles: true,
    summary: "Make a response: in a conversation, behind an earlier response, or on its own",
    access: "write",
    body: createResponseBody,
    response: responseAnswer,
    async handle({ body, caller, me, c, app }) {
      const models = app.runtime.models();
      const isRetry = Number(c.req.header("x-stainless-retry-count") ?? "0") > 0;
      const idempotencyKey = c.req.header("idempotency-key");
      const request = { body, caller, me, models, isRetry, idempotencyKey };
      const followed = { c, app, caller, me };
      return body.store === false ? unkeptResponse(request, followed) : makeResponse(request, followed);
    },
  }),
  faceEndpoint("GET /responses/:id", {
    operationId: "openaiGetResponse",
    summary: "Read a response, or with `stream` its events, from behind a number",
    access: "read",
    params: idParams,
    query: streamFlags,
    response: responseAnswer,
    async handle({ params, query, caller, me, c, app }) {
      const { found, stretch } = await findResponse(me, params.id);
      if (query.stream !== "true") return c.json(storedResponse(found, stretch).object);
      const startingAfter = query.starting_after === undefined ? undefined : Number(query.starting_after);
      const connection = openFaceStream(c, app, caller);
      return streamResponse({ c, app, caller, me }, connection, { found, stretch, startingAfter });
    },
  }),
  faceEndpoint("POST /responses/:id/cancel", {
    operationId: "openaiCancelResponse",
    refusals: [409],
    summary: "Stop a response that was made in the background",
    access: "write",
    isWork: false,
    params: idParams,
    response: responseAnswer,
    async handle({ params, me, c }) {
      const { found, stretch } = await findResponse(me, params.id);
      const { echo } = headOf(found, stretch);
      if (echo?.background !== true) {
        throw refusal(400, "Only responses with background=true can be cancelled.", { param: "response_id" });
      }
      const { conversationId, turn } = found;
      if (turn.status === "sealed") return c.json(storedResponse(found, stretch).object);
      const { activeTurn } = await me.meta(conversationId);
      if (activeTurn?.turnId === turn.turnId) await me.stop(conversationId);
      await waitForSeal(me, found);
      const sealed = await turnOf(me, turn.turnId);
      return c.json(storedResponse(sealed, stretch).object);
    },
  }),
  faceEndpoint("DELETE /responses/:id", {
    operationId: "openaiDeleteResponse",
    refusals: [409],
    summary: "Delete a response",
    access: "write",
    params: idParams,
    response: deletedAnswer,
    async handle({ params, me }) {
      const { found } = await findResponse(me, params.id);
      const { conversationId, turn } = found;
      const settings = await me.settings(conversationId);
      const { origin } = (settings.metadata?.parley ?? {}) as { origin?: unknown };
      // A conversation that holds only this response is deleted; otherwise the response is hidden, since a log is
      // never rewritten.
      if (origin === singleResponse.origin) await me.remove(conversationId);
      else await me.hide(conversationId, { messageId: `response.${turn.turnId}` });
      return { id: params.id, object: "response", deleted: true as const };
    },
  }),
  faceEndpoint("GET /responses/:id/input_items", {
    operationId: "openaiListInputItems",
    summary: "The items that a response was made from",
    access: "read",
    params: idParams,
    query: listQuery,
    response: listAnswer,
    async handle({ params, query, me }) {
      const { found } = await findResponse(me, params.id);
      const answered = found.entries.findIndex(({ message }) => message.role !== "user");
      const opening = found.entries.slice(0, answered === -1 ? found.entries.length : answered);
      const items = rowsToItems(
        opening.map(({ message }) => message),
        new Map(opening.map(({ message, firstSeq = 0 }) => [message.id, firstSeq])),
      ).filter(({ type }) => type === "message");
      return listOf(items, query);
    },
  }),
];

/** Waits until a turn is over. */
async function waitForSeal(me: Me, { conversationId, turn }: FoundTurn): Promise<void> {
  for await (const { event } of me.events(conversationId, turn.turnId))
    if (event.type === "turn-sealed") return;
}
