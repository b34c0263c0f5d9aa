import type { ExportLine } from "@parley/wire";
import { endpoint } from "../http/endpoint.js";
import { readJsonLines } from "../http/read-body.js";
import { toMarkdown } from "../markdown.js";
import { conversationParams } from "../schemas/conversation.js";
import { exportLine, exportQuery, importQuery, importResponse } from "../schemas/exported.js";
import { jsonLine } from "../stream/ndjson.js";
import { streamPieces } from "../stream/stream-pieces.js";

async function* asLines(lines: AsyncIterable<ExportLine>): AsyncGenerator<Buffer> {
  for await (const line of lines) yield jsonLine(line);
}

async function* asBytes(text: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const piece of text) yield Buffer.from(piece);
}

export const exportEndpoints = [
  endpoint("GET /conversations/:id/export", {
    operationId: "exportConversation",
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
      return streamPieces({ c, app, caller }, isMarkdown ? asBytes(toMarkdown(lines)) : asLines(lines), {
        "content-type": isMarkdown ? "text/markdown; charset=utf-8" : "application/x-ndjson; charset=utf-8",
        "content-disposition": `attachment; filename="${name}"`,
      });
    },
  }),
  endpoint("POST /import", {
    operationId: "importConversations",
    refusals: [409],
    summary: "Bring a conversation in, from the lines of an export. The same file again changes nothing",
    access: "write",
    query: importQuery,
    lines: exportLine,
    response: importResponse,
    handle: ({ me, query, c, app }) =>
      // The runtime checks each line as it imports it.
      me.importLines(readJsonLines(c, app, app.limits.importBytes) as AsyncIterable<ExportLine>, query),
  }),
];
