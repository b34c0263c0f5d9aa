import { addCosts, formatCost, noCost } from "@parley/client/usage";
import type { CostSum, StepMetrics, TurnMetrics, Usage } from "@parley/wire";
import { resolveConversation } from "../../resolve-id.js";
import { barChart, sparkline } from "../../terminal/chart.js";
import { counted, duration, percent, tokens } from "../../terminal/figures.js";
import type { Style } from "../../terminal/style.js";
import { table } from "../../terminal/table.js";
import type { VerbContext } from "../../verb-context.js";

export interface MetricsOptions {
  readonly limit: number;
  readonly chart: boolean;
  readonly cost?: boolean;
  readonly json?: boolean;
}

interface Row {
  readonly place: number;
  readonly turn: TurnMetrics;
}

/** Latency, tokens and cache of a conversation's turns. */
export async function metrics(word: string, options: MetricsOptions, context: VerbContext): Promise<void> {
  const { io } = context;
  const client = await context.client();
  const id = await resolveConversation(client, word);
  const { turns } = await client.request("GET /conversations/:id/metrics", {
    params: { id },
    signal: context.signal,
  });
  if (options.json) return io.json(turns);
  if (turns.length === 0) return io.note("No turn has ended yet.");
  const rows = turns.map((turn, index) => ({ place: index + 1, turn })).slice(-options.limit);
  const { style } = io;
  io.lines(turnTable(rows, style, io.columns));
  io.line();
  io.lines(totals(turns, style));
  if (!options.chart) return;
  const columns = Math.min(io.columns ?? 80, 100);
  io.line();
  io.line(
    `${style.bold("Time per turn")}  ${style.yellow("█")} first token  ${style.blue("█")} the rest of the answer  ${style.magenta("█")} tools`,
  );
  io.lines(
    barChart(
      rows.map((row) => timeRow(row, style)),
      columns,
    ),
  );
  io.line();
  io.line(
    `${style.bold("Tokens per turn")}  ${style.green("█")} from the cache  ${style.yellow("█")} uncached  ${style.blue("█")} written`,
  );
  io.lines(
    barChart(
      rows.map((row) => tokenRow(row, style)),
      columns,
    ),
  );
  io.line();
  const sizes = turns.map(({ contextSize }) => contextSize).slice(-columns);
  io.line(`${style.bold("Context")}  ${sparkline(sizes)}  ${tokens(sizes.at(-1))} tokens`);
}

function turnTable(rows: readonly Row[], style: Style, columns: number | undefined): string[] {
  return table<Row>(
    rows,
    [
      {
        title: "turn",
        text: ({ place }) => String(place),
        align: "right",
        paint: (text) => style.cyan(text),
      },
      { title: "model", text: ({ turn }) => turn.model ?? "?", shrink: true },
      {
        title: "end",
        text: ({ turn }) => turn.reason ?? "?",
        paint: (text, { turn }) => (turn.reason === "stop" ? style.dim(text) : style.yellow(text)),
      },
      { title: "steps", text: ({ turn }) => String(turn.steps.length), align: "right" },
      { title: "time", text: ({ turn }) => duration(turn.durationMs), align: "right" },
      { title: "first token", text: ({ turn }) => duration(turn.steps[0]?.ttftMs), align: "right" },
      { title: "tokens/s", text: ({ turn }) => rate(turn.steps), align: "right" },
      { title: "in", text: ({ turn }) => tokens(knownUsage(turn)?.inputTokens), align: "right" },
      { title: "cached", text: ({ turn }) => cached(turn.usage), align: "right" },
      { title: "out", text: ({ turn }) => tokens(knownUsage(turn)?.outputTokens), align: "right" },
      { title: "context", text: ({ turn }) => tokens(turn.contextSize), align: "right" },
      ...(rows.some(({ turn }) => turn.cost !== undefined)
        ? [{ title: "cost", text: ({ turn }: Row) => formatCost(costOf(turn)), align: "right" as const }]
        : []),
    ],
    { columns, paintTitle: (text) => style.bold(text) },
  );
}

/** A turn that says nothing of its cost made one call of unknown cost for each step. */
function costOf({ cost, steps }: TurnMetrics): CostSum {
  return cost ?? { calls: steps.length, unknownCalls: steps.length, amounts: [] };
}

/** The usage of a turn, unless none was reported, as of one that was stopped: a call always reads something. */
function knownUsage({ usage }: Pick<TurnMetrics, "usage">): Usage | undefined {
  return usage.inputTokens === 0 && usage.outputTokens === 0 ? undefined : usage;
}

/** Returns the model's output speed, over the steps with a known speed. */
function rate(steps: readonly StepMetrics[]): string {
  const known = steps.filter(({ decodeMs }) => decodeMs !== undefined && decodeMs > 0);
  const ms = known.reduce((sum, { decodeMs = 0 }) => sum + decodeMs, 0);
  if (ms === 0) return "?";
  return String(Math.round((known.reduce((sum, { usage }) => sum + usage.outputTokens, 0) / ms) * 1_000));
}

/** A provider that reports nothing is not one that missed. */
function cached({ cacheReadTokens, inputTokens }: Usage): string {
  return cacheReadTokens === undefined ? "?" : percent(cacheReadTokens, inputTokens);
}

function totals(turns: readonly TurnMetrics[], style: Style): string[] {
  const sum = (pick: (turn: TurnMetrics) => number) => turns.reduce((total, turn) => total + pick(turn), 0);
  const input = sum(({ usage }) => usage.inputTokens);
  const silent = turns.filter((turn) => knownUsage(turn) === undefined).length;
  const unknown = silent === 0 ? "" : `${silent} of unknown usage; `;
  const times = turns
    .flatMap(({ durationMs }) => (durationMs === undefined ? [] : [durationMs]))
    .sort((a, b) => a - b);
  const firsts = turns
    .flatMap(({ steps }) => steps.flatMap(({ ttftMs }) => (ttftMs === undefined ? [] : [ttftMs])))
    .sort((a, b) => a - b);
  const reported = turns.filter(({ usage }) => usage.cacheReadTokens !== undefined);
  const read = reported.reduce((total, { usage }) => total + (usage.cacheReadTokens ?? 0), 0);
  const possible = reported.reduce((total, { usage }) => total + usage.inputTokens, 0);
  const cache = reported.length === 0 ? "not reported" : percent(read, possible);
  const cost = turns.map(costOf).reduce(addCosts, noCost);
  return [
    ...(cost.amounts.length === 0 ? [] : [`${style.bold("cost")}: ${formatCost(cost)}`]),
    `${style.bold(counted(turns.length, "turn"))}: ${unknown}${tokens(input)} tokens read, ${tokens(sum(({ usage }) => usage.outputTokens))} written, from the cache: ${cache}`,
    style.dim(
      `time: median ${duration(middle(times))}, longest ${duration(times.at(-1))}; first token: median ${duration(middle(firsts))}, slowest ${duration(firsts.at(-1))}`,
    ),
  ];
}

const middle = (sorted: readonly number[]) => sorted[Math.floor((sorted.length - 1) / 2)];

function timeRow({ place, turn }: Row, style: Style) {
  const add = (pick: (step: StepMetrics) => number | undefined) =>
    turn.steps.reduce((sum, step) => sum + (pick(step) ?? 0), 0);
  return {
    label: String(place),
    pieces: [
      { value: add(({ ttftMs }) => ttftMs), paint: style.yellow },
      { value: add(({ decodeMs }) => decodeMs), paint: style.blue },
      { value: add(({ toolMs }) => toolMs), paint: style.magenta },
    ],
    note: duration(turn.durationMs),
  };
}

function tokenRow({ place, turn }: Row, style: Style) {
  const { inputTokens, outputTokens, cacheReadTokens = 0 } = turn.usage;
  return {
    label: String(place),
    pieces: [
      { value: cacheReadTokens, paint: style.green },
      { value: inputTokens - cacheReadTokens, paint: style.yellow },
      { value: outputTokens, paint: style.blue },
    ],
    note: tokens(knownUsage(turn) === undefined ? undefined : inputTokens + outputTokens),
  };
}
