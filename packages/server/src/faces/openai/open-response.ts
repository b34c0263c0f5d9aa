import { createHash, randomUUID } from "node:crypto";
import { isParleyError } from "@parley/core";
import {
  type ExternalMessage,
  type OwnerRuntime,
  type SendInput,
  singleResponse,
} from "@parley/core/runtime";
import type { ModelsResponse, PendingRequest } from "@parley/wire";
import type { Caller } from "../../auth/caller.js";
import { respondAs } from "../../routes/input.js";
import { pendingRequests } from "../pending-requests.js";
import { refusal } from "./failure.js";
import type { FoundTurn } from "./follow-response.js";
import { parseConversationId, parseResponseId, type ResponsePlace } from "./ids.js";
import { type ParsedInput, parseInput } from "./input-items.js";
import { callerToolsOf, chosenTools, effortOf, modelOf, outputOf } from "./request.js";
import { isResponseHidden } from "./response-hidden.js";
import { echoOf } from "./response-object.js";
import type { CreateResponseBody } from "./schemas.js";

/** A request to be answered, and its sender. */
export interface ResponseRequest {
  readonly body: CreateResponseBody;
  readonly caller: Caller;
  readonly me: OwnerRuntime;
  readonly models: ModelsResponse;
  /** The caller's own key for a request that may be repeated. */
  readonly idempotencyKey: string | undefined;
  /** True if the SDK repeats a request whose answer it did not get; it counts its attempts. */
  readonly isRetry: boolean;
}

/** Time during which a request is recognized as the repetition of an earlier one. */
const retryWindowMs = 10 * 60_000;

/** Marks conversations that hold one response each, for callers that keep the history themselves. */
const responsesOrigin = { parley: { origin: singleResponse.origin } };

/** Returns the part of a request that every way of running it needs. */
export function choicesOf(
  { body, models }: Pick<ResponseRequest, "body" | "models">,
  input: ParsedInput,
): Pick<
  SendInput,
  "model" | "reasoningEffort" | "instructions" | "tools" | "toolNames" | "maxOutputTokens" | "output"
> {
  const instructions = [body.instructions ?? "", ...input.instructions]
    .filter((text) => text !== "")
    .join("\n\n");
  // A stream shows each word at once, so an answer that does not match cannot be withdrawn.
  const retries = body.stream === true ? 0 : undefined;
  return {
    model: modelOf(body.model, models),
    reasoningEffort: effortOf(body.reasoning?.effort),
    instructions: instructions === "" ? undefined : instructions,
    ...chosenTools(body.tool_choice, callerToolsOf(body.tools)),
    maxOutputTokens: body.max_output_tokens ?? undefined,
    output: outputOf(body.text?.format, retries),
  };
}

/** Opens the turn of a response, or continues one that waits. A repeated request leads back to the first one's turn. */
export async function openResponse(
  request: ResponseRequest,
): Promise<{ readonly conversationId: string; readonly place: ResponsePlace }> {
  const { body } = request;
  const input = parseInput(body.input);
  const { conversation, previous_response_id: previousId } = body;
  if (conversation !== undefined && conversation !== null) {
    if (previousId !== undefined && previousId !== null) {
      throw refusal(400, "'previous_response_id' and 'conversation' cannot be used together.", {
        param: "previous_response_id",
      });
    }
    const id = parseConversationId(typeof conversation === "string" ? conversation : conversation.id);
    return openInConversation(request, input, id);
  }
  if (previousId !== undefined && previousId !== null) return openBehind(request, input, previousId);
  const attempt = await attemptOf(request, undefined);
  return send(request, input, {
    conversationId: attempt,
    messageId: attempt,
    settings: { metadata: responsesOrigin },
  });
}

async function openInConversation(request: ResponseRequest, input: ParsedInput, conversationId: string) {
  const { me } = request;
  const { activeTurn, waiting } = await me.meta(conversationId);
  if (waiting !== undefined && activeTurn !== undefined) {
    const found = await me.findTurn(waiting.turnId);
    if (found?.turn.status === "waiting") return goOn(request, input, found);
  }
  const messageId = await attemptOf(request, conversationId);
  return send(request, input, { conversationId, messageId }, "conversation");
}

/** Finds the turn of an earlier response that a request names. A deleted one is unknown. */
export async function findPrevious(me: OwnerRuntime, previousId: string): Promise<FoundTurn> {
  const place = parseResponseId(previousId);
  const found = place === undefined ? undefined : await me.findTurn(place.turnId);
  if (found !== undefined && !(await isResponseHidden(me, found))) return found;
  throw refusal(400, `Previous response with id '${previousId}' not found.`, {
    code: "previous_response_not_found",
    param: "previous_response_id",
  });
}

async function openBehind(request: ResponseRequest, input: ParsedInput, previousId: string) {
  const { me } = request;
  const found = await findPrevious(me, previousId);
  const { turn, conversationId } = found;
  if (turn.status === "running") throw locked("previous_response_id");
  const isAnswered = answersOf(input).some((id) => requestsOf(found).some((each) => each.matches(id)));
  if (turn.status === "waiting" || isAnswered) return goOn(request, input, found);
  checkOutputs(input, []);
  const { chunks } = await me.history({ conversationId, sinceSeq: turn.lastSeq, open: true, limit: 1 });
  if (chunks.length === 0) {
    const messageId = await attemptOf(request, conversationId);
    return send(request, input, { conversationId, messageId }, "previous_response_id");
  }
  const attempt = await attemptOf(request, undefined);
  const { message, before } = messagesOf(input);
  const { turnId } = await me.fork({
    conversationId,
    atSeq: turn.lastSeq,
    id: attempt,
    message,
    before,
    messageId: attempt,
    ...choicesOf(request, input),
    metadata: { openai: echoOf(request.body) },
  });
  return { conversationId: attempt, place: { turnId: turnId ?? "", stretch: 0 } };
}

async function send(
  request: ResponseRequest,
  input: ParsedInput,
  target: Pick<SendInput, "messageId" | "settings"> & { readonly conversationId: string },
  param?: string,
) {
  checkOutputs(input, []);
  const { message, before } = messagesOf(input);
  const { conversationId } = target;
  try {
    const { turnId } = await request.me.send({
      ...target,
      message,
      ...(before.length === 0 ? {} : { before }),
      ...choicesOf(request, input),
      metadata: { openai: echoOf(request.body) },
    });
    return { conversationId, place: { turnId: turnId ?? "", stretch: 0 } };
  } catch (error) {
    if (isParleyError(error) && error.code === "turn_active" && param !== undefined) throw locked(param);
    throw error;
  }
}

/** Answers the requests that a turn waits for. The same answers again lead to the same response. */
async function goOn(request: ResponseRequest, input: ParsedInput, found: FoundTurn) {
  const { me, caller } = request;
  const { conversationId, turn } = found;
  const { turnId } = turn;
  const asked = requestsOf(found);
  checkOutputs(input, asked);
  const pending = await pendingRequests(me, { conversationId, turnId });
  const answers = pending.map((each) => ({ request: each, answer: answerTo(each, input) }));
  const { messages } = input;
  if (messages.length > 0) {
    const { message, before } = messagesOf(input);
    if (before.length > 0) throw refusal(400, "Behind tool outputs, at most one message", { param: "input" });
    await me.send({ conversationId, message, ifBusy: "steer" });
  }
  for (const { request: each, answer } of answers) {
    await respondAs(caller, me, { conversationId, requestId: each.requestId }, answer, "http");
  }
  const steps = new Set(asked.map(({ stepId }) => stepId));
  return { conversationId, place: { turnId, stretch: steps.size } };
}

function answerTo(request: PendingRequest, { outputs, approvals }: ParsedInput) {
  const { kind, toolCallId, requestId, argumentsHash } = request;
  if (kind === "tool-output") {
    const value = outputs.get(toolCallId);
    if (value !== undefined) return { decision: "output" as const, value };
    throw refusal(400, `No tool output found for function call ${toolCallId}.`, { param: "input" });
  }
  const given = approvals.get(requestId);
  if (given === undefined) {
    throw refusal(400, `No approval response found for approval request mcpr_${requestId}.`, {
      param: "input",
    });
  }
  const note = given.reason === undefined ? {} : { note: given.reason };
  return given.approve
    ? { decision: "allow" as const, argumentsHash, ...note }
    : { decision: "deny" as const, ...note };
}

interface Asked {
  readonly stepId: string;
  matches(id: string): boolean;
}

/** Finds the requests of a turn, answered or not. */
function requestsOf({ entries }: FoundTurn): Asked[] {
  return entries.flatMap(({ message, stepId = "" }) => {
    const [part] = message.content;
    const entry = part?.type === "metadata" ? (part.data as Partial<PendingRequest> & { type?: string }) : {};
    if (entry.type !== "input-request") return [];
    const { requestId, toolCallId } = entry;
    return [{ stepId, matches: (id: string) => id === requestId || id === toolCallId }];
  });
}

function answersOf({ outputs, approvals }: ParsedInput): string[] {
  return [...outputs.keys(), ...approvals.keys()];
}

/** Refuses outputs of calls that were not made. */
function checkOutputs(input: ParsedInput, asked: readonly Asked[]): void {
  for (const id of input.outputs.keys()) {
    if (asked.some((each) => each.matches(id))) continue;
    const message = `No tool call found for function call output with call_id ${id}.`;
    throw refusal(400, message, { param: "input" });
  }
}

/** Returns the message that opens a turn, and those before it. A list that ends with results is answered as it is. */
function messagesOf({ messages }: ParsedInput): {
  readonly message: SendInput["message"];
  readonly before: readonly ExternalMessage[];
} {
  const last = messages.at(-1);
  if (last === undefined) {
    throw refusal(400, "Missing required parameter: 'input'.", {
      code: "missing_required_parameter",
      param: "input",
    });
  }
  if (last.role === "user") return { message: last.content, before: messages.slice(0, -1) };
  return { message: "", before: messages };
}

function locked(param: string) {
  return refusal(400, "Another response is being made in this conversation: wait for it, or cancel it.", {
    code: "conversation_locked",
    param,
  });
}

/**
 * Returns the id under which a request is admitted. The SDK sends no key for a request that it repeats, so the id
 * names the request's content, and a repetition finds what was admitted moments ago: on every node, since it is in the
 * log.
 */
async function attemptOf(
  { body, idempotencyKey, isRetry, me, caller }: ResponseRequest,
  conversationId: string | undefined,
): Promise<string> {
  if (idempotencyKey !== undefined)
    return `${singleResponse.idPrefix}${hashOf([caller.owner, "key", idempotencyKey])}`;
  const prefix = `${singleResponse.idPrefix}${hashOf([caller.owner, body])}.`;
  const before = isRetry ? await admittedBefore(me, prefix, conversationId) : undefined;
  return before ?? `${prefix}${randomUUID().slice(0, 13)}`;
}

async function admittedBefore(me: OwnerRuntime, prefix: string, conversationId: string | undefined) {
  if (conversationId === undefined) {
    const { conversations } = await me.list({ q: prefix, limit: 1, withResponses: true });
    const [found] = conversations;
    const isRecent = found !== undefined && Date.now() - found.createdAt < retryWindowMs;
    return isRecent ? found.id : undefined;
  }
  const { chunks } = await me.history({ conversationId, open: true, limit: 500 });
  const newest = chunks.findLast(({ role }) => role === "user");
  const { messageId, createdAt = 0 } = newest ?? {};
  return messageId?.startsWith(prefix) && Date.now() - createdAt < retryWindowMs ? messageId : undefined;
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 32);
}
