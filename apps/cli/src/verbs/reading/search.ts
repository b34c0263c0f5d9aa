import type { SearchHit } from "@parley/wire";
import { usageError } from "../../cli-error.js";
import { resolveConversation, shortIds } from "../../resolve-id.js";
import { moment } from "../../terminal/figures.js";
import { safeLine } from "../../terminal/safe-text.js";
import { wrap } from "../../terminal/wrap.js";
import type { VerbContext } from "../../verb-context.js";

export interface SearchOptions {
  readonly limit: number;
  /** The conversation to search. */
  readonly in?: string;
  readonly json?: boolean;
}

/** Searches the messages and titles of all conversations, or the messages of one. */
export async function search(
  words: readonly string[],
  options: SearchOptions,
  context: VerbContext,
): Promise<void> {
  const { io } = context;
  const query = words.join(" ");
  if (query.trim() === "") throw usageError("The search is empty.", "Give words: parley search tomatoes");
  const client = await context.client();
  const conversationId = options.in === undefined ? undefined : await resolveConversation(client, options.in);
  const { hits, partial } = await client.request("GET /search", {
    query: { q: query, limit: options.limit, conversationId },
    signal: context.signal,
  });
  if (partial === true)
    io.note("Not everything could be searched in time: there may be more. Try again, or name more words.");
  if (options.json) return io.json(hits);
  if (hits.length === 0) return io.note(`Nothing was found for "${query}".`);
  const short = shortIds([...new Set(hits.map(({ conversationId }) => conversationId))]);
  for (const hit of hits)
    io.lines(hitLines(hit, short.get(hit.conversationId) ?? hit.conversationId, words, context));
}

function hitLines(hit: SearchHit, id: string, words: readonly string[], { io }: VerbContext): string[] {
  const { style } = io;
  const facts = [hit.role, hit.createdAt === undefined ? undefined : moment(hit.createdAt)]
    .filter(Boolean)
    .join(", ");
  const head = `${style.cyan(id)} ${style.dim(hit.seq === 0 ? "title" : `#${hit.seq}`)} ${style.bold(safeLine(hit.title ?? ""))} ${style.dim(facts)}`;
  const marked = safeLine(hit.snippet).replace(pattern(words), (found) => style.yellow(found));
  return [head, ...wrap(marked, { columns: io.columns ?? 100, first: "    ", rest: "    " }), ""];
}

/** The words that were asked for, wherever they stand. */
function pattern(words: readonly string[]): RegExp {
  const parts = words
    .flatMap((word) => word.split(/\s+/))
    .map((word) => word.replace(/^["-]+|"$/g, ""))
    .filter((word) => word !== "")
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return parts.length === 0 ? /$^/ : new RegExp(parts.join("|"), "giu");
}
