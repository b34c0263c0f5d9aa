import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { omitUndefined } from "@parley/core/messages";
import type { JsonObject } from "@parley/wire";
import type { AppEnv } from "./app-env.js";
import { loginCookieName } from "./auth/login-cookie.js";
import type { Endpoint } from "./http/endpoint.js";
import { problemType } from "./http/problem.js";
import { refusalStatuses } from "./http/refusal-statuses.js";
import { problem } from "./schemas/operations.js";

const mediaTypes = {
  json: "application/json",
  ndjson: "application/x-ndjson",
  sse: "text/event-stream",
  text: "text/plain",
  bytes: "*/*",
} as const;

const anyBytes = z.string().openapi({ type: "string", format: "binary" });

/** Bodies of failures by media type, where a face has its own. */
export type FailureContent = Readonly<Record<string, { readonly schema: z.ZodType }>>;

/** Adds a route to the published contract, with the schemas that check it. */
export function publishEndpoint(
  app: OpenAPIHono<AppEnv>,
  endpoint: Endpoint,
  failure?: FailureContent,
): void {
  const [method = "", path = ""] = endpoint.name.split(" ");
  const content = { [mediaTypes[endpoint.format ?? "json"]]: { schema: endpoint.response } };
  if (endpoint.name === "GET /conversations/:id/export")
    Object.assign(content, { "text/markdown": { schema: z.string() } });
  const failureContent = failure ?? { [problemType]: { schema: problem } };
  app.openAPIRegistry.registerPath(
    createRoute({
      method: method.toLowerCase() as "get",
      path: path.replaceAll(/:([A-Za-z]+)/g, "{$1}"),
      operationId: endpoint.operationId,
      summary: endpoint.summary,
      tags: [path.split("/")[1] ?? ""],
      security: endpoint.access === "public" ? [] : [{ key: [] }, { cookie: [] }],
      ...(endpoint.access === "public" ? {} : { "x-scope": [endpoint.access].flat().join(" or ") }),
      request: {
        ...(endpoint.params === undefined ? {} : { params: endpoint.params as unknown as z.ZodObject }),
        ...omitUndefined({ headers: endpoint.headers }),
        ...(endpoint.query === undefined ? {} : { query: endpoint.query as unknown as z.ZodObject }),
        ...(endpoint.body === undefined
          ? {}
          : {
              body: {
                content: { "application/json": { schema: endpoint.body } },
                // A body that may be empty may be left out.
                required: !endpoint.body.safeParse({}).success,
              },
            }),
        ...(endpoint.lines === undefined
          ? {}
          : { body: { content: { "application/x-ndjson": { schema: endpoint.lines } }, required: true } }),
        ...(endpoint.takesBytes ? { body: { content: { "*/*": { schema: anyBytes } } } } : {}),
      },
      responses: {
        [endpoint.status ?? 200]: {
          description:
            endpoint.format === "ndjson" || endpoint.format === "sse" ? "A stream of these" : "The answer",
          content,
          ...omitUndefined({ headers: endpoint.answerHeaders }),
        },
        ...Object.fromEntries(
          (endpoint.statuses ?? []).map((status) => [
            status,
            { description: "The same, for another state", content },
          ]),
        ),
        ...Object.fromEntries(
          Object.entries(endpoint.otherAnswers ?? {}).map(([status, { description, response }]) => [
            status,
            {
              description,
              content: { [mediaTypes.json]: { schema: response } },
              ...omitUndefined({ headers: endpoint.answerHeaders }),
            },
          ]),
        ),
        ...Object.fromEntries(
          [...refusalStatuses(endpoint)].map(([status, description]) => [
            status,
            { description, content: failureContent },
          ]),
        ),
        default: { description: "Any other failure", content: failureContent },
      },
    }),
  );
}

/** Returns the contract as OpenAPI 3.1. */
export function contractOf(app: OpenAPIHono<AppEnv>, version: string): JsonObject {
  const document = app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Parley",
      version,
      description:
        "Conversations with language models, each over one durable log. The socket at `/ws` speaks the same types.",
    },
    // Relative to this document, which may lie under any path.
    servers: [{ url: "." }],
  });
  const components = {
    ...document.components,
    securitySchemes: {
      key: { type: "http", scheme: "bearer", description: "An API key" },
      cookie: {
        type: "apiKey",
        in: "cookie",
        name: loginCookieName,
        description: "The cookie that `POST /login` sets, for pages of the server's own origin",
      },
    },
  };
  return JSON.parse(JSON.stringify({ ...document, components })) as JsonObject;
}
