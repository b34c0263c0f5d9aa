import {
  createMcpHandler,
  isLegacyRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { OwnerRuntime } from "@parley/core/runtime";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../../app-env.js";
import type { Caller } from "../../auth/caller.js";
import { type FaceStream, openFaceStream, whenCallerLeaves } from "../face-stream.js";
import { createServer } from "./create-server.js";

/** A message and its sender. */
interface McpCall {
  readonly me: OwnerRuntime;
  readonly caller: Caller;
  readonly body: unknown;
  readonly c: Context<AppEnv>;
  readonly app: AppContext;
}

/**
 * Answers one message with a server that lives as long as the answer. It keeps nothing between two messages, so that
 * any node can answer any of them. A caller that leaves ends its wait, and nothing else.
 */
export async function answerMessage({ me, caller, body, c, app }: McpCall): Promise<Response> {
  const place = openFaceStream(c, app, caller);
  const leave = new AbortController();
  whenCallerLeaves(c, () => leave.abort());
  const signal = AbortSignal.any([c.req.raw.signal, leave.signal, place.signal]);
  let isStreamed = false;
  try {
    const identity = await app.runtime.identity();
    const make = () => createServer({ me, caller, app, signal, identity });
    const { response, close } = await respond(c.req.raw, body, make);
    const type = response.headers.get("content-type") ?? "";
    if (response.body !== null && type.startsWith("text/event-stream")) {
      isStreamed = true;
      return pass(response.body, place, () => {
        leave.abort();
        close();
      });
    }
    const text = await response.text();
    close();
    place.signal.throwIfAborted();
    const headers = { ...(text === "" ? {} : { "content-type": type }), "cache-control": "no-store" };
    return c.newResponse(text === "" ? null : text, response.status as 200, headers);
  } finally {
    if (!isStreamed) place.abandon();
  }
}

/**
 * Lets a server answer. Revisions up to 2025-11-25 are answered with JSON, and with events if the caller requests
 * progress; newer ones decide by themselves.
 */
async function respond(
  request: Request,
  body: unknown,
  make: () => Server,
): Promise<{ readonly response: Response; close(): void }> {
  if (!(await isLegacyRequest(request, body))) {
    // Tools change only with the key, so there is nothing to subscribe to.
    const handler = createMcpHandler(make, { legacy: "reject", maxSubscriptions: 0 });
    const response = await handler.fetch(request, { parsedBody: body });
    return { response, close: () => void handler.close() };
  }
  const server = make();
  const transport = new WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: !wantsProgress(body),
  });
  await server.connect(transport);
  const response = await transport.handleRequest(request, { parsedBody: body });
  return { response, close: () => void server.close().catch(() => undefined) };
}

function wantsProgress(body: unknown): boolean {
  const { params } = body as { readonly params?: { readonly _meta?: { readonly progressToken?: unknown } } };
  return params?._meta?.progressToken !== undefined;
}

/** Forwards the events of an answer, in a stream like those of other faces. */
function pass(body: ReadableStream<Uint8Array>, place: FaceStream, close: () => void): Response {
  const stream = place.begin({});
  const reader = body.getReader();
  void stream.over.then(() => {
    close();
    reader.cancel().catch(() => undefined);
  });
  const copy = async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      stream.write(Buffer.from(next.value));
      await stream.drained();
    }
    stream.end();
  };
  copy().catch(() => stream.cut());
  return stream.response;
}
