import { isParleyError } from "@parley/core";
import { omitUndefined } from "@parley/core/messages";
import type { MeResponse } from "@parley/wire";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import { admitRequest, admitWith } from "../auth/admit-request.js";
import { createKey, toKeyInfo } from "../auth/api-key.js";
import type { Caller } from "../auth/caller.js";
import { createLogin } from "../auth/login.js";
import { clearedCookies, loginCookie, readLoginCookie } from "../auth/login-cookie.js";
import { endpoint } from "../http/endpoint.js";
import {
  createKeyRequest,
  createKeyResponse,
  deleteKeyResponse,
  endLoginsResponse,
  keyParams,
  keysResponse,
  loginRequest,
  logoutRequest,
  logoutResponse,
  meResponse,
} from "../schemas/keys.js";

/** Returns true if the browser uses TLS, to this server or to a proxy in front of it. */
function isSecure(c: Context<AppEnv>): boolean {
  return c.req.header("x-forwarded-proto") === "https" || new URL(c.req.url).protocol === "https:";
}

/** Removes the cookie, whatever it held. */
function clearCookies(c: Context<AppEnv>): void {
  for (const cookie of clearedCookies({ secure: isSecure(c) }))
    c.header("set-cookie", cookie, { append: true });
}

function setCookie(c: Context<AppEnv>, { pace }: AppContext, token: string): void {
  const cookie = loginCookie(token, { secure: isSecure(c), maxAgeMs: pace.loginMs });
  c.header("set-cookie", cookie, { append: true });
}

/** Creates a login of the caller's key, and removes expired ones. */
async function logIn(
  { runtime, clock, pace }: AppContext,
  { keyId, owner }: Caller,
): Promise<string | undefined> {
  if (keyId === undefined) return undefined;
  const now = clock.now();
  const { token, record } = createLogin({ keyId, owner, now, holdsMs: pace.loginMs });
  await runtime.keys.removeLogins({ expiredAt: now });
  await runtime.keys.addLogin(record);
  return token;
}

function describeCaller({ owner, scopes, auth }: Caller, { runtime, starters }: AppContext): MeResponse {
  const { fileBytes, messageFiles, messageFileBytes } = runtime.fileLimits;
  const files = { fileBytes, messageFiles, messageFileBytes };
  return { owner, scopes, auth, files, ...(starters.length === 0 ? {} : { starters }) };
}

/** Applies a change of keys on this node at once; other nodes notice within moments. */
async function keysChanged(app: AppContext): Promise<void> {
  app.keys.forget();
  await app.connections.recheck((callers) => app.gatekeeper.findUnwelcome(callers));
}

export const keyEndpoints = [
  endpoint("GET /me", {
    operationId: "getCaller",
    summary: "Who the caller is",
    access: "read",
    response: meResponse,
    async handle({ caller, c, app }) {
      // A page sends this request when it is opened: its cookie is renewed for as long as its login lasts.
      const token = caller.loginHash === undefined ? undefined : readLoginCookie(c.req.header("cookie"));
      if (token !== undefined) setCookie(c, app, token);
      return describeCaller(caller, app);
    },
  }),
  endpoint("POST /login", {
    operationId: "logIn",
    refusals: [401],
    summary: "Trade a key for a login, whose cookie scripts cannot read",
    access: "public",
    body: loginRequest,
    bodyBytes: 4_000,
    response: meResponse,
    async handle({ body, c, app }) {
      const caller = await admitWith(c, app, { key: body.key });
      const token = await logIn(app, caller);
      if (token !== undefined) {
        clearCookies(c);
        setCookie(c, app, token);
      }
      return describeCaller(caller, app);
    },
  }),
  endpoint("POST /logout", {
    operationId: "logOut",
    summary: "End the login of the cookie; with `everywhere`, all logins of its key",
    access: "public",
    body: logoutRequest,
    bodyBytes: 4_000,
    response: logoutResponse,
    async handle({ body, c, app }) {
      const caller = await admitRequest(c, app).catch((error: unknown) => {
        // A caller that is logged out already stays logged out.
        if (isParleyError(error) && error.code === "unauthorized") return undefined;
        throw error;
      });
      if (caller?.loginHash !== undefined && caller.keyId !== undefined) {
        const { loginHash: hash, keyId } = caller;
        await app.runtime.keys.removeLogins(body.everywhere ? { keyId } : { hash });
        await keysChanged(app);
      }
      clearCookies(c);
      return { loggedOut: true };
    },
  }),
  endpoint("GET /keys", {
    operationId: "listKeys",
    summary: "List API keys",
    access: "admin",
    response: keysResponse,
    handle: async ({ app }) => ({ keys: (await app.runtime.keys.list()).map(toKeyInfo) }),
  }),
  endpoint("POST /keys", {
    operationId: "createKey",
    summary: "Make an API key. Its secret is shown this once",
    access: "admin",
    body: createKeyRequest,
    response: createKeyResponse,
    async handle({ body, caller, app }) {
      const { secret, record } = createKey({
        owner: body.owner ?? caller.owner,
        createdAt: app.clock.now(),
        ...omitUndefined({ scopes: body.scopes }),
      });
      await app.runtime.keys.add(record);
      await keysChanged(app);
      return { key: toKeyInfo(record), secret };
    },
  }),
  endpoint("DELETE /keys/:id", {
    operationId: "deleteKey",
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
  endpoint("DELETE /keys/:id/logins", {
    operationId: "endLogins",
    summary: "End all logins of an API key. The key stays",
    access: "admin",
    params: keyParams,
    response: endLoginsResponse,
    async handle({ params, app }) {
      const ended = await app.runtime.keys.removeLogins({ keyId: params.id });
      await keysChanged(app);
      return { id: params.id, ended };
    },
  }),
];
