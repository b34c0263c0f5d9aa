import { z } from "@hono/zod-openapi";
import { faceEndpoint } from "../../http/endpoint.js";

/** One message of JSON-RPC. A list of them is refused: it would be one request of many calls. */
const mcpMessage = z
  .looseObject({
    jsonrpc: z.literal("2.0"),
    id: z.union([z.string().max(1_000), z.number()]).optional(),
    method: z.string().max(200).optional(),
  })
  .openapi("McpMessage", { description: "A message of the Model Context Protocol" });

export const mcpEndpoints = [
  faceEndpoint("POST /", {
    operationId: "mcpSendMessage",
    summary: "One message of the Model Context Protocol; tools search, read and continue conversations",
    // Each tool checks its own scopes: a key lists and calls the tools that its scopes allow.
    access: "read",
    body: mcpMessage,
    response: mcpMessage,
    async handle(call) {
      // The protocol's package is loaded with the first request.
      const { answerMessage } = await import("./answer-message.js");
      return answerMessage(call);
    },
  }),
];
