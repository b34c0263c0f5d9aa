import { randomUUID } from "node:crypto";
import { isParleyError, type ParleyError } from "@parley/core";
import { toParleyError } from "@parley/core/errors";
import type { Context, MiddlewareHandler } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import { placeOf } from "../auth/admit-request.js";
import { isAllowedOrigin, isKnownHost } from "../auth/host-and-origin.js";
import { describeFailure } from "../telemetry/logging.js";
import { problemHeaders, toProblem } from "./problem.js";
import { RequestRefusal } from "./request-refusal.js";
import { commonHeaders } from "./security-headers.js";

const requestIdPattern = /^[A-Za-z0-9._:-]{1,128}$/;
const exposedHeaders =
  "x-request-id, x-conversation-id, x-message-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset";

/** Routes that are asked every few seconds by machines: logged where that is wanted. */
const probes: ReadonlySet<string> = new Set(["GET /health", "GET /ready", "GET /metrics"]);

/** Assigns each request an id, logs it when it is answered, and refuses forbidden hosts and origins. */
export function guardRequests(app: AppContext): MiddlewareHandler<AppEnv> {
  const refuse = answerFailure(app);
  return async (c, next) => {
    const startedAt = app.clock.monotonic();
    const offered = c.req.header("x-request-id");
    const requestId = offered !== undefined && requestIdPattern.test(offered) ? offered : randomUUID();
    c.set("requestId", requestId);
    for (const [name, value] of Object.entries(commonHeaders(requestId))) c.header(name, value);

    const refusal = checkPlace(c, app);
    if (refusal !== undefined) c.res = refuse(refusal, c);
    else if (isPreflight(c)) c.res = answerPreflight(c, app);
    else await next();

    const seconds = (app.clock.monotonic() - startedAt) / 1_000;
    app.telemetry?.requestDone({ route: c.get("route") ?? "other", status: c.res.status, seconds });
    const streaming = c.get("streaming");
    if (streaming === undefined) logRequest(c, app, startedAt);
    else void streaming.then(() => logRequest(c, app, startedAt));
  };
}

/** Returns the refusal of a forbidden host or origin. Allowed pages get the headers that browsers require. */
function checkPlace(c: Context<AppEnv>, { places }: AppContext): ParleyError | undefined {
  const place = placeOf(c);
  if (!isKnownHost(place.host, places)) {
    return new RequestRefusal("forbidden", "This server does not go by that Host name; add it to `hosts`", {
      title: "This request was meant for another server",
    });
  }
  if (place.origin !== undefined && places.origins.has(place.origin)) {
    c.header("access-control-allow-origin", place.origin);
    c.header("access-control-expose-headers", exposedHeaders);
  }
  if (isAllowedOrigin(place, places)) return undefined;
  return new RequestRefusal("forbidden", "A page of another origin may not call this; add it to `origins`", {
    title: "This page may not call this server",
  });
}

function isPreflight(c: Context<AppEnv>): boolean {
  return c.req.method === "OPTIONS" && c.req.header("access-control-request-method") !== undefined;
}

function answerPreflight(c: Context<AppEnv>, { places }: AppContext): Response {
  if (places.origins.has(c.req.header("origin") ?? "")) {
    c.header("access-control-allow-methods", "GET, POST, PUT, PATCH, DELETE");
    c.header("access-control-allow-headers", "authorization, content-type, last-event-id, x-request-id");
    c.header("access-control-max-age", "600");
  }
  return c.body(null, 204);
}

function logRequest(c: Context<AppEnv>, app: AppContext, startedAt: number): void {
  const caller = c.get("caller");
  const failure = c.get("failure");
  const status = failure?.status ?? c.res.status;
  const conversationId = c.get("conversationId");
  const line = {
    requestId: c.get("requestId"),
    method: c.req.method,
    route: c.get("route") ?? "other",
    status,
    durationMs: Math.round(app.clock.monotonic() - startedAt),
    ...(caller === undefined ? {} : { owner: caller.owner }),
    ...(caller?.keyId === undefined ? {} : { keyId: caller.keyId }),
    ...(conversationId === undefined ? {} : { conversationId }),
    ...(failure === undefined ? {} : { code: failure.code }),
  };
  if (status >= 500) app.logger.error(line, "request failed");
  else if (probes.has(line.route)) app.logger.debug(line, "request");
  else app.logger.info(line, "request");
}

/** Returns the handler that answers thrown errors. */
export function answerFailure(app: AppContext): (thrown: Error, c: Context<AppEnv>) => Response {
  return (thrown, c) => {
    const error = toParleyError(thrown);
    c.set("failure", error);
    const requestId = c.get("requestId");
    if (!isParleyError(thrown) || error.code === "internal") {
      app.logger.error(
        { requestId, route: c.get("route") ?? "other", ...describeFailure(thrown) },
        "unexpected failure",
      );
    }
    const shape = c.get("describeFailure")?.(error, requestId);
    const body = JSON.stringify(shape?.body ?? toProblem(error, requestId));
    const incoming = c.env?.incoming;
    // The rest of a body is not read, so the connection cannot be used again: a client that keeps it would find it
    // closed.
    const closing = incoming === undefined || incoming.complete ? {} : { connection: "close" };
    const headers = { ...problemHeaders(error), ...shape?.headers, ...closing };
    return c.newResponse(body, error.status as 400, headers);
  };
}
