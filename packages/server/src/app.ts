import { randomUUID } from "node:crypto";
import { OpenAPIHono } from "@hono/zod-openapi";
import { ParleyError, systemClock } from "@parley/core";
import type { Runtime } from "@parley/core/runtime";
import type { JsonObject } from "@parley/wire";
import type { Context, Hono } from "hono";
import { routePath } from "hono/route";
import type { AppContext, AppEnv } from "./app-env.js";
import type { AppOptions } from "./app-options.js";
import { FailedLogins } from "./auth/failed-logins.js";
import { Gatekeeper } from "./auth/gatekeeper.js";
import { hostName } from "./auth/host-and-origin.js";
import { KeyRing } from "./auth/key-ring.js";
import { Connections } from "./http/connections.js";
import { answerFailure, guardRequests } from "./http/guard.js";
import { RequestRefusal } from "./http/request-refusal.js";
import { RateLimiter } from "./limits/rate-limiter.js";
import { defaultServerLimits, defaultServerPace } from "./limits/server-limits.js";
import { contractOf, publishEndpoint } from "./openapi.js";
import { plainRoot, servePage } from "./page.js";
import { endpoints } from "./routes/endpoints.js";
import { openSocket } from "./socket/open-socket.js";
import { Beat } from "./stream/beat.js";
import { createSilentLogger } from "./telemetry/logging.js";
import { createTelemetryHooks, type Telemetry } from "./telemetry/telemetry.js";

/** Parley over HTTP, to be served or mounted. */
export interface ParleyApp {
  /** To be mounted: `yours.route("/", app.hono)`. */
  readonly hono: Hono<AppEnv>;
  /** Answers a request of this very process, without a socket. */
  fetch(request: Request): Response | Promise<Response>;
  /** Takes no more work: sockets and event streams are told to connect elsewhere, and what would open a turn is refused. */
  drain(): void;
  /** Ends every connection. The runtime is the caller's, and goes on. */
  close(): Promise<void>;
}

/** Makes the app of a runtime. It answers on its own, and can be mounted in another Hono app. */
export function createApp(runtime: Runtime, options: AppOptions = {}): ParleyApp {
  const hono = new OpenAPIHono<AppEnv>();
  let isDraining = false;
  let contract: JsonObject | undefined;
  const app = createContext(runtime, options, {
    draining: () => isDraining || runtime.status().draining,
    contract: () => {
      contract ??= contractOf(hono, options.version ?? "0.1.0");
      return contract;
    },
  });

  hono.onError(answerFailure(app));
  hono.use("*", guardRequests(app));
  const methods = new Map<string, string[]>();
  for (const endpoint of endpoints) {
    const [method = "", path = ""] = endpoint.name.split(" ");
    hono.on(method, path, (c) => endpoint.respond(c, app));
    publishEndpoint(hono, endpoint);
    methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  hono.get("/ws", async (c, next) => (await openSocket(c, next, app)) ?? c.notFound());
  methods.set("/ws", ["GET"]);
  for (const [path, allowed] of methods) hono.all(path, (c) => refuseMethod(c, allowed));

  const page = options.page === undefined ? undefined : servePage(options.page.folder);
  hono.get("*", async (c, next) => {
    const answer = await page?.(c);
    if (answer !== undefined) return answer;
    if (page !== undefined || new URL(c.req.url).pathname !== "/") return next();
    return c.text(plainRoot);
  });
  // Mounted under a path, everything below it is Parley's to answer; at the root it may be someone else's.
  hono.all("*", (c, next) => (routePath(c) === "/*" ? next() : refuseAddress()));
  hono.notFound(async (c) => (await page?.(c, { isNowhere: true })) ?? refuseAddress());

  // Whoever stays connected is asked again, as often as a key is looked up again.
  const rechecks = new Beat(app.clock, app.pace.keyMs);
  const stopRechecking = rechecks.add(() => {
    app.keys.forget();
    app.connections
      .recheck((caller) => app.gatekeeper.stillAdmits(caller))
      .catch(() => {
        // The store is away; the next time it is asked again.
      });
  });
  return {
    hono,
    fetch: (request) => hono.fetch(request, {}),
    drain() {
      isDraining = true;
      app.connections.closeAll("draining");
    },
    async close() {
      isDraining = true;
      stopRechecking();
      app.connections.closeAll("closing");
    },
  };
}

function createContext(
  runtime: Runtime,
  options: AppOptions,
  own: Pick<AppContext, "draining" | "contract">,
): AppContext {
  const clock = options.clock ?? systemClock;
  const limits = { ...defaultServerLimits, ...options.limits };
  const pace = { ...defaultServerPace, ...options.pace };
  const keys = new KeyRing(runtime.keys, clock, pace);
  const telemetry = telemetryOf(options.telemetry);
  telemetry?.watchRuntime(runtime);
  return {
    runtime,
    limits,
    pace,
    clock,
    logger: options.logger ?? createSilentLogger(),
    places: {
      hosts: new Set((options.hosts ?? []).map((host) => hostName(host) ?? host)),
      origins: new Set((options.origins ?? []).map(originOf)),
    },
    gatekeeper: new Gatekeeper({ mode: options.auth ?? "auto", owner: options.owner ?? "local", ring: keys }),
    keys,
    rate: new RateLimiter({ perSecond: limits.requestsPerSecond, burst: limits.requestBurst, clock }),
    failures: new FailedLogins(limits, pace, clock),
    connections: new Connections(limits.connectionsPerKey),
    heartbeat: new Beat(clock, pace.heartbeatMs),
    ping: new Beat(clock, pace.pingMs),
    telemetry,
    version: options.version ?? "0.1.0",
    instance: options.instance ?? randomUUID(),
    ...own,
    checkDraining() {
      if (own.draining()) throw new ParleyError("draining", undefined, { retryAfterMs: 1_000 });
    },
  };
}

function telemetryOf(given: AppOptions["telemetry"]): Telemetry | undefined {
  if (given === false) return undefined;
  if (given === undefined || given === true) return createTelemetryHooks({ processFigures: false });
  return given;
}

function originOf(text: string): string {
  try {
    const { origin } = new URL(text);
    if (origin !== "null") return origin;
  } catch {
    // Said below.
  }
  throw new ParleyError(
    "invalid_request",
    `origins: "${text}" is not an origin, such as https://app.example.org`,
  );
}

function refuseAddress(): never {
  throw new RequestRefusal(
    "invalid_request",
    "There is nothing at this address; /openapi.json lists what there is",
    { status: 404 },
  );
}

function refuseMethod(c: Context<AppEnv>, allowed: readonly string[]): Response {
  const list = [...(allowed.includes("GET") ? ["HEAD"] : []), ...allowed].sort().join(", ");
  if (c.req.method === "OPTIONS") return c.body(null, 204, { allow: list });
  throw new RequestRefusal("invalid_request", `This address takes ${list}`, {
    status: 405,
    headers: { allow: list },
  });
}
