import { isParleyError, ParleyError } from "@parley/core";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import { RequestRefusal } from "../http/request-refusal.js";
import type { RateVerdict } from "../limits/rate-limiter.js";
import { type Authenticate, type Caller, callerOfHost, rateKeyOf } from "./caller.js";
import type { Secret } from "./gatekeeper.js";
import { hostName, isLoopback, mayUseCookie, type RequestPlace } from "./host-and-origin.js";
import { readLoginCookie } from "./login-cookie.js";

/** Returns the origin of a request, by its headers. */
export function placeOf(c: Context<AppEnv>): RequestPlace {
  return {
    method: c.req.method,
    host: c.req.header("host"),
    origin: c.req.header("origin"),
    fetchSite: c.req.header("sec-fetch-site"),
    fetchMode: c.req.header("sec-fetch-mode"),
    isUpgrade: c.req.header("upgrade")?.toLowerCase() === "websocket",
  };
}

/** Returns the remote address of the connection. Undefined for a call within the process. */
function addressOf(c: Context<AppEnv>): string | undefined {
  const incoming = c.env?.incoming;
  return incoming === undefined ? undefined : (incoming.socket?.remoteAddress ?? "unknown");
}

/** Headers that proxies add to a request that they pass on; each adds some of them. */
const proxyHeaders = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
] as const;

/**
 * Returns true if a request comes from this machine: a connection within it, to one of its own names, that no proxy
 * passed on. A proxy on this machine passes on callers from anywhere. One that adds no header cannot be detected.
 */
function isLocal(c: Context<AppEnv>): boolean {
  const address = addressOf(c);
  if (address === undefined) return true;
  const host = hostName(c.req.header("host") ?? "localhost") ?? "";
  const isPassedOn = proxyHeaders.some((name) => c.req.header(name) !== undefined);
  return isLoopback(address) && (isLoopback(host) || host.endsWith(".localhost")) && !isPassedOn;
}

/**
 * Returns the secret of a request: a key in its header or in a socket's subprotocols, or the cookie of its own page.
 */
function secretOf(c: Context<AppEnv>): Secret | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  if (bearer !== undefined) return { key: bearer };
  const place = placeOf(c);
  if (place.isUpgrade) {
    const offered = (c.req.header("sec-websocket-protocol") ?? "").split(",").map((name) => name.trim());
    const token = offered.find((name) => name.startsWith("bearer."));
    if (token !== undefined) return { key: token.slice("bearer.".length) };
  }
  const token = mayUseCookie(place) ? readLoginCookie(c.req.header("cookie")) : undefined;
  return token === undefined ? undefined : { token };
}

/** Identifies the caller by the credentials of the request. */
export function admitRequest(c: Context<AppEnv>, app: AppContext): Promise<Caller> {
  return app.authenticate === undefined
    ? admitWith(c, app, secretOf(c))
    : admitByHost(c, app, app.authenticate);
}

/** Lets the application around this app identify the caller, and counts the request. */
async function admitByHost(c: Context<AppEnv>, app: AppContext, authenticate: Authenticate): Promise<Caller> {
  const found = await authenticate(c.req.raw);
  if (found === undefined) {
    countStranger(c, app);
    throw new ParleyError("unauthorized", "Log in to this application first");
  }
  const caller = callerOfHost(found);
  c.set("caller", caller);
  countRequest(c, app, rateKeyOf(caller));
  return caller;
}

/**
 * Identifies the caller by its key, and counts the request. Callers without a valid key are counted by address, so
 * that they take nothing from others who come the same way, as through a proxy.
 */
export async function admitWith(
  c: Context<AppEnv>,
  app: AppContext,
  secret: Secret | undefined,
): Promise<Caller> {
  const address = addressOf(c);
  try {
    if (secret !== undefined && address !== undefined) await checkWait(app, address, secret);
    const caller = await app.gatekeeper.admit({ secret, isLocal: isLocal(c) });
    c.set("caller", caller);
    countRequest(c, app, rateKeyOf(caller));
    return caller;
  } catch (error) {
    if (!isParleyError(error) || error.code !== "unauthorized") throw error;
    if (secret !== undefined && address !== undefined && app.failures.failed(address)) {
      app.logger.warn({ requestId: c.get("requestId"), address }, "too many wrong keys from one address");
    }
    countStranger(c, app);
    throw error;
  }
}

/** Refuses credentials from an address that waits because of wrong keys, unless they are known to be good. */
async function checkWait({ failures, keys }: AppContext, address: string, secret: Secret): Promise<void> {
  const wait = failures.waitOf(address);
  if (wait === 0 || (await keys.isKnown(secret))) return;
  if ("token" in secret && failures.mayLook(address)) return;
  throw new RequestRefusal(
    "rate_limited",
    `Too many wrong keys from this address: wait ${Math.ceil(wait / 1_000)} s (failedLogins)`,
    { title: "Too many failed logins", retryAfterMs: wait },
  );
}

/** Counts a request of a caller that has no key, or has sent none. */
export function countStranger(c: Context<AppEnv>, app: AppContext): void {
  countRequest(c, app, `address:${addressOf(c) ?? ""}`);
}

/** Takes one request off a caller's allowance, and reports the rest in headers. */
function countRequest(c: Context<AppEnv>, app: AppContext, key: string): void {
  const verdict = app.rate.take(key);
  for (const [name, value] of Object.entries(rateHeaders(verdict))) c.header(name, value);
  if (!verdict.allowed) throw tooManyRequests(verdict);
}

function rateHeaders(verdict: RateVerdict): Record<string, string> {
  return {
    "ratelimit-limit": String(verdict.limit),
    "ratelimit-remaining": String(verdict.remaining),
    "ratelimit-reset": String(verdict.resetSeconds),
  };
}

/** Returns the refusal for a caller that sends too many requests. */
export function tooManyRequests(verdict: RateVerdict): ParleyError {
  return new RequestRefusal(
    "rate_limited",
    "This key sends more than it may (requestsPerSecond, requestBurst)",
    {
      retryAfterMs: verdict.retryAfterMs,
      headers: rateHeaders(verdict),
    },
  );
}
