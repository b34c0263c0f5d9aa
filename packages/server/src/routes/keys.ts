import type { Context } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import { admitWith } from "../auth/admit-request.js";
import { createKey, toKeyInfo } from "../auth/api-key.js";
import type { Caller } from "../auth/caller.js";
import { clearedKeyCookie, keyCookie } from "../auth/key-cookie.js";
import { endpoint } from "../http/endpoint.js";
import {
  createKeyRequest,
  createKeyResponse,
  deleteKeyResponse,
  keyParams,
  keysResponse,
  loginRequest,
  logoutResponse,
  meResponse,
} from "../schemas/keys.js";

/** Whether the browser speaks TLS, to us or to a proxy in front of us. */
function isSecure(c: Context<AppEnv>): boolean {
  return c.req.header("x-forwarded-proto") === "https" || new URL(c.req.url).protocol === "https:";
}

function describeCaller({ owner, scopes, auth }: Caller) {
  return { owner, scopes, auth };
}

/** What holds on this node at once; other nodes notice within moments. */
async function keysChanged(app: AppContext): Promise<void> {
  app.keys.forget();
  await app.connections.recheck((caller) => app.gatekeeper.stillAdmits(caller));
}

export const keyEndpoints = [
  endpoint("GET /me", {
    summary: "Who the caller is",
    access: "read",
    response: meResponse,
    handle: async ({ caller }) => describeCaller(caller),
  }),
  endpoint("POST /login", {
    summary: "Trade a key for a cookie that scripts cannot read",
    access: "public",
    body: loginRequest,
    bodyBytes: 4_000,
    response: meResponse,
    async handle({ body, c, app }) {
      const caller = await admitWith(c, app, body.key);
      if (caller.auth === "keys") c.header("set-cookie", keyCookie(body.key, { secure: isSecure(c) }));
      return describeCaller(caller);
    },
  }),
  endpoint("POST /logout", {
    summary: "Take the cookie away",
    access: "public",
    response: logoutResponse,
    async handle({ c }) {
      c.header("set-cookie", clearedKeyCookie({ secure: isSecure(c) }));
      return { loggedOut: true };
    },
  }),
  endpoint("GET /keys", {
    summary: "List API keys",
    access: "admin",
    response: keysResponse,
    handle: async ({ app }) => ({ keys: (await app.runtime.keys.list()).map(toKeyInfo) }),
  }),
  endpoint("POST /keys", {
    summary: "Make an API key. Its secret is shown this once",
    access: "admin",
    body: createKeyRequest,
    response: createKeyResponse,
    async handle({ body, caller, app }) {
      const { secret, record } = createKey({
        owner: body.owner ?? caller.owner,
        createdAt: app.clock.now(),
        ...(body.scopes === undefined ? {} : { scopes: body.scopes }),
      });
      await app.runtime.keys.add(record);
      await keysChanged(app);
      return { key: toKeyInfo(record), secret };
    },
  }),
  endpoint("DELETE /keys/:id", {
    summary: "Revoke an API key. Idempotent",
    access: "admin",
    params: keyParams,
    response: deleteKeyResponse,
    async handle({ params, app }) {
      const removed = await app.runtime.keys.remove(params.id);
      await keysChanged(app);
      return { id: params.id, removed };
    },
  }),
];
