import { useEffect, useRef, useState } from "react";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "../../app/theme.js";
import { LegendEntry } from "../timeline/timeline-chart.js";
import type { TrendValues } from "./trends.js";

/** One line of a chart. */
export interface TrendSeries {
  readonly label: string;
  readonly values: TrendValues;
  /** Name of one of the page's own colors, such as `chart-1`. */
  readonly color: "chart-1" | "chart-2" | "chart-3" | "chart-4" | "chart-5";
}

export interface TrendChartProps {
  /** Subject of the chart, for screen readers. */
  readonly label: string;
  /** Position of each turn on the axis, in order. */
  readonly turns: readonly number[];
  readonly names: readonly string[];
  readonly series: readonly TrendSeries[];
  readonly format: (value: number) => string;
  /** End of the axis, if it is fixed. */
  readonly max?: number | undefined;
  readonly onPick: (index: number) => void;
}

const height = 128;
const legendColors = {
  "chart-1": "bg-chart-1",
  "chart-2": "bg-chart-2",
  "chart-3": "bg-chart-3",
  "chart-4": "bg-chart-4",
  "chart-5": "bg-chart-5",
};

/**
 * Figures over the turns, as a drawing. The table beside it has the same figures, and its rows can be reached by
 * keyboard.
 */
export function TrendChart({ label, turns, names, series, format, max, onPick }: TrendChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useTheme((state) => state.theme);
  const [hovered, setHovered] = useState<number | undefined>();
  const [failed, setFailed] = useState(false);
  const latest = useRef({ format, onPick });
  latest.current = { format, onPick };
  useEffect(() => {
    const element = place.current;
    if (element === null || theme === undefined) return;
    let leave = () => {};
    let isLeft = false;
    // The library fails to load if the browser's language has a form that it does not expect.
    import("uplot").then(
      ({ default: Chart }) => {
        if (isLeft) return;
        const chart = new Chart(
          chartOptions(element, { turns, series, max }, latest, setHovered),
          [[...turns], ...series.map(({ values }) => [...values])],
          element,
        );
        const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
        observer.observe(element);
        leave = () => {
          observer.disconnect();
          chart.destroy();
        };
      },
      () => setFailed(true),
    );
    return () => {
      isLeft = true;
      leave();
    };
  }, [turns, series, max, theme]);
  const shown = hovered ?? turns.length - 1;
  return (
    <figure className="flex flex-col gap-1.5">
      {failed && <p className="text-sm text-soft">This browser cannot draw it; the table has the figures.</p>}
      <div
        ref={place}
        role="img"
        hidden={failed}
        aria-label={label}
        className="w-full cursor-pointer"
        style={{ height }}
      />
      <figcaption className="flex flex-wrap items-center gap-x-3.5 gap-y-1 text-xs text-soft">
        <span className="tabular text-faint">{names[shown] ?? ""}</span>
        <ul className="tabular flex flex-wrap gap-x-3.5">
          {series.map(({ label: name, values, color }) => {
            const value = values[shown];
            const text = value === null || value === undefined ? "unknown" : format(value);
            return <LegendEntry key={name} color={legendColors[color]} text={`${name} ${text}`} />;
          })}
        </ul>
      </figcaption>
    </figure>
  );
}

function chartOptions(
  element: HTMLElement,
  { turns, series, max }: Pick<TrendChartProps, "turns" | "series" | "max">,
  latest: { readonly current: Pick<TrendChartProps, "format" | "onPick"> },
  onHover: (index: number | undefined) => void,
): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis: uPlot.Axis = {
    stroke: color("faint"),
    font: `11px ${style.fontFamily}`,
    grid: { stroke: color("line"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: [(turns[0] ?? 1) - 0.5, (turns.at(-1) ?? 1) + 0.5] },
      y: { range: (_chart, _low, high) => [0, max ?? Math.max(1, high * 1.1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        gap: 6,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 10_000],
        values: (_chart, places) => places.map((place) => (Number.isInteger(place) ? String(place) : "")),
      },
      {
        ...axis,
        size: 56,
        space: 24,
        gap: 4,
        values: (_chart, values) => values.map((value) => latest.current.format(value).replace(".0 ", " ")),
      },
    ],
    series: [
      {},
      ...series.map((line) => ({
        label: line.label,
        stroke: color(line.color),
        width: 1.75,
        // A gap is an unknown turn; a line over it would be a guess.
        spanGaps: false,
        points: { show: turns.length <= 40, size: 5, fill: color(line.color), stroke: color(line.color) },
      })),
    ],
    cursor: {
      y: false,
      drag: { x: false, y: false, setScale: false },
      points: { size: 7 },
      bind: {
        click: (chart) => () => {
          const index = chart.cursor.idx;
          if (typeof index === "number") latest.current.onPick(index);
          return null;
        },
      },
    },
    hooks: { setCursor: [(chart) => onHover(chart.cursor.idx ?? undefined)] },
  };
}
