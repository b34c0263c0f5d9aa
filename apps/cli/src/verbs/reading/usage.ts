import { formatAmounts, formatCost, readUsage } from "@parley/client/usage";
import { omitUndefined } from "@parley/fold";
import type { UsageGroup, UsageGrouping, UsageSums } from "@parley/wire";
import { counted, tokens } from "../../terminal/figures.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

export interface UsageOptions {
  readonly by?: UsageGrouping;
  readonly from?: string;
  readonly to?: string;
  readonly owner?: string;
  readonly allOwners?: boolean;
  readonly limit: number;
  readonly json?: boolean;
}

/** Tokens and cost over all conversations, by day, model, conversation or owner. */
export async function usage(options: UsageOptions, context: VerbContext): Promise<void> {
  const { io } = context;
  const { by, from, to, owner, limit } = options;
  const client = await context.client();
  const owners = options.allOwners || by === "owner" ? ("all" as const) : undefined;
  const answer = await readUsage(client, omitUndefined({ by, from, to, owner, owners, limit }), {
    signal: context.signal,
  });
  if (options.json) return io.json(answer);
  const { style } = io;
  const { groups, total, omitted } = answer;
  if (total.calls === 0) return io.note(`No calls from ${answer.from} to ${answer.to}.`);
  io.lines(
    table<UsageGroup>(
      groups,
      [
        { title: answer.by, text: nameOf, shrink: true, paint: (text) => style.cyan(text) },
        { title: "calls", text: ({ calls }) => String(calls), align: "right" },
        { title: "in", text: ({ usage }) => tokens(usage.inputTokens), align: "right" },
        { title: "cached", text: ({ usage }) => tokens(usage.cacheReadTokens), align: "right" },
        { title: "out", text: ({ usage }) => tokens(usage.outputTokens), align: "right" },
        { title: "cost", text: ({ amounts }) => formatAmounts(amounts) ?? "unknown", align: "right" },
        { title: "unknown", text: ({ unknownCalls }) => String(unknownCalls), align: "right" },
      ],
      { columns: io.columns, paintTitle: (text) => style.bold(text) },
    ),
  );
  if (omitted !== undefined) io.note(`${counted(omitted, "more")}: raise --limit to see them.`);
  io.line();
  io.line(`${style.bold(`${answer.from} to ${answer.to}`)}: ${totalLine(total)}`);
}

function nameOf({ day, model, conversationId, title, owner }: UsageGroup): string {
  const conversation = conversationId === undefined ? undefined : `${conversationId}  ${title ?? ""}`;
  return day ?? model ?? conversation ?? owner ?? "deleted, or of no conversation";
}

function totalLine(total: UsageSums): string {
  const { calls, usage } = total;
  return `${formatCost(total)} for ${counted(calls, "call")}, ${tokens(usage.inputTokens)} tokens read, ${tokens(usage.outputTokens)} written`;
}
