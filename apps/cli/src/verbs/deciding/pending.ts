import { inputRequests } from "@parley/client/input";
import type { PendingRequest } from "@parley/wire";
import { mostPending } from "../../input/find-request.js";
import { viewRequest, waitsFor } from "../../input/request-view.js";
import { resolveConversation, shortIds } from "../../resolve-id.js";
import { dataStart, escapeInvisible } from "../../terminal/data-text.js";
import { ago, moment } from "../../terminal/figures.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

export interface PendingOptions {
  readonly full?: boolean;
  readonly json?: boolean;
}

/** Lists open requests, in all conversations or in one, oldest first. */
export async function pending(
  word: string | undefined,
  options: PendingOptions,
  context: VerbContext,
): Promise<void> {
  const { io, signal } = context;
  const client = await context.client();
  const conversationId = word === undefined ? undefined : await resolveConversation(client, word);
  const requests = await inputRequests(client.request).pending(
    { conversationId, limit: mostPending },
    { signal },
  );
  if (options.json) return io.json(requests);
  if (requests.length === 0) return io.note("Nothing waits for anybody.");
  if (options.full) {
    for (const request of requests) io.lines([...fullLines(request, context), ""]);
    return;
  }
  const ids = shortIds(requests.map(({ requestId }) => requestId));
  const talks = shortIds([...new Set(requests.map(({ conversationId: id }) => id))]);
  const { style } = io;
  const now = Date.now();
  io.lines(
    table<PendingRequest>(
      requests,
      [
        {
          title: "id",
          text: ({ requestId }) => ids.get(requestId) ?? requestId,
          paint: (text) => style.cyan(text),
        },
        { title: "waits for", text: ({ kind }) => waitsFor(kind) },
        {
          title: "tool",
          text: ({ toolName }) => escapeInvisible(toolName),
          paint: (text) => style.bold(text),
        },
        { title: "arguments", text: ({ argumentsText }) => dataStart(argumentsText), shrink: true },
        { title: "why", text: ({ reason }) => escapeInvisible(reason ?? ""), shrink: true },
        { title: "in", text: (request) => talks.get(request.conversationId) ?? "" },
        { title: "since", text: ({ createdAt }) => ago(createdAt, now), paint: (text) => style.dim(text) },
        {
          title: "expires",
          text: ({ expiresAt }) => (expiresAt === undefined ? "never" : moment(expiresAt)),
          paint: (text) => style.dim(text),
        },
      ],
      { columns: io.columns, paintTitle: (text) => style.bold(text) },
    ),
  );
  io.note("`parley pending --full` shows all of it; `parley approve`, `deny` and `answer` take an id.");
}

function fullLines(request: PendingRequest, { io }: VerbContext): string[] {
  const { style } = io;
  const { requestId, conversationId, title } = request;
  const place = `  in ${conversationId}${title === "" ? "" : `, ${escapeInvisible(title)}`}`;
  return [
    style.cyan(requestId),
    ...viewRequest(request, { columns: io.columns ?? 100, style, now: Date.now() }).lines,
    style.dim(place),
  ];
}
