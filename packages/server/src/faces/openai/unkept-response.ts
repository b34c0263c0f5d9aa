import { fromChunks, HiddenParts, hiddenEntryOfMessage } from "@parley/core/messages";
import type { ExternalMessage, OwnerRuntime } from "@parley/core/runtime";
import type { AgentEvent } from "@parley/wire";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../../app-env.js";
import type { Caller } from "../../auth/caller.js";
import { openFaceStream, whenCallerLeaves } from "../face-stream.js";
import { refusal } from "./failure.js";
import { collectResponse, ResponseWriter } from "./follow-response.js";
import { parseInput } from "./input-items.js";
import { choicesOf, findPrevious, type ResponseRequest } from "./open-response.js";
import { TurnProjection } from "./project-turn.js";
import { echoOf, type ResponseHead } from "./response-object.js";

interface Answered {
  readonly c: Context<AppEnv>;
  readonly app: AppContext;
  readonly caller: Caller;
  readonly me: OwnerRuntime;
}

/** Answers a request that is not stored: its response cannot be read again. */
export async function unkeptResponse(request: ResponseRequest, answered: Answered): Promise<Response> {
  const { body, me, models } = request;
  const { c, app, caller } = answered;
  if (body.conversation !== undefined && body.conversation !== null) {
    throw refusal(400, "'store' has to be true in a conversation.", { param: "store" });
  }
  if (body.background === true)
    throw refusal(400, "'store' has to be true in the background.", { param: "store" });
  const input = parseInput(body.input);
  const messages = [...(await messagesBehind(me, body.previous_response_id)), ...input.messages];
  if (messages.length === 0) {
    throw refusal(400, "Missing required parameter: 'input'.", {
      code: "missing_required_parameter",
      param: "input",
    });
  }
  const choices = choicesOf(request, input);
  const turnId = crypto.randomUUID();
  const head: ResponseHead = {
    place: { turnId, stretch: 0 },
    conversationId: "",
    createdAt: app.clock.now(),
    model: choices.model ?? models.defaultModel ?? "",
    echo: echoOf(body),
  };
  const leave = new AbortController();
  const events = me.runUnkept({ ...choices, messages, turnId, signal: leave.signal });
  const holdsText = choices.output !== undefined && choices.output.retries !== 0;
  const callerTools = choices.tools?.map(({ name }) => name);
  const place = openFaceStream(c, app, caller);
  if (body.stream !== true) {
    whenCallerLeaves(c, () => leave.abort());
    try {
      const projection = new TurnProjection({ stretch: 0, holdsText, callerTools });
      return c.json(await collectResponse(head, projection, ended(events, projection)));
    } finally {
      place.abandon();
    }
  }
  const iterator = events[Symbol.asyncIterator]();
  let first: IteratorResult<AgentEvent>;
  try {
    // Refusals come before the answer begins.
    first = await iterator.next();
  } catch (error) {
    place.abandon();
    throw error;
  }
  const stream = place.begin({});
  const writer = new ResponseWriter(stream, head, { holdsText, callerTools });
  writer.begin();
  void stream.over.then(() => leave.abort());
  const writeTurn = async () => {
    for (let next = first; !next.done; next = await iterator.next()) {
      writer.take(next.value);
      await stream.drained();
    }
    writer.finish();
  };
  writeTurn().catch(() => stream.cut());
  return stream.response;
}

async function* ended(
  events: AsyncIterable<AgentEvent>,
  projection: TurnProjection,
): AsyncGenerator<AgentEvent> {
  yield* events;
  projection.finish();
}

/** Returns the conversation up to the end of an earlier response. */
async function messagesBehind(
  me: OwnerRuntime,
  previousId: string | null | undefined,
): Promise<ExternalMessage[]> {
  if (previousId === null || previousId === undefined) return [];
  const { conversationId, turn } = await findPrevious(me, previousId);
  const { chunks } = await me.history({ conversationId, beforeSeq: turn.lastSeq + 1, open: true });
  const messages = fromChunks(chunks, { conversationId });
  const hidden = new HiddenParts();
  const shown = messages.filter((message) => {
    const entry = hiddenEntryOfMessage(message);
    if (entry !== undefined) hidden.add(entry);
    return entry === undefined;
  });
  return shown.flatMap((message) => {
    const left = hidden.without(message);
    return left === undefined ? [] : [{ role: left.role, content: left.content }];
  });
}
