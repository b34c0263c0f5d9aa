import { AsyncLocalStorage } from "node:async_hooks";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Connected } from "../../connect.js";
import type { VerbContext } from "../../verb-context.js";
import { packageVersion } from "../../version.js";

/** The path at which a server speaks the protocol. */
const path = "/mcp";

/** Milliseconds that a call may take: the server bounds its waits itself, and well below. */
const callMs = 600_000;

/** Aborted when the call that a request belongs to is canceled. */
const canceled = new AsyncLocalStorage<AbortSignal>();

/**
 * Offers the tools of the server, or of the store in this process, over standard input and output until the input ends.
 * The tools themselves are the server's: here they are passed on, with progress and cancellation.
 */
export async function mcp(context: VerbContext): Promise<void> {
  const ended = inputEnd(context.signal);
  const connected = await context.connect();
  // A server that is not there, or does not take the key, is an error of this command, not of each call.
  await connected.client.request("GET /models", { signal: context.signal });
  const client = await connectTo(connected);
  const bridge = serveStdio(() => passOn(client), { onerror: ({ message }) => context.io.note(message) });
  await ended;
  await bridge.close();
  await client.close();
}

/** Resolves when the program that has started this one closes its end or is gone, or somebody interrupts. */
function inputEnd(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    process.stdin.once("end", resolve).once("close", resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function connectTo(connected: Connected): Promise<Client> {
  const client = new Client({ name: "parley-mcp", version: packageVersion() });
  const transport = new StreamableHTTPClientTransport(new URL(`${connected.client.url}${path}`), {
    fetch(_, init) {
      const signals = [init?.signal, canceled.getStore()].filter((signal) => signal instanceof AbortSignal);
      return connected.ask(path, { ...init, signal: AbortSignal.any(signals) });
    },
  });
  await client.connect(transport);
  return client;
}

/** A server that passes everything on to the one that the client is connected to. */
function passOn(client: Client): Server {
  const { experimental = {} } = client.getServerCapabilities() ?? {};
  const server = new Server(client.getServerVersion() ?? { name: "parley", version: packageVersion() }, {
    capabilities: { tools: {}, experimental },
    instructions: client.getInstructions() ?? "",
  });
  server.setRequestHandler("tools/list", () => client.listTools());
  server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => {
    const { _meta: { progressToken } = {}, signal, notify } = mcpReq;
    const { name, arguments: input = {} } = params;
    return canceled.run(signal, () =>
      client.callTool(
        { name, arguments: input },
        {
          signal,
          timeout: callMs,
          ...(progressToken === undefined
            ? {}
            : {
                onprogress: (progress) => {
                  const notification = {
                    method: "notifications/progress",
                    params: { ...progress, progressToken },
                  };
                  notify(notification).catch(() => undefined);
                },
              }),
        },
      ),
    );
  });
  return server;
}
