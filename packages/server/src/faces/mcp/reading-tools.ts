import { z } from "@hono/zod-openapi";
import { omitUndefined } from "@parley/core/messages";
import type { ConversationMeta, StoredChunk } from "@parley/wire";
import { chunkText } from "../../markdown.js";
import { count, id } from "../../schemas/scalars.js";
import { cutWithNote } from "./cut-text.js";
import { mcpFaceLimits } from "./mcp-face-limits.js";
import { mcpTool } from "./mcp-tool.js";

const { listed, entries: entryLimits } = mcpFaceLimits;

/**
 * Schema of a requested number. More than one answer may have is not an error: the answer reports that there are more.
 */
function howMany({ usual, most }: { readonly usual: number; readonly most: number }) {
  return z.int().min(1).default(usual).describe(`At most ${most}`);
}

const readOnly = { readOnlyHint: true } as const;

export const searchTool = mcpTool({
  name: "search_conversations",
  title: "Search conversations",
  description:
    "Searches the texts and titles of the user's conversations. Returns passages, newest first, each with the conversation's id and the place (seq) to read from.",
  access: "read",
  annotations: readOnly,
  input: z.object({
    query: z.string().min(1).max(mcpFaceLimits.queryCharacters).describe("Words that must occur"),
    limit: howMany(listed),
  }),
  output: z.object({
    hits: z.array(
      z.object({
        conversationId: z.string(),
        seq: count,
        title: z.string().optional(),
        role: z.string().optional(),
        createdAt: z.string().optional(),
        snippet: z.string(),
      }),
    ),
    more: z.boolean().describe("There may be more matches than these"),
  }),
  async run({ query, limit }, { me }) {
    const most = Math.min(limit, listed.most);
    const { hits, partial } = await me.search({ q: query, limit: most });
    const found = hits.map(({ conversationId, seq, snippet, title, role, createdAt }) => ({
      conversationId,
      seq,
      snippet: cutWithNote(snippet, mcpFaceLimits.entryCharacters),
      ...omitUndefined({ title, role, createdAt: dateOf(createdAt) }),
    }));
    const more = partial === true || hits.length >= most;
    const lines = found.map(
      ({ conversationId, seq, title = "", snippet }) => `${conversationId} at ${seq}, "${title}": ${snippet}`,
    );
    const end = more ? ["There may be more: ask for more, or search for something narrower."] : [];
    return {
      text: found.length === 0 ? "Nothing was found." : [...lines, ...end].join("\n"),
      structured: { hits: found, more },
    };
  },
});

const conversationOutput = z.object({
  id: z.string(),
  title: z.string(),
  status: z.string(),
  lastActivityAt: z.string(),
  model: z.string().optional(),
  waiting: z.boolean().optional().describe("Its turn waits for a person's decision or answer"),
});

function describe({ id, title, status, lastActivityAt, effective, waiting }: ConversationMeta) {
  return {
    id,
    title,
    status,
    lastActivityAt: new Date(lastActivityAt).toISOString(),
    ...omitUndefined({ model: effective?.model }),
    ...(waiting === undefined ? {} : { waiting: true }),
  };
}

export const listTool = mcpTool({
  name: "list_conversations",
  title: "List conversations",
  description: "Lists the user's conversations, newest activity first.",
  access: "read",
  annotations: readOnly,
  input: z.object({
    limit: howMany(listed),
    before: z.string().max(2_000).optional().describe("The `nextBefore` of the page before"),
  }),
  output: z.object({ conversations: z.array(conversationOutput), nextBefore: z.string().optional() }),
  async run({ limit, before }, { me }) {
    const { conversations, nextBefore } = await me.list({ limit: Math.min(limit, listed.most), before });
    const shown = conversations.map(describe);
    const lines = shown.map(
      ({ id, title, lastActivityAt, waiting }) =>
        `${id} "${title}", ${lastActivityAt}${waiting === true ? ", waits for somebody" : ""}`,
    );
    const end = nextBefore === undefined ? [] : [`There are more: list again with before=${nextBefore}`];
    return {
      text: shown.length === 0 ? "There are no conversations." : [...lines, ...end].join("\n"),
      structured: { conversations: shown, ...omitUndefined({ nextBefore }) },
    };
  },
});

export const readTool = mcpTool({
  name: "read_conversation",
  title: "Read a conversation",
  description:
    "Reads a conversation: its newest entries, or with sinceSeq those behind that place, oldest first. sinceSeq=0 begins at the start.",
  access: "read",
  annotations: readOnly,
  input: z.object({
    id: id.describe("The conversation"),
    sinceSeq: count.optional().describe("The seq of the last entry that is known"),
    limit: howMany(entryLimits),
  }),
  output: z.object({
    conversation: conversationOutput,
    entries: z.array(
      z.object({
        seq: count,
        role: z.string(),
        type: z.string(),
        text: z.string(),
        turnId: z.string().optional(),
      }),
    ),
    latestSeq: count.describe(
      "The seq of the last entry here: ask with it as sinceSeq for what comes behind",
    ),
    earlier: z.boolean().describe("There are entries before these"),
    later: z.boolean().describe("There are entries behind these"),
    runningTurn: z
      .string()
      .optional()
      .describe("An answer is being made; its entries come when they are done"),
  }),
  async run({ id: conversationId, sinceSeq, limit }, { me }) {
    const meta = await me.meta(conversationId);
    const most = Math.min(limit, entryLimits.most);
    // One more than is shown reveals if there are more. Without a position, the store keeps the newest.
    const bounds = sinceSeq === undefined ? {} : { sinceSeq, beforeSeq: sinceSeq + most + 2 };
    const { chunks } = await me.history({ conversationId, ...bounds, limit: most + 1 });
    const isForward = sinceSeq !== undefined;
    const inOrder = isForward ? chunks.slice(0, most) : chunks.slice(-most);
    const shown = fitting(inOrder, isForward);
    const [first] = shown;
    const last = shown.at(-1);
    const earlier = (first?.seq ?? (sinceSeq ?? 0) + 1) > 1;
    const later = last !== undefined && last.seq < (chunks.at(-1)?.seq ?? 0);
    const entries = shown.map(toEntry);
    const turnId = meta.activeTurn?.turnId;
    const notes = [
      ...(earlier && !isForward
        ? ["Earlier entries are left out: read with sinceSeq=0 from the start."]
        : []),
      ...(later ? [`There are more: read again with sinceSeq=${last.seq}.`] : []),
      ...(turnId === undefined ? [] : ["An answer is being made."]),
    ];
    return {
      text: [
        `"${meta.title}"`,
        ...entries.map(({ seq, role, text }) => `[${seq}] ${role}: ${text}`),
        ...(entries.length === 0 ? ["No entries."] : []),
        ...notes,
      ].join("\n\n"),
      structured: {
        conversation: describe(meta),
        entries,
        latestSeq: last?.seq ?? sinceSeq ?? 0,
        earlier,
        later,
        ...omitUndefined({ runningTurn: turnId }),
      },
    };
  },
});

/**
 * Returns the entries that fit one answer: the first ones when the caller reads forward, else the newest. At least
 * one.
 */
function fitting(chunks: readonly StoredChunk[], isForward: boolean): readonly StoredChunk[] {
  const order = isForward ? chunks : chunks.toReversed();
  let left: number = mcpFaceLimits.answerCharacters;
  const kept: StoredChunk[] = [];
  for (const chunk of order) {
    left -= toEntry(chunk).text.length;
    if (left < 0 && kept.length > 0) break;
    kept.push(chunk);
  }
  return isForward ? kept : kept.reverse();
}

function toEntry({ seq, role, chunk, turnId }: StoredChunk) {
  // A model's reasoning is shown to people, and is of no use to another model.
  const text = chunk.type === "thinking" ? "[reasoning]" : chunkText(chunk);
  return {
    seq,
    role,
    type: chunk.type,
    text: cutWithNote(text, mcpFaceLimits.entryCharacters),
    ...omitUndefined({ turnId }),
  };
}

function dateOf(instant: number | undefined): string | undefined {
  return instant === undefined ? undefined : new Date(instant).toISOString();
}
