import type { ConversationMeta, ConversationStatus } from "@parley/wire";
import { shortIds } from "../../resolve-id.js";
import { ago } from "../../terminal/figures.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

export interface LsOptions {
  readonly status?: ConversationStatus;
  /** Only those that would use this model. */
  readonly model?: string;
  readonly limit: number;
  readonly all?: boolean;
  readonly json?: boolean;
}

const pageSize = 100;

/** Lists conversations, pinned ones first and newest activity first. */
export async function ls(query: string | undefined, options: LsOptions, context: VerbContext): Promise<void> {
  const { io } = context;
  const client = await context.client();
  const found: ConversationMeta[] = [];
  const most = options.all ? Number.POSITIVE_INFINITY : options.limit;
  let before: string | undefined;
  do {
    const page = await client.request("GET /conversations", {
      query: {
        q: query,
        status: options.status && [options.status],
        model: options.model,
        pinned: "first",
        limit: Math.min(pageSize, most - found.length),
        before,
      },
      signal: context.signal,
    });
    found.push(...page.conversations);
    before = page.nextBefore;
  } while (before !== undefined && found.length < most);
  if (options.json) return io.json(found);
  if (found.length === 0) {
    io.note(nothingFound(query, options));
    return;
  }
  const short = shortIds(found.map(({ id }) => id));
  const now = Date.now();
  const { style } = io;
  io.lines(
    table<ConversationMeta>(
      found,
      [
        { title: "id", text: ({ id }) => short.get(id) ?? id, paint: (text) => style.cyan(text) },
        { title: "title", text: ({ title }) => title || "(no title)", shrink: true },
        {
          title: "status",
          text: statusOf,
          paint: (text, { status, waiting }) =>
            status !== "active"
              ? style.dim(text)
              : waiting === undefined
                ? style.green(text)
                : style.yellow(text),
        },
        {
          title: "model",
          text: ({ effective, model }) => effective?.model ?? model ?? "",
          shrink: true,
          paint: (text) => style.dim(text),
        },
        {
          title: "active",
          text: ({ lastActivityAt }) => ago(lastActivityAt, now),
          paint: (text) => style.dim(text),
        },
      ],
      { columns: io.columns, paintTitle: (text) => style.bold(text) },
    ),
  );
  if (before !== undefined) io.note(`There are more: --all, or -n with a larger number.`);
}

function nothingFound(query: string | undefined, { status, model }: LsOptions): string {
  if (query !== undefined) return `No conversation matches "${query}".`;
  if (model !== undefined) return `No conversation uses the model ${model}.`;
  return status === undefined ? "There is no conversation yet." : `No conversation is ${status}.`;
}

function statusOf({ status, parentId, waiting, pinned }: ConversationMeta): string {
  const word = status !== "active" ? status : waiting === undefined ? "running" : "waiting";
  return [word, ...(pinned ? ["pinned"] : []), ...(parentId === undefined ? [] : ["fork"])].join(", ");
}
