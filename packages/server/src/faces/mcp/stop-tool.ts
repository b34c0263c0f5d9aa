import { z } from "@hono/zod-openapi";
import { id } from "../../schemas/scalars.js";
import { mcpTool } from "./mcp-tool.js";

export const stopTool = mcpTool({
  name: "stop_turn",
  title: "Stop a turn",
  description: "Stops the answer that is being made in a conversation. What there is of it is kept.",
  access: "write",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  input: z.object({ conversationId: id }),
  output: z.object({ conversationId: z.string(), stopped: z.boolean() }),
  async run({ conversationId }, { me }) {
    const { abortedTurn: stopped } = await me.stop(conversationId);
    return {
      text: stopped ? "The turn is being stopped." : "No turn was running.",
      structured: { conversationId, stopped },
    };
  },
});
