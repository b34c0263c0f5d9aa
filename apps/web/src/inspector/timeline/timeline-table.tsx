import { FigureTable } from "../figures/figure-table.js";
import { formatDuration, formatRate, formatTokens, tokensPerSecond } from "../figures/figures.js";
import type { TimelineStep, TimelineTool } from "./timeline.js";

const columns = ["Step", "First token", "Writing", "Speed", "Tools", "Read", "Cached", "Written"];

/** The figures that the chart draws. */
export function TimelineTable({
  steps,
  caption,
}: {
  readonly steps: readonly TimelineStep[];
  readonly caption: string;
}) {
  return (
    <FigureTable
      caption={caption}
      columns={columns}
      rows={steps.flatMap((step, index) => [
        { key: step.stepId, cells: stepCells(step, index) },
        ...step.tools.map((tool) => ({
          key: `${step.stepId}/${tool.toolCallId}`,
          cells: [tool.toolName, "", "", "", toolTime(tool), "", "", ""],
        })),
      ])}
    />
  );
}

function stepCells(step: TimelineStep, index: number): readonly string[] {
  const { usage, complete } = step;
  const time = (ms: number | undefined) => (ms === undefined && !complete ? "under way" : formatDuration(ms));
  const tokens = (count: number | undefined) =>
    usage === undefined && !complete ? "under way" : formatTokens(count);
  const tools = step.toolMs ?? longest(step.tools);
  return [
    `Step ${index + 1}`,
    time(step.ttftMs),
    time(step.decodeMs ?? (step.ttftMs === undefined ? step.genTotalMs : undefined)),
    formatRate(tokensPerSecond(usage?.outputTokens, step.decodeMs)),
    step.tools.length === 0 ? "none" : formatDuration(tools),
    tokens(usage?.inputTokens),
    usage === undefined || usage.cacheReadTokens !== undefined
      ? tokens(usage?.cacheReadTokens)
      : "not reported",
    tokens(usage?.outputTokens),
  ];
}

function toolTime(tool: TimelineTool): string {
  if (tool.status === "waiting") return "waits for a decision";
  const waited = tool.waitedMs === undefined ? "" : `, decided after ${formatDuration(tool.waitedMs)}`;
  if (tool.status === "running") return `under way${waited}`;
  return `${formatDuration(tool.durationMs)}${tool.status === "failed" ? ", failed" : ""}${waited}`;
}

function longest(tools: readonly TimelineTool[]): number | undefined {
  const known = tools.flatMap(({ durationMs }) => (durationMs === undefined ? [] : [durationMs]));
  return known.length === 0 ? undefined : Math.max(...known);
}
