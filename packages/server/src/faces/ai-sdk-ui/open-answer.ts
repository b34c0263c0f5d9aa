import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { isParleyError, ParleyError } from "@parley/core";
import { invalidField } from "@parley/core/errors";
import { isRequestOfCall, type MessageContentPart, omitUndefined } from "@parley/core/messages";
import type { InputAnswer, OwnerRuntime } from "@parley/core/runtime";
import type { Chunk, PendingRequest, TurnDetail } from "@parley/wire";
import type { Caller } from "../../auth/caller.js";
import { respondAs } from "../../routes/input.js";
import { pendingRequests } from "../pending-requests.js";
import { isUnknown } from "./read-messages.js";
import { type ChatRequest, contentOf, lastMessage, type SentMessage, toolsOf } from "./request.js";

/** Answer to a request: the stream of a turn. */
export interface OpenedAnswer {
  readonly conversationId: string;
  /** Absent while the message waits in the queue. */
  readonly turnId?: string | undefined;
  /** The user's message. */
  readonly messageId?: string;
  /** The steps of the answer that the client has. */
  readonly steps?: number;
}

interface ChatCall {
  readonly me: OwnerRuntime;
  readonly caller: Caller;
  readonly body: ChatRequest;
}

/**
 * Performs the request of a post of the SDK, by its last message: sends, edits, regenerates, continues after a
 * decision, or re-attaches to what is running. The client's other messages are not read: the log has them.
 */
export async function openAnswer(call: ChatCall): Promise<OpenedAnswer> {
  const last = lastMessage(call.body);
  const branch = await call.me.branchOf(call.body.id);
  if (last.role === "assistant") return continueTurn(call, branch, last);
  // Files first: the references are compared with the log below.
  const content = await call.me.files.store(contentOf(last));
  const turnId = await call.me.turnOf(branch, last.id);
  if (turnId === undefined) return send(call, branch, last.id, content);
  const turn = await call.me.turn(branch, turnId);
  const newest = await newestTurn(call.me, branch);
  const known = { conversationId: branch, turnId, messageId: last.id };
  const isRegenerated = call.body.trigger === "regenerate-message";
  // A client that asks again while the answer is being made gets that answer.
  if (isRegenerated && turn.status === "running") return known;
  const opening = openingMessages(turn);
  const before = opening.get(last.id);
  const isSame =
    before !== undefined && isDeepStrictEqual(content.map(comparable), before.map(asPart).map(comparable));
  if (!isRegenerated && (before === undefined || isSame)) {
    if (newest === turnId) return known;
    const isEdit = before !== undefined && call.body.messageId === last.id;
    if (!isEdit) throw new ParleyError("message_conflict", "This message was sent before, and answered");
  }
  const own = isRegenerated ? (before ?? []).map(asPart) : content;
  if (own.length === 0) throw new ParleyError("message_conflict", "This message joined another answer");
  // A turn that several messages opened is repeated with all of them.
  const others = [...opening].flatMap(([id, chunks]) => (id === last.id ? [] : chunks.map(asPart)));
  return fork(call, branch, { turn, newest, messageId: last.id, content: [...others, ...own] });
}

async function send(
  { me, body }: ChatCall,
  conversationId: string,
  messageId: string,
  message: readonly MessageContentPart[],
): Promise<OpenedAnswer> {
  const { ifBusy, whenWaiting = "deny" } = body;
  const receipt = await me.send({
    conversationId,
    messageId,
    message,
    ifBusy,
    whenWaiting,
    ...choicesOf(body),
  });
  return { conversationId, messageId, turnId: receipt.turnId };
}

function choicesOf(body: ChatRequest) {
  const { model, reasoningEffort, instructions = body.system } = body;
  return { model, reasoningEffort, instructions, tools: toolsOf(body) };
}

/** Forks before a turn and sends again there. The chat is at the fork from then on; the old branch stays in the log. */
async function fork(
  { me, body }: ChatCall,
  branch: string,
  asked: {
    readonly turn: TurnDetail;
    readonly newest: string | undefined;
    readonly messageId: string;
    readonly content: readonly MessageContentPart[];
  },
): Promise<OpenedAnswer> {
  const { turn, newest, messageId, content } = asked;
  await endNewest(me, branch, newest);
  const firstSeq = turn.chunks[0]?.seq ?? 1;
  // The same request again finds the same fork.
  const from = JSON.stringify([branch, turn.turnId, body.trigger, content]);
  const id = `b.${createHash("sha256").update(from).digest("hex").slice(0, 40)}`;
  const forked = await me.fork({
    conversationId: branch,
    atSeq: firstSeq - 1,
    id,
    chatId: body.id,
    message: content,
    messageId,
    ...choicesOf(body),
  });
  return { conversationId: id, messageId, turnId: forked.turnId };
}

/** Refuses while the newest turn runs. One that waits for input is stopped. */
async function endNewest(me: OwnerRuntime, branch: string, newest: string | undefined): Promise<void> {
  const status = newest === undefined ? "sealed" : (await me.turn(branch, newest)).status;
  if (status === "sealed") return;
  if (status === "running") {
    throw new ParleyError("turn_active", "An answer is being made: stop it before you change the chat");
  }
  await me.stop(branch);
  await me.last(branch);
}

/** Returns the open turn, else the one that was sealed last. */
export async function newestTurn(me: OwnerRuntime, conversationId: string): Promise<string | undefined> {
  const { activeTurn } = await me.meta(conversationId);
  return activeTurn?.turnId ?? (await me.metrics(conversationId, { limit: 1 })).at(-1)?.turnId;
}

/** Returns the user's messages that opened a turn, in order. */
function openingMessages({ chunks }: TurnDetail): Map<string, Chunk[]> {
  const opening = new Map<string, Chunk[]>();
  for (const { role, messageId = "", chunk } of chunks) {
    if (role !== "user") break;
    opening.set(messageId, [...(opening.get(messageId) ?? []), chunk]);
  }
  return opening;
}

/** Returns the fields of a part that decide if two messages are the same: a file is its bytes. */
function comparable(part: MessageContentPart): unknown {
  return part.type === "file" && part.hash !== undefined ? { type: "file", hash: part.hash } : part;
}

function asPart(chunk: Chunk): MessageContentPart {
  if (chunk.type === "text" && chunk.file !== undefined) {
    const { seq: _, part: _part, name: filename, ...file } = chunk.file;
    return { type: "file", ...file, ...omitUndefined({ filename }) };
  }
  if (chunk.type === "text" && chunk.inline !== undefined) return { type: "file", ...chunk.inline };
  if (chunk.type === "text") return { type: "text", text: chunk.text };
  return { type: "metadata", data: chunk.type === "data" ? chunk.data : null };
}

/** Takes decisions and outputs for calls that wait from a posted answer, and nothing else of it. */
async function continueTurn(
  { me, caller }: ChatCall,
  conversationId: string,
  message: SentMessage,
): Promise<OpenedAnswer> {
  const turnId = message.id;
  await me.turn(conversationId, turnId).catch((error: unknown) => {
    throw isUnknown(error) ? invalidField("messages", "the last message is no answer of this chat") : error;
  });
  for (const request of await pendingRequests(me, { conversationId, turnId })) {
    const answer = answerTo(request, message);
    if (answer === undefined) continue;
    const { requestId } = request;
    await respondAs(caller, me, { conversationId, requestId }, answer, "http").catch((error: unknown) => {
      // Another caller was first: that decision is in force, and the stream shows its outcome.
      if (!isParleyError(error) || error.code !== "already_decided") throw error;
    });
  }
  const steps = message.parts.filter(({ type }) => type === "step-start").length;
  return { conversationId, turnId, steps };
}

function answerTo(request: PendingRequest, { parts }: SentMessage): InputAnswer | undefined {
  // Questions of a running call are answered by the native route.
  if (!isRequestOfCall(request.stepId, request.requestId)) return undefined;
  const part = parts.findLast(({ toolCallId }) => toolCallId === request.toolCallId);
  if (part === undefined) return undefined;
  if (request.kind === "approval") {
    const approval = part.approval as { id?: unknown; approved?: unknown; reason?: unknown } | undefined;
    if (approval?.id !== request.requestId || typeof approval.approved !== "boolean") return undefined;
    const note = typeof approval.reason === "string" ? approval.reason : undefined;
    if (!approval.approved) return { decision: "deny", ...omitUndefined({ note }) };
    return { decision: "allow", argumentsHash: request.argumentsHash, ...omitUndefined({ note }) };
  }
  const decision = request.kind === "question" ? "answer" : "output";
  if (part.state === "output-available") {
    return { decision, value: (part.output ?? null) as InputAnswer["value"] };
  }
  if (part.state !== "output-error") return undefined;
  const errorText = String(part.errorText ?? "The tool failed");
  return decision === "output"
    ? { decision, value: errorText, isError: true }
    : { decision: "deny", note: errorText };
}
