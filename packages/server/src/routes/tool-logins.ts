import { randomBytes } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { ParleyError } from "@parley/core";
import { invalidField } from "@parley/core/errors";
import type { ToolLogins } from "@parley/core/turn";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import { countStranger } from "../auth/admit-request.js";
import { isLoopback } from "../auth/host-and-origin.js";
import { readCookie } from "../auth/login-cookie.js";
import { endpoint } from "../http/endpoint.js";
import {
  connectToolServerRequest,
  connectToolServerResponse,
  disconnectToolServerResponse,
  finishToolLoginRequest,
  finishToolLoginResponse,
  toolServerParams,
} from "../schemas/input.js";

/** The cookie of a browser that has started a login elsewhere: it has to be sent when that leads back here. */
const browserCookie = "parley_oauth";
const cookieSeconds = 600;
const callbackPath = "/oauth/callback";

function loginsOf({ runtime }: AppContext): ToolLogins {
  if (runtime.toolLogins !== undefined) return runtime.toolLogins;
  throw new ParleyError(
    "invalid_request",
    "server: no server of tools wants a login (`auth` in `mcpServers`)",
  );
}

/** Returns the page's own origin, as its browser sees it: a proxy in front may terminate TLS. */
function originOf(c: Context<AppEnv>): string {
  const { protocol, host } = new URL(c.req.url);
  return c.req.header("origin") ?? `${protocol}//${c.req.header("host") ?? host}`;
}

/** Checks the address that a browser returns to: here, or a program on the caller's own machine. */
function checkedRedirect(
  given: string | undefined,
  c: Context<AppEnv>,
): { redirectUrl: string; isHere: boolean } {
  const here = `${originOf(c)}${callbackPath}`;
  if (given === undefined || given === here) return { redirectUrl: here, isHere: true };
  const address = URL.canParse(given) ? new URL(given) : undefined;
  if (address?.protocol === "http:" && isLoopback(address.hostname))
    return { redirectUrl: given, isHere: false };
  throw invalidField("redirectUrl", `${here}, or an http address of the caller's own machine`);
}

function setBrowserCookie(c: Context<AppEnv>, value: string): void {
  const secure = originOf(c).startsWith("https:") ? "; Secure" : "";
  const attributes = `Path=/; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Lax${secure}`;
  c.header("set-cookie", `${browserCookie}=${value}; ${attributes}`);
}

export const toolLoginEndpoints = [
  endpoint("POST /tools/:server/connect", {
    operationId: "startToolLogin",
    summary: "Begin a login at a server of tools; a person opens the address",
    access: "approve",
    params: toolServerParams,
    body: connectToolServerRequest,
    response: connectToolServerResponse,
    async handle({ caller, params: { server }, body, c, app }) {
      const { redirectUrl, isHere } = checkedRedirect(body.redirectUrl, c);
      const logins = loginsOf(app);
      if (!isHere) return logins.start(caller.owner, server, { redirectUrl });
      const known = readCookie(c.req.header("cookie"), browserCookie);
      const browser = known ?? randomBytes(32).toString("base64url");
      const begun = await logins.start(caller.owner, server, { redirectUrl, browser });
      setBrowserCookie(c, browser);
      return begun;
    },
  }),
  endpoint("POST /tools/:server/finish", {
    operationId: "finishToolLogin",
    summary: "Finish a login with what the browser brought back to the caller",
    access: "approve",
    params: toolServerParams,
    body: finishToolLoginRequest,
    response: finishToolLoginResponse,
    async handle({ caller, body, app }) {
      const { server } = await loginsOf(app).finish(body, { owner: caller.owner });
      return { server };
    },
  }),
  endpoint("POST /tools/:server/disconnect", {
    operationId: "endToolLogin",
    summary: "Forget the caller's login at a server of tools. Idempotent",
    access: "approve",
    params: toolServerParams,
    response: disconnectToolServerResponse,
    async handle({ caller, params: { server }, app }) {
      return { server, removed: await loginsOf(app).disconnect(caller.owner, server) };
    },
  }),
  endpoint("GET /oauth/callback", {
    operationId: "receiveToolLogin",
    summary: "Where a browser comes back to from a login at a server of tools",
    access: "public",
    query: finishToolLoginRequest,
    response: z.string(),
    format: "text",
    async handle({ query, c, app }) {
      countStranger(c, app);
      // A login that another person has started must not end with this person's account: the browser has to be the
      // same.
      const browser = readCookie(c.req.header("cookie"), browserCookie) ?? "";
      const { server } = await loginsOf(app).finish(query, { browser });
      return c.text(`Connected to ${server}. You can close this window.`, 200, {
        "cache-control": "no-store",
      });
    },
  }),
];
