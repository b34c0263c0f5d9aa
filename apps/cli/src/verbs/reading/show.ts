import { applyHistory, applyMetrics, initialState, type ParleyClient } from "@parley/client";
import type { StoredChunk } from "@parley/wire";
import { resolveConversation } from "../../resolve-id.js";
import { moment } from "../../terminal/figures.js";
import { loadHighlighter } from "../../terminal/highlighter.js";
import { safeLine } from "../../terminal/safe-text.js";
import { TranscriptView } from "../../transcript/transcript-view.js";
import type { VerbContext } from "../../verb-context.js";

export interface ShowOptions {
  readonly limit?: number;
  readonly reasoning: boolean;
  readonly results?: number;
  readonly json?: boolean;
}

const pageSize = 500;

/** Shows a conversation, whole or its newest entries. */
export async function show(word: string, options: ShowOptions, context: VerbContext): Promise<void> {
  const { io, signal } = context;
  const client = await context.client();
  const id = await resolveConversation(client, word);
  const [meta, chunks, metrics] = await Promise.all([
    client.request("GET /conversations/:id/meta", { params: { id }, signal }),
    readHistory(client, id, options.limit, signal),
    client.request("GET /conversations/:id/metrics", { params: { id }, signal }),
  ]);
  if (options.json) return io.json({ conversation: meta, chunks });
  const { style } = io;
  const facts = [
    id,
    moment(meta.createdAt),
    meta.effective?.model ?? meta.model,
    meta.waiting === undefined ? meta.status : "waiting",
    meta.parentId && `fork of ${meta.parentId} at ${meta.forkedAtSeq}`,
  ];
  io.line(style.bold(safeLine(meta.title) || "(no title)"));
  io.line(style.dim(facts.filter(Boolean).join(" · ")));
  io.line();
  const first = chunks[0]?.seq ?? 1;
  if (first > 1) io.line(style.dim(`… ${first - 1} earlier entries; without -n all are shown`));
  let state = applyHistory(initialState(id), { chunks, latestSeq: chunks.at(-1)?.seq ?? 0 });
  state = applyMetrics(state, metrics.turns);
  const { print, live } = new TranscriptView().update(state, {
    columns: io.columns ?? 100,
    style,
    showReasoning: options.reasoning,
    resultLines: options.results,
    // Summaries that a fork has from its parent may be in force there, which its own data does not say.
    undoneBehind: meta.compactedFrom === undefined ? (meta.forkedAtSeq ?? 0) : undefined,
    highlight: style.enabled ? await loadHighlighter() : undefined,
  });
  io.lines([...print, ...live]);
  for (const { text, mode } of meta.queue.messages)
    io.line(style.dim(`… ${mode ?? "steer"}: ${safeLine(text)}`));
  if (meta.waiting !== undefined) io.note("The turn waits for somebody: `parley pending` shows what for.");
  else if (meta.activeTurn !== undefined) io.note(`A turn is running: parley tail -f ${id}`);
}

/** The log from its beginning, or its newest entries, with the committed part of a turn that is open. */
export async function readHistory(
  client: ParleyClient,
  id: string,
  limit: number | undefined,
  signal: AbortSignal,
): Promise<StoredChunk[]> {
  if (limit !== undefined) {
    const page = await client.request("GET /conversations/:id", {
      params: { id },
      query: { limit, open: true },
      signal,
    });
    return [...page.chunks];
  }
  const chunks: StoredChunk[] = [];
  let beforeSeq: number | undefined;
  for (;;) {
    const page = await client.request("GET /conversations/:id", {
      params: { id },
      query: { limit: pageSize, beforeSeq, open: true },
      signal,
    });
    chunks.unshift(...page.chunks);
    const oldest = page.chunks[0]?.seq ?? 1;
    if (oldest <= 1) return chunks;
    beforeSeq = oldest;
  }
}
