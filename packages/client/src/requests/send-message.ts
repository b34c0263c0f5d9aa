import { omitUndefined } from "@parley/fold";
import type { MessageReceipt, SendMessageRequest } from "@parley/wire";
import { readLines } from "./read-lines.js";
import { type Caller, parseJson, readJson, transportError } from "./request.js";

/** Sends a message in one attempt and returns its receipt. Its turn is not followed. */
export async function sendMessage(
  call: Caller,
  message: SendMessageRequest,
  signal: AbortSignal | undefined,
): Promise<MessageReceipt> {
  const response = await call("POST /chat", { body: message, accept: "application/x-ndjson", signal });
  if (response.status === 202) return (await readJson(response, signal)) as MessageReceipt;
  const { headers } = response;
  const conversationId = message.conversationId ?? headers.get("x-conversation-id") ?? "";
  const messageId = message.messageId ?? headers.get("x-message-id") ?? "";
  // It is durable. Its first event names the turn it opened; leaving does not affect the turn.
  const turnId = await firstTurnId(response, signal);
  return { conversationId, messageId, outcome: "started", ...omitUndefined({ turnId }) };
}

async function firstTurnId(response: Response, signal: AbortSignal | undefined): Promise<string | undefined> {
  if (response.body === null) return undefined;
  try {
    for await (const line of readLines(response.body, signal)) {
      const event = parseJson(line) as { readonly turnId?: string };
      if (event.turnId !== undefined) return event.turnId;
    }
  } catch (cause) {
    throw transportError(cause, signal, response.url);
  }
  return undefined;
}
