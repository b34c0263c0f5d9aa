import { useId } from "react";
import { cx } from "../../ui/cx.js";
import { formatDuration } from "../figures/figures.js";
import { type Timeline, type TimelineBar, type TimelineRow, timeTicks } from "./timeline.js";

const rowHeight = 24;
const barHeight = 12;
const axisHeight = 18;

/** A turn's steps and tools over time, as a drawing. The table beside it has the same in words. */
export function TimelineChart({ timeline, label }: { readonly timeline: Timeline; readonly label: string }) {
  const hatch = useId();
  const { rows, totalMs } = timeline;
  const ticks = timeTicks(totalMs, 4);
  const height = rows.length * rowHeight;
  return (
    <figure className="flex flex-col gap-2">
      <div className="grid grid-cols-[minmax(3.5rem,8rem)_minmax(0,1fr)_auto] gap-x-2 text-xs" aria-hidden>
        <ul>
          {rows.map((row) => (
            <li
              key={row.key}
              title={row.label}
              className={cx(
                "isolate-text truncate leading-6",
                row.kind === "tool" ? "pl-3 text-soft" : "font-medium text-ink",
                row.failed && "text-danger",
              )}
            >
              {row.label}
            </li>
          ))}
        </ul>
        <svg width="100%" height={height + axisHeight} className="overflow-visible" aria-hidden>
          <defs>
            <pattern
              id={hatch}
              width="5"
              height="5"
              patternUnits="userSpaceOnUse"
              patternTransform="rotate(45)"
            >
              <rect width="5" height="5" className="fill-chart-2" opacity="0.35" />
              <rect width="2" height="5" className="fill-chart-2" />
            </pattern>
          </defs>
          {ticks.map((ms, index) => (
            <g key={ms}>
              <line
                x1={percent(ms, totalMs)}
                x2={percent(ms, totalMs)}
                y1={0}
                y2={height}
                className="stroke-line"
              />
              <text
                x={percent(ms, totalMs)}
                y={height + 13}
                textAnchor={index === 0 ? "start" : ms > totalMs * 0.9 ? "end" : "middle"}
                className={cx(
                  "tabular fill-faint text-[0.6875rem]",
                  // On a phone nothing fits beside the last one, which ends at its line.
                  index > 0 && index === ticks.length - 2 && "max-sm:hidden",
                )}
              >
                {ms === 0 ? "0" : formatDuration(ms).replace(".0 ", " ")}
              </text>
            </g>
          ))}
          {rows.map((row, index) => (
            <Bars
              key={row.key}
              row={row}
              top={index * rowHeight}
              totalMs={totalMs}
              hatch={`url(#${hatch})`}
            />
          ))}
        </svg>
        <ul className="tabular text-right text-soft">
          {rows.map((row) => (
            <li key={row.key} className="leading-6">
              {row.durationMs === undefined ? "\u2013" : formatDuration(row.durationMs)}
            </li>
          ))}
        </ul>
      </div>
      <figcaption className="sr-only">{label}</figcaption>
      <ChartLegend hatch={rows.some(({ bars }) => bars.some(({ kind }) => kind === "wait"))} rows={rows} />
    </figure>
  );
}

interface BarsProps {
  readonly row: TimelineRow;
  readonly top: number;
  readonly totalMs: number;
  readonly hatch: string;
}

function Bars({ row, top, totalMs, hatch }: BarsProps) {
  const y = top + (rowHeight - barHeight) / 2;
  if (row.bars.length === 0) {
    return (
      <text x={0} y={top + 16} className="fill-faint text-[0.6875rem]">
        time unknown
      </text>
    );
  }
  return row.bars.map((bar) => (
    <rect
      key={bar.kind}
      x={percent(bar.startMs, totalMs)}
      y={y}
      height={barHeight}
      rx={2}
      // Every bar is visible, however short it was.
      style={{ width: `max(2px, ${percent(bar.endMs - bar.startMs, totalMs)})` }}
      fill={bar.kind === "wait" ? hatch : undefined}
      className={cx(bar.kind !== "wait" && barFill(bar, row), bar.open && "animate-pulse-soft")}
    >
      <title>{barText(bar, row)}</title>
    </rect>
  ));
}

function barFill(bar: TimelineBar, row: TimelineRow): string {
  if (bar.kind === "input") return "fill-line-strong";
  if (row.failed) return "fill-danger";
  return bar.kind === "tool" ? "fill-chart-3" : "fill-chart-1";
}

const barWords: Readonly<Record<TimelineBar["kind"], string>> = {
  wait: "waiting for the first token",
  decode: "writing",
  generate: "waiting and writing",
  input: "waiting for a decision",
  tool: "working",
};

function barText(bar: TimelineBar, row: TimelineRow): string {
  const length = formatDuration(bar.endMs - bar.startMs);
  const state = row.failed && bar.kind !== "input" ? "failed" : barWords[bar.kind];
  return `${row.label}: ${state}, ${length}${bar.open ? " so far" : ""}, from ${formatDuration(bar.startMs)}`;
}

function percent(ms: number, totalMs: number): string {
  return `${Math.min(100, Math.max(0, (ms / totalMs) * 100)).toFixed(3)}%`;
}

function ChartLegend({ hatch, rows }: { readonly hatch: boolean; readonly rows: readonly TimelineRow[] }) {
  const hasTools = rows.some(({ kind }) => kind === "tool");
  const hasInput = rows.some(({ bars }) => bars.some(({ kind }) => kind === "input"));
  const hasFailed = rows.some(({ failed }) => failed);
  return (
    <ul aria-hidden className="flex flex-wrap gap-x-3.5 gap-y-1 text-xs text-soft">
      {hatch && (
        <LegendEntry
          color="bg-[repeating-linear-gradient(45deg,var(--chart-2)_0_2px,transparent_2px_4px)]"
          text="to the first token"
        />
      )}
      <LegendEntry color="bg-chart-1" text="writing" />
      {hasTools && <LegendEntry color="bg-chart-3" text="tool" />}
      {hasInput && <LegendEntry color="bg-line-strong" text="waiting for a decision" />}
      {hasFailed && <LegendEntry color="bg-danger" text="failed" />}
    </ul>
  );
}

/** A color and its meaning. */
export function LegendEntry({ color, text }: { readonly color: string; readonly text: string }) {
  return (
    <li className="flex items-center gap-1.5">
      <span className={cx("size-2.5 shrink-0 rounded-[3px]", color)} />
      {text}
    </li>
  );
}
