import { type ParleyError, toParleyError } from "@parley/core/errors";
import type { ExportLine } from "@parley/wire";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import type { Caller } from "../auth/caller.js";
import { breakOffError, whenGone } from "../http/connections.js";
import { endpoint } from "../http/endpoint.js";
import { readJsonLines } from "../http/read-body.js";
import { toMarkdown } from "../markdown.js";
import { conversationParams } from "../schemas/conversation.js";
import { exportLine, exportQuery, importQuery, importResponse } from "../schemas/exported.js";
import { jsonLine } from "../stream/ndjson.js";

async function* asLines(lines: AsyncIterable<ExportLine>): AsyncGenerator<Buffer> {
  for await (const line of lines) yield jsonLine(line);
}

async function* asBytes(text: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const piece of text) yield Buffer.from(piece);
}

/**
 * An answer in the reader's own pace. Fails as a whole if there is no first piece, and breaks off if a later one fails or
 * its key is revoked. It counts as a connection until the reader has it, or has left.
 */
async function streamed(
  { c, app, caller }: { c: Context<AppEnv>; app: AppContext; caller: Caller },
  pieces: AsyncGenerator<Buffer>,
  headers: Record<string, string>,
): Promise<Response> {
  app.connections.checkRoom(caller);
  const outgoing = c.env?.outgoing;
  let why: ParleyError | undefined;
  let breakOff: ((why: ParleyError) => void) | undefined;
  const forget = app.connections.add({
    caller,
    close(reason) {
      // A node that shuts down lets what is being read be read, as long as it can.
      if (reason === "draining") return;
      why = breakOffError(reason);
      breakOff?.(why);
    },
  });
  let hasLeft = false;
  const leave = () => {
    hasLeft = true;
    forget();
    pieces.return(undefined).catch(() => {});
  };
  let first: IteratorResult<Buffer>;
  try {
    first = await pieces.next();
    if (why !== undefined) throw why;
  } catch (thrown) {
    leave();
    throw thrown;
  }
  const answerHeaders = { "cache-control": "no-store, no-transform", ...headers };
  if (c.req.raw.method === "HEAD") {
    leave();
    return c.body(null, 200, answerHeaders);
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (!first.done) controller.enqueue(first.value);
      breakOff = (error) => {
        if (hasLeft) return;
        leave();
        app.logger.warn({ requestId: c.get("requestId"), code: error.code }, "an export broke off");
        // The reader must see that it is not whole: the connection ends without the answer's end.
        if (outgoing === undefined) controller.error(error);
        else outgoing.destroy();
      };
    },
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (hasLeft) return;
        if (!done) controller.enqueue(value);
        else {
          controller.close();
          if (outgoing === undefined) leave();
        }
      } catch (thrown) {
        breakOff?.(toParleyError(thrown));
      }
    },
    cancel: leave,
  });
  if (outgoing !== undefined) whenGone(outgoing, leave);
  return c.body(body, 200, answerHeaders);
}

export const exportEndpoints = [
  endpoint("GET /conversations/:id/export", {
    summary: "Take a conversation out: as lines that can be imported, or as Markdown",
    access: "read",
    params: conversationParams,
    query: exportQuery,
    response: exportLine,
    format: "ndjson",
    handle({ me, caller, params, query, c, app }) {
      const lines = me.exportLines(params.id);
      const isMarkdown = query.format === "markdown";
      const name = `${params.id.replaceAll(/[^A-Za-z0-9._-]/g, "_")}.${isMarkdown ? "md" : "jsonl"}`;
      return streamed({ c, app, caller }, isMarkdown ? asBytes(toMarkdown(lines)) : asLines(lines), {
        "content-type": isMarkdown ? "text/markdown; charset=utf-8" : "application/x-ndjson; charset=utf-8",
        "content-disposition": `attachment; filename="${name}"`,
      });
    },
  }),
  endpoint("POST /import", {
    summary: "Bring a conversation in, from the lines of an export. The same file again changes nothing",
    access: "write",
    query: importQuery,
    lines: exportLine,
    response: importResponse,
    handle: ({ me, query, c, app }) =>
      // The runtime checks each line as it takes it in.
      me.importLines(readJsonLines(c, app, app.limits.importBytes) as AsyncIterable<ExportLine>, query),
  }),
];
