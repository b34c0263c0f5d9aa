import { toParleyError } from "@parley/core/errors";
import type { ExportLine } from "@parley/wire";
import type { Context } from "hono";
import type { AppContext, AppEnv } from "../app-env.js";
import { endpoint } from "../endpoint.js";
import { toMarkdown } from "../markdown.js";
import { readJsonLines } from "../read-body.js";
import { conversationParams } from "../schemas/conversation.js";
import { exportLine, exportQuery, importQuery, importResponse } from "../schemas/exported.js";
import { jsonLine } from "../stream/ndjson.js";

async function* asLines(lines: AsyncIterable<ExportLine>): AsyncGenerator<Buffer> {
  for await (const line of lines) yield jsonLine(line);
}

async function* asBytes(text: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const piece of text) yield Buffer.from(piece);
}

/** An answer in the reader's own pace. Fails as a whole if there is no first piece, and breaks off if a later one fails. */
async function streamed(
  c: Context<AppEnv>,
  app: AppContext,
  pieces: AsyncGenerator<Buffer>,
  headers: Record<string, string>,
): Promise<Response> {
  const first = await pieces.next();
  let hasLeft = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      if (!first.done) controller.enqueue(first.value);
    },
    async pull(controller) {
      try {
        const { done, value } = await pieces.next();
        if (hasLeft) return;
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (thrown) {
        if (hasLeft) return;
        const { code } = toParleyError(thrown);
        app.logger.warn({ requestId: c.get("requestId"), code }, "an export broke off");
        // The reader must see that it is not whole: the connection ends without the answer's end.
        c.env?.outgoing?.destroy();
        controller.error(toParleyError(thrown));
      }
    },
    async cancel() {
      hasLeft = true;
      await pieces.return(undefined);
    },
  });
  return c.body(body, 200, { "cache-control": "no-store, no-transform", ...headers });
}

export const exportEndpoints = [
  endpoint("GET /conversations/:id/export", {
    summary: "Take a conversation out: as lines that can be imported, or as Markdown",
    access: "read",
    params: conversationParams,
    query: exportQuery,
    response: exportLine,
    format: "ndjson",
    handle({ me, params, query, c, app }) {
      const lines = me.exportLines(params.id);
      const isMarkdown = query.format === "markdown";
      const name = `${params.id.replaceAll(/[^A-Za-z0-9._-]/g, "_")}.${isMarkdown ? "md" : "jsonl"}`;
      return streamed(c, app, isMarkdown ? asBytes(toMarkdown(lines)) : asLines(lines), {
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
      me.importLines(readJsonLines(c, app.limits.importBytes) as AsyncIterable<ExportLine>, query),
  }),
];
