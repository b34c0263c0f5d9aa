import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createAdaptorServer, getRequestListener, RequestError } from "@hono/node-server";
import { ParleyError } from "@parley/core";
import type { Runtime } from "@parley/core/runtime";
import { createApp } from "./app.js";
import type { AppOptions } from "./app-options.js";
import type { AuthMode } from "./auth/gatekeeper.js";
import { isLoopback } from "./auth/host-and-origin.js";
import { answerOtherUpgrades, sendRefusals } from "./http/other-upgrades.js";
import { problemResponse } from "./http/problem.js";
import { commonHeaders } from "./http/security-headers.js";
import { breakOffUnreadAnswers } from "./http/unread-answers.js";
import { defaultServerLimits, defaultServerPace } from "./limits/server-limits.js";
import { createSocketServer } from "./socket/socket-server.js";

/** Options of the app and its address. */
export interface ServeOptions extends AppOptions {
  /** Default `127.0.0.1`. Anything beyond this machine needs an API key. */
  readonly host?: string;
  /** Default 4141; 0 takes any free port. */
  readonly port?: number;
  /** Listen beyond this machine without a key: any caller that reaches the port owns the conversations. */
  readonly insecure?: boolean;
}

/** A listening server. */
export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /**
   * Shuts down: no more work is accepted, sockets are closed with 1012 so that clients connect elsewhere, turns finish
   * their step and are handed to other nodes, or sealed at the deadline; until then they can be read and stopped. The
   * runtime is drained, but closing it is up to the caller. Another call waits for the same end.
   */
  close(options?: { readonly deadlineMs?: number }): Promise<void>;
}

const defaultDeadlineMs = 20_000;
/** Time for connections to end by themselves once no turn runs any more. */
const lingerMs = 1_000;
/** Time for the last bytes to those that did not. */
const lastWordsMs = 100;

/** Serves a runtime on one port: HTTP, the socket, and the page if there is one. */
export async function serve(runtime: Runtime, options: ServeOptions = {}): Promise<RunningServer> {
  const host = options.host ?? "127.0.0.1";
  const auth = await authFor(runtime, options, host);
  const hosts = [...(options.hosts ?? []), ...(isWildcard(host) ? [] : [host])];
  const app = createApp(runtime, { compress: true, ...options, auth, hosts });
  const frameBytes = options.limits?.frameBytes ?? defaultServerLimits.frameBytes;
  const listener = getRequestListener(app.hono.fetch as Parameters<typeof getRequestListener>[0], {
    // Browsers always send the host, and HTTP/1.1 requires it; other clients need not.
    hostname: "localhost",
    errorHandler: answerUnread,
  });
  const server = createAdaptorServer({
    fetch: sendRefusals(app.hono.fetch) as Parameters<typeof getRequestListener>[0],
    websocket: { server: createSocketServer({ frameBytes }) },
    createServer: ((settings: object) => createServer(settings, listener)) as typeof createServer,
  }) as ReturnType<typeof createServer>;

  // Node's own limit of a whole request: a long upload that makes progress must succeed.
  server.requestTimeout = options.pace?.bodyTotalMs ?? defaultServerPace.bodyTotalMs;
  answerOtherUpgrades(server);
  breakOffUnreadAnswers(server, options.pace?.unreadMs ?? defaultServerPace.unreadMs);
  // Includes those of sockets, which the server itself does not track.
  const connections = new Set<Socket>();
  server.on("connection", (connection: Socket) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(options.port ?? 4141, host, resolve);
    });
  } catch (error) {
    // The caller does not get the app and cannot close it: its timers would keep the process alive.
    await app.close();
    throw listenFailure(error as NodeJS.ErrnoException, host, options.port);
  }
  const { port } = server.address() as AddressInfo;
  const name = isWildcard(host) ? "127.0.0.1" : host;

  let closed: Promise<void> | undefined;
  const shutDown = async (deadlineMs: number) => {
    // A client that keeps a connection for later would find it closed.
    server.prependListener("request", (_, response) => {
      response.shouldKeepAlive = false;
    });
    app.drain();
    // Until its turns have ended, the server answers clients that read and stop them.
    let isClosed: Promise<void>;
    try {
      await runtime.drain({ deadlineMs });
    } finally {
      isClosed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
    }
    let cut: NodeJS.Timeout | undefined;
    const linger = setTimeout(
      () => {
        void app.close();
        // The last bytes are still to be written.
        cut = setTimeout(() => {
          for (const connection of connections) connection.destroy();
        }, lastWordsMs);
      },
      Math.min(lingerMs, deadlineMs),
    );
    await isClosed;
    clearTimeout(linger);
    clearTimeout(cut);
    await app.close();
  };
  return {
    url: `http://${name.includes(":") ? `[${name}]` : name}:${port}`,
    port,
    close({ deadlineMs = defaultDeadlineMs } = {}) {
      closed ??= shutDown(deadlineMs);
      return closed;
    },
  };
}

/** Answers a request that could not be parsed. */
function answerUnread(thrown: unknown): Response {
  const requestId = randomUUID();
  const response = problemResponse(
    thrown instanceof RequestError
      ? new ParleyError("invalid_request", "The address or the Host header is malformed")
      : new ParleyError("internal", undefined, { cause: thrown }),
    requestId,
  );
  for (const [name, value] of Object.entries(commonHeaders(requestId))) response.headers.set(name, value);
  return response;
}

/** Decides if keys are required; refuses to listen beyond this machine without one. */
async function authFor(runtime: Runtime, options: ServeOptions, host: string): Promise<AuthMode> {
  const { auth = "auto", insecure = false } = options;
  if (isLoopback(host)) return auth;
  if (insecure) return auth === "auto" && (await runtime.keys.list()).length === 0 ? "open" : auth;
  const advice =
    "listen on 127.0.0.1, or make a key with `parley keys create`, or say `insecure` if everyone who reaches " +
    "this port may read and write everything";
  if (auth === "open") {
    throw new ParleyError(
      "invalid_request",
      `host: ${host} is reachable from other machines, and auth is "open": ${advice}`,
    );
  }
  if (auth === "auto" && (await runtime.keys.list()).length === 0) {
    throw new ParleyError(
      "invalid_request",
      `host: ${host} is reachable from other machines, and there is no API key yet: ${advice}`,
    );
  }
  // Once it is reachable, it keeps requiring keys, even if the last key is removed.
  return "keys";
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::" || host === "[::]" || host === "";
}

function listenFailure(error: NodeJS.ErrnoException, host: string, port: number | undefined): ParleyError {
  const where = `${host}:${port ?? 4141}`;
  if (error.code === "EADDRINUSE") {
    return new ParleyError("invalid_request", `port: ${where} is taken; choose another one, or 0 for any`, {
      cause: error,
    });
  }
  return new ParleyError(
    "invalid_request",
    `listen: ${where} cannot be used (${error.code ?? error.message})`,
    { cause: error },
  );
}
