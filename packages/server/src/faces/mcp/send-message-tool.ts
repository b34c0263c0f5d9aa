import { z } from "@hono/zod-openapi";
import { omitUndefined } from "@parley/core/messages";
import type { OwnerRuntime } from "@parley/core/runtime";
import type { TurnDetail } from "@parley/wire";
import { id } from "../../schemas/scalars.js";
import { pendingRequests } from "../pending-requests.js";
import { cutWithNote } from "./cut-text.js";
import { followWithin } from "./follow-within.js";
import { mcpFaceLimits } from "./mcp-face-limits.js";
import { type McpResult, mcpTool, type ToolScope } from "./mcp-tool.js";

const output = z.object({
  conversationId: z.string(),
  messageId: z.string().describe("Send again with it and nothing is sent twice"),
  turnId: z.string().optional().describe("Absent while the message waits in the queue"),
  status: z.enum(["done", "running", "waiting", "queued"]),
  reason: z.string().optional().describe("How the turn ended: stop, aborted, error and others"),
  text: z.string().describe("The answer, as far as there is one"),
  waitingFor: z
    .array(
      z.object({
        requestId: z.string(),
        kind: z.string(),
        toolName: z.string(),
        argumentsText: z.string(),
        reason: z.string().optional(),
      }),
    )
    .optional()
    .describe("Decisions and answers of people that the turn waits for"),
});

type Sent = z.infer<typeof output>;

export const sendMessageTool = mcpTool({
  name: "send_message",
  title: "Send a message",
  description:
    "Sends a message to a conversation, or begins one, and waits for the answer. An answer that takes longer goes on: send again with the same messageId to wait on, or read the conversation later.",
  access: "write",
  // The model that answers has tools of its own.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  input: z.object({
    message: z.string().min(1).max(mcpFaceLimits.messageCharacters),
    conversationId: id.optional().describe("Where to go on. Without it, a conversation begins"),
    messageId: id.optional().describe("Your own id of the message: sent again, it is not sent twice"),
  }),
  output,
  async run({ message, conversationId, messageId }, scope) {
    scope.app.checkDraining();
    const receipt = await scope.me.send({ message, conversationId, messageId, ifBusy: "reject" });
    const { conversationId: id, messageId: sentAs, turnId } = receipt;
    if (turnId === undefined) {
      return {
        text: `The message ${sentAs} waits in the queue of the conversation ${id}.`,
        structured: { conversationId: id, messageId: sentAs, status: "queued", text: "" },
      };
    }
    await followWithin(scope, { conversationId: id, turnId });
    return toResult(scope, sentAs, await scope.me.turn(id, turnId));
  },
});

/** Returns a turn as a result: the answer, or the next action to get it. */
async function toResult({ me }: ToolScope, messageId: string, turn: TurnDetail): Promise<McpResult<Sent>> {
  const { conversationId, turnId, status, reason, chunks } = turn;
  const answer = cutWithNote(answerOf(chunks), mcpFaceLimits.answerCharacters);
  const sent = { conversationId, messageId, turnId, text: answer };
  if (status === "running") {
    const text = `The turn ${turnId} of the conversation ${conversationId} is still running. Send again with messageId ${messageId} to wait on, or read the conversation later.`;
    return { text, structured: { ...sent, status } };
  }
  if (status === "waiting") {
    const waitingFor = await waitsFor(me, { conversationId, turnId });
    const text = [
      `The turn ${turnId} of the conversation ${conversationId} waits for a person:`,
      ...waitingFor.map(
        ({ kind, toolName, reason: why = "", argumentsText }) =>
          `- ${kind} of ${toolName}${why === "" ? "" : ` (${why})`}: ${argumentsText}`,
      ),
      ...(answer === "" ? [] : [`So far: ${answer}`]),
    ].join("\n");
    return { text, structured: { ...sent, status, waitingFor } };
  }
  const ending = reason === undefined || reason === "stop" ? [] : [`[The turn ended with: ${reason}]`];
  const failures = chunks.flatMap(({ chunk }) => (chunk.type === "error" ? [chunk.message] : []));
  const text = [...(answer === "" ? [] : [answer]), ...failures, ...ending].join("\n\n");
  return {
    text: text === "" ? "[The turn ended without a text.]" : text,
    structured: { ...sent, status: "done", ...omitUndefined({ reason }) },
  };
}

/** Returns the texts of an answer, without reasoning and calls. */
function answerOf(chunks: TurnDetail["chunks"]): string {
  return chunks
    .flatMap(({ role, chunk }) => (role === "assistant" && chunk.type === "text" ? [chunk.text] : []))
    .join("\n\n");
}

async function waitsFor(
  me: OwnerRuntime,
  turn: { readonly conversationId: string; readonly turnId: string },
) {
  const pending = await pendingRequests(me, turn);
  return pending
    .slice(0, mcpFaceLimits.requests)
    .map(({ requestId, kind, toolName, argumentsText, reason }) => ({
      requestId,
      kind,
      toolName,
      argumentsText: cutWithNote(argumentsText, mcpFaceLimits.argumentCharacters),
      ...(reason === undefined ? {} : { reason: cutWithNote(reason, mcpFaceLimits.argumentCharacters) }),
    }));
}
