import { OpenAPIHono } from "@hono/zod-openapi";
import type { Runtime } from "@parley/core/runtime";
import type { JsonObject } from "@parley/wire";
import type { ParleyApp } from "../app.js";
import type { AppEnv } from "../app-env.js";
import type { AppOptions } from "../app-options.js";
import type { Authenticate } from "../auth/caller.js";
import { createContext, recheckCallers } from "../create-context.js";
import { answerFailure, guardRequests } from "../http/guard.js";
import { MountedEndpoints, refuseAddress } from "../mount-endpoints.js";
import { contractOf } from "../openapi.js";
import { packageVersion } from "../version.js";
import { type Face, useFailureShape } from "./face.js";

/** Settings of a face in a host's own application. */
export interface FaceOptions extends Omit<AppOptions, "faces" | "page"> {
  /**
   * Identifies the caller of a request by the host's own login. Absent: Parley's API keys, as on its server. With it,
   * requests may come under any Host name; the Origin check stays.
   */
  readonly authenticate?: Authenticate;
  /** The path of its routes in requests given to `fetch`, such as `/api/chat`. Default: none, for `host.route(path, app.hono)`. */
  readonly basePath?: string;
}

/** Creates an app that answers one face's routes and nothing else, for a host to mount at a path of its own. */
export function createFaceApp(runtime: Runtime, face: Face, options: FaceOptions = {}): ParleyApp {
  const { basePath = "" } = options;
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
  hono.onError(answerFailure(app));
  hono.use("*", useFailureShape(face));
  hono.use("*", guardRequests(app));
  const mounted = new MountedEndpoints(hono, app);
  for (const endpoint of face.endpoints) mounted.add(endpoint, basePath, face.failureContent);
  mounted.refuseOthers();
  hono.notFound(refuseAddress);
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
