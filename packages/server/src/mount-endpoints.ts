import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "./app-env.js";
import type { Endpoint } from "./http/endpoint.js";
import { RequestRefusal } from "./http/request-refusal.js";
import { type FailureContent, publishEndpoint } from "./openapi.js";

/** Routes below one path of an app. Collects the methods of each address, for the answer to other methods. */
export class MountedEndpoints {
  readonly #hono: OpenAPIHono<AppEnv>;
  readonly #app: AppContext;
  readonly #methods = new Map<string, string[]>();

  constructor(hono: OpenAPIHono<AppEnv>, app: AppContext) {
    this.#hono = hono;
    this.#app = app;
  }

  /** Answers at the endpoint's address, below `prefix`, and publishes its contract, with failures in a face's shape. */
  add(endpoint: Endpoint, prefix = "", failure?: FailureContent): void {
    const [method = "", own = ""] = endpoint.name.split(" ");
    const path = prefix === "" ? own : `${prefix}${own === "/" ? "" : own}`;
    const name = `${method} ${path}`;
    this.#hono.on(method, path, (c) => {
      c.set("route", name);
      return endpoint.respond(c, this.#app);
    });
    publishEndpoint(this.#hono, { ...endpoint, name }, failure);
    this.allow(path, method);
  }

  /** States that an address takes a method. */
  allow(path: string, method: string): void {
    this.#methods.set(path, [...(this.#methods.get(path) ?? []), method]);
  }

  /** Refuses other methods at all addresses that were added. */
  refuseOthers(): void {
    for (const [path, allowed] of this.#methods) this.#hono.all(path, (c) => refuseMethod(c, allowed));
  }
}

function refuseMethod(c: Context<AppEnv>, allowed: readonly string[]): Response {
  const list = [...(allowed.includes("GET") ? ["HEAD"] : []), ...allowed].sort().join(", ");
  if (c.req.method === "OPTIONS") return c.body(null, 204, { allow: list });
  throw new RequestRefusal("invalid_request", `This address takes ${list}`, {
    status: 405,
    headers: { allow: list },
  });
}

/** Refuses an address without a route. */
export function refuseAddress(): never {
  throw new RequestRefusal(
    "invalid_request",
    "There is nothing at this address; /openapi.json lists what there is",
    { status: 404 },
  );
}
