import { z } from "@hono/zod-openapi";
import type {
  CallerTool,
  ConnectToolServerRequest,
  ConnectToolServerResponse,
  DisconnectToolServerResponse,
  FinishToolLoginRequest,
  FinishToolLoginResponse,
  GrantParams,
  GrantsResponse,
  PendingParams,
  PendingQuery,
  PendingResponse,
  RespondRequest,
  RespondResponse,
  RevokeGrantResponse,
  ToolServerParams,
  ToolsResponse,
} from "@parley/wire";
import { agree } from "./agree.js";
import { grantScope, inputActor, inputKind, inputResponseEntry } from "./input-entry.js";
import { count, id, instant, jsonObject, jsonValue, limitInQuery, openWords, stepId } from "./scalars.js";

/** Ids of requests are made from those of turns, which clients do not choose. */
const requestId = z.string().min(1).max(300);

export const pendingParams = agree<PendingParams>()(z.object({ id, requestId }));
export const grantParams = agree<GrantParams>()(z.object({ id }));

export const pendingQuery = agree<PendingQuery>()(
  z.object({
    conversationId: id.optional(),
    limit: limitInQuery.optional(),
    after: z.string().max(64).optional(),
  }),
);

export const pendingResponse = agree<PendingResponse>()(
  z.object({
    pending: z.array(
      z
        .object({
          conversationId: id,
          title: z.string(),
          turnId: id,
          stepId,
          requestId: z.string(),
          kind: inputKind,
          toolCallId: z.string(),
          toolName: z.string(),
          argumentsText: z.string(),
          argumentsHash: z.string(),
          reason: z.string().optional(),
          schema: jsonObject.optional(),
          createdAt: instant,
          expiresAt: instant.optional(),
          remember: z.literal(true).optional(),
        })
        .openapi("PendingRequest"),
    ),
    nextAfter: z.string().optional(),
  }),
);

export const respondShape = {
  decision: z.enum(["allow", "deny", "answer", "output"]),
  argumentsHash: z.string().max(128).optional(),
  arguments: jsonValue.optional(),
  argumentsText: z.string().optional(),
  value: jsonValue.optional(),
  isError: z.boolean().optional(),
  note: z.string().max(10_000).optional(),
  scope: grantScope.optional(),
};

export const respondRequest = agree<RespondRequest>()(z.object(respondShape).openapi("RespondRequest"));

export const respondResponse = agree<RespondResponse>()(
  z
    .object({
      conversationId: id,
      requestId: z.string(),
      repeated: z.boolean(),
      response: inputResponseEntry,
    })
    .openapi("RespondResponse"),
);

export const grantsResponse = agree<GrantsResponse>()(
  z.object({
    grants: z.array(
      z
        .object({
          id,
          toolName: z.string(),
          scope: grantScope,
          conversationId: id.optional(),
          createdAt: instant,
          requestId: z.string(),
          by: inputActor.optional(),
        })
        .openapi("GrantInfo"),
    ),
  }),
);

export const revokeGrantResponse = agree<RevokeGrantResponse>()(z.object({ id, removed: z.boolean() }));

export const toolsResponse = agree<ToolsResponse>()(
  z.object({
    tools: z.array(
      z
        .object({
          name: z.string(),
          description: z.string().optional(),
          origin: openWords<"builtin" | "host" | "mcp" | "caller">(["builtin", "host", "mcp", "caller"]),
          schema: jsonObject.optional(),
          approval: openWords<"never" | "once" | "always" | "policy">(["never", "once", "always", "policy"]),
          answeredBy: openWords<"person" | "caller">(["person", "caller"]).optional(),
        })
        .openapi("ToolInfo"),
    ),
    servers: z
      .array(
        z
          .object({
            name: z.string(),
            transport: openWords<"stdio" | "http">(["stdio", "http"]),
            state: openWords<"connecting" | "ready" | "failed" | "unconnected">([
              "connecting",
              "ready",
              "failed",
              "unconnected",
            ]),
            tools: count,
            problem: z.string().optional(),
            auth: openWords<"oauth">(["oauth"]).optional(),
          })
          .openapi("ToolServerInfo"),
      )
      .optional(),
  }),
);

export const toolServerParams = agree<ToolServerParams>()(z.object({ server: z.string().min(1).max(64) }));

export const connectToolServerRequest = agree<ConnectToolServerRequest>()(
  z.object({ redirectUrl: z.string().max(2_000).optional() }),
);

export const connectToolServerResponse = agree<ConnectToolServerResponse>()(
  z.object({ authorizationUrl: z.string(), expiresAt: instant }),
);

export const finishToolLoginRequest = agree<FinishToolLoginRequest>()(
  z.object({
    state: z.string().min(1).max(200),
    code: z.string().max(8_000).optional(),
    iss: z.string().max(2_000).optional(),
    error: z.string().max(200).optional(),
  }),
);

export const finishToolLoginResponse = agree<FinishToolLoginResponse>()(z.object({ server: z.string() }));

export const disconnectToolServerResponse = agree<DisconnectToolServerResponse>()(
  z.object({ server: z.string(), removed: z.boolean() }),
);

export const callerTool = agree<CallerTool>()(
  z
    .object({
      name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "1 to 64 of the characters A-Z a-z 0-9 _ -"),
      description: z.string().max(10_000).optional(),
      schema: jsonObject.optional(),
    })
    .openapi("CallerTool"),
);
