import { z } from "@hono/zod-openapi";
import type {
  InputDecision,
  InputKind,
  InputRequestEntry,
  InputResponseEntry,
  InputVia,
  WaitingInfo,
} from "@parley/wire";
import { agree } from "./agree.js";
import { count, id, instant, jsonObject, jsonValue, openWords } from "./scalars.js";

export const inputKind = openWords<InputKind>(["approval", "question", "tool-output"]);
const inputDecision = openWords<InputDecision>(["allow", "deny", "answer", "output"]);
const inputVia = openWords<InputVia>(["http", "socket", "runtime", "expiry", "stop", "send", "end"]);

export const grantScope = z
  .object({
    in: z.enum(["conversation", "owner"]),
    where: z.record(z.string(), jsonValue).optional(),
  })
  .openapi("GrantScope");

export const inputActor = z.object({
  owner: z.string(),
  keyId: id.optional(),
  label: z.string().optional(),
});

export const inputRequestEntry = agree<InputRequestEntry>()(
  z
    .object({
      type: z.literal("input-request"),
      requestId: z.string(),
      kind: inputKind,
      toolCallId: z.string(),
      toolName: z.string(),
      argumentsHash: z.string(),
      reason: z.string().optional(),
      schema: jsonObject.optional(),
      expiresAt: instant.optional(),
    })
    .openapi("InputRequestEntry"),
);

export const inputResponseEntry = agree<InputResponseEntry>()(
  z
    .object({
      type: z.literal("input-response"),
      requestId: z.string(),
      toolCallId: z.string(),
      toolName: z.string(),
      decision: inputDecision,
      argumentsText: z.string().optional(),
      value: jsonValue.optional(),
      isError: z.boolean().optional(),
      by: inputActor.optional(),
      via: inputVia,
      scope: grantScope.optional(),
      note: z.string().optional(),
    })
    .openapi("InputResponseEntry"),
);

export const inputEntry = z.union([inputRequestEntry, inputResponseEntry]);

export const waitingInfo = agree<WaitingInfo>()(
  z.object({ turnId: id, count, kinds: z.array(inputKind) }).openapi("WaitingInfo"),
);
