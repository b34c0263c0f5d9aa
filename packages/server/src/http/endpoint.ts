import type { z } from "@hono/zod-openapi";
import type { OwnerRuntime } from "@parley/core/runtime";
import type { KeyScope, Route, RouteName, Routes } from "@parley/wire";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import { admitRequest, countStranger } from "../auth/admit-request.js";
import { type Caller, checkScope } from "../auth/caller.js";
import { jsonBody } from "./compressed-json.js";
import { readJsonBody } from "./read-body.js";
import type { RefusalStatus } from "./refusal-statuses.js";
import { validate } from "./validate.js";

/** A request that was checked. */
export interface Call<Shape extends Route> {
  readonly params: Shape["params"];
  readonly query: Shape["query"];
  readonly body: Shape["body"];
  readonly c: Context<AppEnv>;
  readonly app: AppContext;
}

/** A request whose caller is known. */
export interface OwnedCall<Shape extends Route> extends Call<Shape> {
  readonly caller: Caller;
  /** The runtime of the caller's owner. */
  readonly me: OwnerRuntime;
}

interface OtherAnswer {
  readonly description: string;
  readonly response: z.ZodType;
}

interface Contract<Shape extends Route> {
  /** The name of the operation in generated clients. */
  readonly operationId: string;
  /** One line, for the published contract. */
  readonly summary: string;
  readonly params?: z.ZodType<Shape["params"]>;
  readonly query?: z.ZodType<Shape["query"]>;
  /** Headers that it takes beside those of every route, for the published contract. */
  readonly headers?: z.ZodObject;
  /** Absent on routes that take none. An import's lines are not read here: `lines`. */
  readonly body?: z.ZodType<Shape["body"]>;
  /** The most that its body may have, where that is less than the server's limit. */
  readonly bodyBytes?: number;
  /** The body may hold files as text, so it may be larger. */
  readonly holdsFiles?: boolean;
  /** The body is NDJSON, of lines like this, and read by the route itself. */
  readonly lines?: z.ZodType;
  /** The body is of any type, and read by the route itself. */
  readonly takesBytes?: boolean;
  /** The status of its answer. Default 200. */
  readonly status?: number;
  /** One element of it, for streams. */
  readonly response: z.ZodType<Shape["response"]>;
  readonly format?: Shape["format"];
  /** The media type of an answer that is not JSON, where the format leaves it open. */
  readonly mediaType?: string;
  /** Headers of its answer beside those of every route, for the published contract. */
  readonly answerHeaders?: z.ZodObject;
  /** Further statuses that come with the same body. */
  readonly statuses?: readonly number[];
  /** Statuses of refusals beside those that follow from the rest of the contract (`refusalStatuses`). */
  readonly refusals?: readonly RefusalStatus[];
  /** Further answers, by status, that are JSON of their own shape, for the published contract. */
  readonly otherAnswers?: Readonly<Record<number, OtherAnswer>>;
}

interface OwnedDefinition<Shape extends Route> extends Contract<Shape> {
  /** Scope that a key needs; of several, one. */
  readonly access: KeyScope | readonly KeyScope[];
  /** Refused while the node shuts down. Default: every route that writes. */
  readonly isWork?: boolean;
  handle(call: OwnedCall<Shape>): Promise<Shape["response"] | Response>;
}

interface PublicDefinition<Shape extends Route> extends Contract<Shape> {
  readonly access: "public";
  handle(call: Call<Shape>): Promise<Shape["response"] | Response>;
}

/** One route of the server: its contract, and its handler. */
export interface Endpoint<Name extends string = string> extends Contract<Route> {
  /** Method and path. */
  readonly name: Name;
  readonly access: KeyScope | readonly KeyScope[] | "public";
  respond(c: Context<AppEnv>, app: AppContext): Promise<Response>;
}

/**
 * Defines a route of the wire: its access, its schemas and its handler. Types and path come from the wire's `Routes`;
 * the same schemas are checked at run time and published.
 */
export function endpoint<const Name extends RouteName>(
  name: Name,
  definition: OwnedDefinition<Routes[Name]> | PublicDefinition<Routes[Name]>,
): Endpoint<Name> {
  return makeEndpoint<Name, Routes[Name]>(name, definition);
}

/** Types of a face's route. The wire does not list them: they belong to another protocol. */
export interface FaceRoute<Params extends object, Query extends object, Body, Response> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly response: Response;
  readonly format: Route["format"];
}

/**
 * Defines a route of a face. `path` is relative to the path that the face is mounted at; types come from the schemas.
 */
export function faceEndpoint<
  const Name extends string,
  Params extends object = object,
  Query extends object = object,
  Body = undefined,
  Response = unknown,
>(name: Name, definition: OwnedDefinition<FaceRoute<Params, Query, Body, Response>>): Endpoint<Name> {
  return makeEndpoint<Name, FaceRoute<Params, Query, Body, Response>>(name, definition);
}

function makeEndpoint<Name extends string, Shape extends Route>(
  name: Name,
  definition: OwnedDefinition<Shape> | PublicDefinition<Shape>,
): Endpoint<Name> {
  const writes = definition.access !== "read" && !name.startsWith("GET ");
  const respond = async (c: Context<AppEnv>, app: AppContext): Promise<Response> => {
    if (definition.access === "public") {
      const call = await readCall(c, app, definition).catch((refusal: unknown) => {
        countStranger(c, app);
        throw refusal;
      });
      return asResponse(c, app, await definition.handle(call));
    }
    const caller = await admitRequest(c, app);
    checkScope(caller, definition.access);
    if (definition.isWork ?? writes) app.checkDraining();
    const call = await readCall(c, app, definition);
    const me = app.runtime.forOwner(caller.owner);
    return asResponse(c, app, await definition.handle({ ...call, caller, me }));
  };
  // The names of the schemas' types are erased here: outside they are only published.
  return { ...(definition as unknown as Contract<Route>), name, access: definition.access, respond };
}

async function readCall<Shape extends Route>(
  c: Context<AppEnv>,
  app: AppContext,
  contract: Contract<Shape>,
): Promise<Call<Shape>> {
  const params = contract.params === undefined ? {} : validate(contract.params, c.req.param());
  if (c.get("route").includes("/conversations/:id") && "id" in params) {
    c.set("conversationId", String(params.id));
  }
  const query = contract.query === undefined ? {} : validate(contract.query, c.req.query());
  let body: unknown;
  if (contract.body !== undefined) {
    const most = contract.holdsFiles ? "faceBodyBytes" : "bodyBytes";
    const limit = Math.min(contract.bodyBytes ?? Number.POSITIVE_INFINITY, app.limits[most]);
    const given = await readJsonBody(c, app, limit, most);
    // A body may be left out if each of its fields may be.
    body = validate(contract.body, given === undefined ? {} : given);
  }
  return { params, query, body, c, app } as Call<Shape>;
}

async function asResponse(c: Context<AppEnv>, app: AppContext, answer: unknown): Promise<Response> {
  if (answer instanceof Response) return answer;
  const accepted = app.compresses ? c.req.header("accept-encoding") : undefined;
  const { body, headers } = await jsonBody(answer, accepted);
  return c.body(body, 200, headers);
}
