import { type CallToolResult, Server } from "@modelcontextprotocol/server";
import { toParleyError } from "@parley/core/errors";
import type { OwnerRuntime } from "@parley/core/runtime";
import { storeCapability } from "@parley/core/turn";
import type { AppContext } from "../../app-env.js";
import { type Caller, checkScope, hasScope } from "../../auth/caller.js";
import { invalidFields } from "../../http/request-refusal.js";
import { validate } from "../../http/validate.js";
import { describeFailure } from "../../telemetry/logging.js";
import { jsonSchemaOf, type McpTool } from "./mcp-tool.js";
import { listTool, readTool, searchTool } from "./reading-tools.js";
import { sendMessageTool } from "./send-message-tool.js";
import { stopTool } from "./stop-tool.js";

/** Caller and lifetime of a server. */
export interface ServerScope {
  readonly me: OwnerRuntime;
  readonly caller: Caller;
  readonly app: AppContext;
  /** Aborted when no caller waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Identity of the store. A node that imports tools from here detects by it that they would be its own. */
  readonly identity: string;
}

const tools: readonly McpTool[] = [searchTool, listTool, readTool, sendMessageTool, stopTool];

const instructions =
  "Conversations of a Parley server. Search or list them, read one by its id, send a message to go on with one or to begin one.";

/** Creates a server that offers the tools which the caller's scopes allow. */
export function createServer(scope: ServerScope): Server {
  const { app, caller, identity } = scope;
  const server = new Server(
    { name: "parley", title: "Parley", version: app.version },
    { capabilities: { tools: {}, experimental: { [storeCapability]: { id: identity } } }, instructions },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: tools
      .filter(({ access }) => hasScope(caller, access))
      .map(({ name, title, description, input, output, annotations }) => ({
        name,
        title,
        description,
        inputSchema: jsonSchemaOf(input, "input"),
        outputSchema: jsonSchemaOf(output, "output"),
        annotations: { title, openWorldHint: false, ...annotations },
      })),
  }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { _meta: { progressToken } = {}, signal, notify } = mcpReq;
    const call = { ...scope, signal: AbortSignal.any([scope.signal, signal]) };
    const onProgress =
      progressToken === undefined
        ? undefined
        : (progress: number, message: string) =>
            notify({ method: "notifications/progress", params: { progressToken, progress, message } });
    return callTool(call, params.name, params.arguments ?? {}, onProgress);
  });
  return server;
}

/** Runs a tool. A refusal is a result, which the caller's model can read and correct. */
async function callTool(
  scope: ServerScope,
  name: string,
  input: unknown,
  onProgress: ((progress: number, message: string) => Promise<void>) | undefined,
): Promise<CallToolResult> {
  try {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) throw invalidFields([{ path: "name", message: "there is no such tool" }]);
    checkScope(scope.caller, tool.access);
    const { text, structured } = await tool.run(validate(tool.input, input), { ...scope, onProgress });
    return { content: [{ type: "text", text }], structuredContent: structured };
  } catch (thrown) {
    const { code, message, retryable } = toParleyError(thrown);
    if (code === "internal") scope.app.logger.error(describeFailure(thrown), "unexpected failure of a tool");
    return {
      isError: true,
      content: [{ type: "text", text: `${message} (${code})` }],
      structuredContent: { error: { code, message, retryable } },
    };
  }
}
