import { z } from "@hono/zod-openapi";
import type { AgentEvent } from "@parley/wire";
import { agree } from "./agree.js";
import { sourceChunk } from "./chunk.js";
import { inputRequestEntry, inputResponseEntry, waitingInfo } from "./input-entry.js";
import { outputInvalidEntry, turnOutput } from "./output.js";
import {
  count,
  id,
  instant,
  openErrorCode,
  openWords,
  providerMetadata,
  stepId,
  turnReason,
} from "./scalars.js";
import { costSum, usage } from "./usage.js";

const ofTurn = { conversationId: id, turnId: id };
const ofPart = {
  messageId: id.optional(),
  partIndex: count.optional(),
  providerMetadata: providerMetadata.optional(),
};
/** The state of a turn, without new content. */
export const turnProgress = z
  .object({
    activity: openWords<"retrying" | "compacting">(["retrying", "compacting"]),
    since: instant,
    retryAt: instant.optional(),
    code: openErrorCode.optional(),
  })
  .openapi("TurnProgress");
const delivered = z.object({ messageId: id, text: z.string() });
const delta = { ...ofTurn, delta: z.string(), stepId: stepId.optional(), ...ofPart };

export const agentEvent = agree<AgentEvent>()(
  z
    .discriminatedUnion("type", [
      z.object({
        type: z.literal("status"),
        conversationId: id,
        status: z.string(),
        waiting: waitingInfo.optional(),
      }),
      z.object({
        type: z.literal("turn-start"),
        ...ofTurn,
        model: z.string().optional(),
        startedAt: instant.optional(),
      }),
      z.object({
        type: z.literal("user-message"),
        ...ofTurn,
        text: z.string(),
        messageId: id.optional(),
        createdAt: instant.optional(),
        messages: z.array(delivered).optional(),
      }),
      z.object({ type: z.literal("text-delta"), ...delta }),
      z.object({ type: z.literal("reasoning-delta"), ...delta }),
      z.object({
        type: z.literal("tool-call"),
        ...ofTurn,
        stepId,
        toolCallId: z.string(),
        toolName: z.string(),
        input: z.unknown(),
        argumentsText: z.string().optional(),
        ...ofPart,
      }),
      z.object({
        type: z.literal("tool-result"),
        ...ofTurn,
        stepId,
        toolCallId: z.string(),
        toolName: z.string(),
        content: z.string(),
        isError: z.boolean(),
        durationMs: z.number().optional(),
        interrupted: z.boolean().optional(),
        messageId: id.optional(),
        providerMetadata: providerMetadata.optional(),
      }),
      z.object({
        type: z.literal("tool-output"),
        ...ofTurn,
        toolCallId: z.string(),
        data: z.string(),
        stream: z.enum(["stdout", "stderr"]),
        stepId: stepId.optional(),
      }),
      z.object({
        type: z.literal("input-request"),
        ...ofTurn,
        stepId,
        messageId: id,
        input: inputRequestEntry,
      }),
      z.object({
        type: z.literal("input-response"),
        ...ofTurn,
        stepId,
        messageId: id,
        input: inputResponseEntry,
      }),
      z.object({
        type: z.literal("output-invalid"),
        ...ofTurn,
        stepId,
        messageId: id,
        output: outputInvalidEntry,
      }),
      z.object({ type: z.literal("usage"), ...ofTurn, stepId: stepId.optional(), usage }),
      z.object({
        type: z.literal("step-complete"),
        ...ofTurn,
        stepId,
        ttftMs: z.number().optional(),
        decodeMs: z.number().optional(),
        genTotalMs: z.number().optional(),
        sources: z.array(sourceChunk).optional(),
      }),
      z.object({ type: z.literal("turn-progress"), ...ofTurn, progress: turnProgress.optional() }),
      z.object({
        type: z.literal("error"),
        ...ofTurn,
        message: z.string(),
        code: openErrorCode.optional(),
        retryable: z.boolean().optional(),
      }),
      z.object({
        type: z.literal("done"),
        ...ofTurn,
        reason: turnReason,
        durationMs: z.number().optional(),
        waitedMs: z.number().optional(),
        usage: usage.optional(),
        contextSize: z.number().optional(),
        cost: costSum.optional(),
      }),
      z.object({
        type: z.literal("turn-sealed"),
        ...ofTurn,
        firstSeq: count.optional(),
        lastSeq: count.optional(),
        reason: turnReason.optional(),
        output: turnOutput.optional(),
      }),
      z.object({
        type: z.literal("steering"),
        ...ofTurn,
        text: z.string(),
        messageIds: z.array(z.string()).optional(),
        messages: z.array(delivered).optional(),
        createdAt: instant.optional(),
      }),
    ])
    .openapi("AgentEvent"),
);
