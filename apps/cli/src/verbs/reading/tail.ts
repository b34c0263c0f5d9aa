import { applyHistory, type ConversationState, initialState } from "@parley/client";
import { exitCodes } from "../../cli-error.js";
import { resolveConversation } from "../../resolve-id.js";
import { Screen } from "../../terminal/screen.js";
import { TranscriptView } from "../../transcript/transcript-view.js";
import type { VerbContext } from "../../verb-context.js";
import { readHistory } from "./show.js";

export interface TailOptions {
  readonly follow?: boolean;
  readonly limit: number;
  readonly jsonl?: boolean;
  readonly reasoning: boolean;
}

/** The newest entries of a conversation, and with `-f` everything that comes. */
export async function tail(word: string, options: TailOptions, context: VerbContext): Promise<number> {
  const { io, signal } = context;
  const { client, via, config } = await context.connect({ socket: true });
  const id = await resolveConversation(client, word);
  if (options.jsonl) {
    await tailLines(id, options, context);
    return exitCodes.ok;
  }
  if (!options.follow) {
    const chunks = await readHistory(client, id, options.limit, signal);
    const state = applyHistory(initialState(id), { chunks, latestSeq: chunks.at(-1)?.seq ?? 0 });
    const view = { columns: io.columns ?? 100, style: io.style, showReasoning: options.reasoning };
    const { print, live } = new TranscriptView().update(state, view);
    io.lines([...print, ...live]);
    return exitCodes.ok;
  }
  const connection = client.connect();
  const handle = connection.conversation(id);
  try {
    await followState(handle, options, context);
    if (via === "here" && config?.store.kind === "folder") {
      io.note("No server runs on this store, so nothing more can happen in it.");
      return exitCodes.ok;
    }
    let away = false;
    connection.subscribe(() => {
      const { phase } = connection.getState();
      if (phase === "waiting" && !away) io.note("The connection broke; reconnecting ...");
      away = phase === "waiting" || (away && phase !== "open");
    });
    await new Promise<void>((resolve) => {
      const off = context.onInterrupt(() => {
        off();
        resolve();
      });
    });
    return exitCodes.interrupted;
  } finally {
    handle.release();
  }
}

interface Followed {
  getState(): ConversationState;
  subscribe(listener: () => void): () => void;
}

/** Prints what there is, and whatever comes after this call has returned. */
async function followState(handle: Followed, options: TailOptions, { io }: VerbContext): Promise<void> {
  const view = new TranscriptView();
  const screen = io.isTerminal ? new Screen(process.stdout) : undefined;
  let begun = false;
  const draw = () => {
    const state = handle.getState();
    if (state.phase === "loading") return;
    if (!begun) view.skip(state, countBefore(state, options.limit));
    begun = true;
    const shown = { columns: io.columns ?? 100, style: io.style, showReasoning: options.reasoning };
    const { print, live } = view.update(state, shown);
    if (screen === undefined) io.lines(print);
    else {
      screen.print(print);
      screen.show({ rows: live });
    }
  };
  handle.subscribe(draw);
  if (handle.getState().phase === "loading") {
    await new Promise<void>((resolve) => {
      const off = handle.subscribe(() => {
        if (handle.getState().phase === "loading") return;
        off();
        resolve();
      });
    });
  }
  draw();
  screen?.draw();
}

/** Number of messages before the newest entries. */
function countBefore({ messages }: ConversationState, limit: number): number {
  const newest = messages.findLast(({ lastSeq }) => lastSeq !== undefined)?.lastSeq ?? 0;
  return messages.findLastIndex(({ lastSeq }) => lastSeq !== undefined && lastSeq <= newest - limit) + 1;
}

/** The log as JSON: stored chunks first, then with `-f` the events as they come. */
async function tailLines(id: string, options: TailOptions, context: VerbContext): Promise<void> {
  const { io, signal } = context;
  const client = await context.client();
  const detail = await client.request("GET /conversations/:id/meta", { params: { id }, signal });
  for (const chunk of await readHistory(client, id, options.limit, signal)) io.jsonLine(chunk);
  if (!options.follow) return;
  const abort = new AbortController();
  const off = context.onInterrupt(() => abort.abort());
  try {
    for await (const frame of client.follow(id, { cursor: detail.cursor, signal: abort.signal }))
      io.jsonLine(frame);
  } catch (error) {
    if (!abort.signal.aborted) throw error;
  } finally {
    off();
  }
}
