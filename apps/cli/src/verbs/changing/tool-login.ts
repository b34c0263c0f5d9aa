import { spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import type { FinishToolLoginRequest } from "@parley/wire";
import { CliError } from "../../cli-error.js";
import type { VerbContext } from "../../verb-context.js";

export interface ConnectOptions {
  readonly port?: number;
  readonly browser?: boolean;
}

const path = "/callback";

/**
 * Logs in at a server of tools. A browser on this machine comes back here by itself; from another machine, the address that
 * it ends at is pasted.
 */
export async function connectServer(
  server: string,
  options: ConnectOptions,
  context: VerbContext,
): Promise<void> {
  const { io, signal } = context;
  const client = await context.client();
  const params = { server };
  const callback = await waitForBrowser(options.port ?? 0, signal);
  const done = new AbortController();
  try {
    const body = { redirectUrl: callback.url };
    const begun = await client.request("POST /tools/:server/connect", { params, body, signal });
    io.line("Open this address and log in:");
    io.line(begun.authorizationUrl);
    io.note("On another machine? Paste the address here that the browser ends at.");
    if (options.browser !== false && io.isInteractive) openBrowser(begun.authorizationUrl);
    const late = AbortSignal.timeout(Math.max(1, begun.expiresAt - Date.now()));
    const ended = AbortSignal.any([signal, late]);
    const input = AbortSignal.any([ended, done.signal]);
    const returned = await Promise.race([callback.returned, pasted(io, input), whenAborted(ended, late)]);
    await client.request("POST /tools/:server/finish", { params, body: returned, signal });
    io.line(`Connected to ${server}.`);
  } finally {
    done.abort();
    callback.close();
  }
}

export async function disconnectServer(server: string, context: VerbContext): Promise<void> {
  const client = await context.client();
  const { removed } = await client.request("POST /tools/:server/disconnect", {
    params: { server },
    signal: context.signal,
  });
  context.io.line(removed ? `Disconnected from ${server}.` : `There was no login at ${server}.`);
}

interface Callback {
  readonly url: string;
  readonly returned: Promise<FinishToolLoginRequest>;
  close(): void;
}

/** Waits on this machine for the browser to come back. */
async function waitForBrowser(port: number, signal: AbortSignal): Promise<Callback> {
  let settle: (returned: FinishToolLoginRequest) => void = () => {};
  const returned = new Promise<FinishToolLoginRequest>((resolve) => {
    settle = resolve;
  });
  const http = createServer((request: IncomingMessage, response: ServerResponse) => {
    const address = new URL(request.url ?? "/", "http://127.0.0.1");
    const found = address.pathname === path ? readReturn(address) : undefined;
    const headers = { "content-type": "text/plain; charset=utf-8", connection: "close" };
    response.writeHead(found === undefined ? 404 : 200, headers);
    response.end(found === undefined ? "Nothing here." : "Back in the terminal. You can close this window.");
    if (found !== undefined) settle(found);
  });
  await new Promise<void>((resolve, reject) => {
    http.once("error", (error: NodeJS.ErrnoException) => {
      reject(
        new CliError(`The port ${port} cannot be used: ${error.code ?? error.message}.`, {
          advice: "Choose another one with --port.",
          cause: error,
        }),
      );
    });
    http.listen({ port, host: "127.0.0.1", signal }, resolve);
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}${path}`;
  return {
    url,
    returned,
    close() {
      http.close();
      http.closeAllConnections();
    },
  };
}

/** Reads what the authorization server has put into the address. Undefined where it is no such address. */
function readReturn({ searchParams }: URL): FinishToolLoginRequest | undefined {
  const state = searchParams.get("state");
  const [code, error, iss] = ["code", "error", "iss"].map((name) => searchParams.get(name) ?? undefined);
  if (state === null || (code === undefined && error === undefined)) return undefined;
  return {
    state,
    ...(code === undefined ? {} : { code }),
    ...(iss === undefined ? {} : { iss }),
    ...(error === undefined ? {} : { error }),
  };
}

/** Waits for an address on standard input. An input that ends does not end the wait for the browser. */
function pasted(io: VerbContext["io"], signal: AbortSignal): Promise<FinishToolLoginRequest> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, signal });
    lines.on("line", (line) => {
      const text = line.trim();
      if (text === "") return;
      const found = URL.canParse(text) ? readReturn(new URL(text)) : undefined;
      if (found === undefined) {
        io.note("This is not the address that the browser ends at: it has code= and state= in it.");
        return;
      }
      lines.close();
      resolve(found);
    });
  });
}

function whenAborted(signal: AbortSignal, late: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () =>
      reject(
        late.aborted
          ? new CliError("The login was not completed in time.", {
              advice: "Run the command again and open the new address.",
            })
          : new CliError("The login was canceled."),
      );
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}

/** Opens an address in the user's browser, if there is one. */
function openBrowser(address: string): void {
  const openers: Readonly<Record<string, readonly string[]>> = {
    darwin: ["open"],
    win32: ["rundll32", "url.dll,FileProtocolHandler"],
  };
  const [command = "xdg-open", ...args] = openers[process.platform] ?? ["xdg-open"];
  const opened = spawn(command, [...args, address], { stdio: "ignore", detached: true });
  // The address was printed: without a browser here, the user opens it elsewhere.
  opened.on("error", () => undefined);
  opened.unref();
}
