import { OpenAPIHono } from "@hono/zod-openapi";
import type { Runtime } from "@parley/core/runtime";
import type { JsonObject } from "@parley/wire";
import type { Hono } from "hono";
import { routePath } from "hono/route";
import type { AppEnv } from "./app-env.js";
import type { AppOptions } from "./app-options.js";
import { createContext, recheckCallers } from "./create-context.js";
import { allFaces } from "./faces/all-faces.js";
import { useFailureShape } from "./faces/face.js";
import { answerFailure, guardRequests } from "./http/guard.js";
import { MountedEndpoints, refuseAddress } from "./mount-endpoints.js";
import { contractOf } from "./openapi.js";
import { plainRoot, servePage } from "./page.js";
import { endpoints } from "./routes/endpoints.js";
import { openSocket } from "./socket/open-socket.js";
import { packageVersion } from "./version.js";

/** Parley over HTTP, to be served or mounted. */
export interface ParleyApp {
  /** To be mounted: `yours.route("/", app.hono)`. */
  readonly hono: Hono<AppEnv>;
  /** Answers a request of the same process, without a socket. */
  fetch(request: Request): Response | Promise<Response>;
  /**
   * Accepts no more work: sockets and event streams are closed so that clients connect elsewhere, and what would open
   * a turn is refused.
   */
  drain(): void;
  /** Ends every connection. The runtime belongs to the caller, and continues. */
  close(): Promise<void>;
}

/** Creates the app of a runtime. It answers on its own, and can be mounted in another Hono app. */
export function createApp(runtime: Runtime, options: AppOptions = {}): ParleyApp {
  const hono = new OpenAPIHono<AppEnv>();
  let isDraining = false;
  let contract: JsonObject | undefined;
  const app = createContext(runtime, options, {
    draining: () => isDraining || runtime.status().draining,
    contract: () => {
      contract ??= contractOf(hono, options.version ?? packageVersion);
      return contract;
    },
  });

  const faces = options.faces ?? allFaces;
  hono.onError(answerFailure(app));
  for (const face of faces) hono.use(`${face.path}/*`, useFailureShape(face));
  hono.use("*", guardRequests(app));
  const mounted = new MountedEndpoints(hono, app);
  for (const endpoint of endpoints) mounted.add(endpoint);
  for (const face of faces) {
    for (const endpoint of face.endpoints) mounted.add(endpoint, face.path, face.failureContent);
  }
  hono.get("/ws", async (c, next) => (await openSocket(c, next, app)) ?? c.notFound());
  mounted.allow("/ws", "GET");
  mounted.refuseOthers();

  const page = options.page === undefined ? undefined : servePage(options.page.folder);
  hono.get("*", async (c, next) => {
    const answer = await page?.(c);
    if (answer !== undefined) return answer;
    if (page !== undefined || new URL(c.req.url).pathname !== "/") return next();
    return c.text(plainRoot);
  });
  // Mounted under a path, everything below it is answered by Parley; at the root it may belong to another app.
  hono.all("*", (c, next) => (routePath(c) === "/*" ? next() : refuseAddress()));
  hono.notFound(async (c) => (await page?.(c, { isNowhere: true })) ?? refuseAddress());

  const stopRechecking = recheckCallers(app);
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
