import { textWidth } from "./text-width.js";

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
const levels = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/** A bar of a share of the width, exact to an eighth of a column. A share above nothing is always seen. */
export function bar(share: number, columns: number): string {
  const bounded = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0));
  const units = Math.max(bounded > 0 ? 1 : 0, Math.round(bounded * columns * 8));
  return "█".repeat(Math.floor(units / 8)) + (eighths[units % 8] ?? "");
}

/** A line of small columns, one per value; a gap where a value is unknown. */
export function sparkline(values: readonly (number | undefined)[]): string {
  const most = Math.max(...values.map((value) => value ?? 0));
  return values
    .map((value) => {
      if (value === undefined) return " ";
      const level = most === 0 ? 0 : Math.round((value / most) * (levels.length - 1));
      return levels[level] ?? "";
    })
    .join("");
}

/** One bar of a chart, made of consecutive pieces. */
export interface ChartRow {
  readonly label: string;
  readonly pieces: readonly { readonly value: number; paint?(text: string): string }[];
  /** Behind the bar. */
  readonly note: string;
}

/** Bars below each other, on one scale. */
export function barChart(rows: readonly ChartRow[], columns: number): string[] {
  const labels = Math.max(0, ...rows.map(({ label }) => textWidth(label)));
  const notes = Math.max(0, ...rows.map(({ note }) => textWidth(note)));
  const barWidth = Math.max(10, columns - labels - notes - 4);
  const sums = rows.map(({ pieces }) => pieces.reduce((sum, { value }) => sum + value, 0));
  const most = Math.max(0, ...sums);
  return rows.map(({ label, pieces, note }) => {
    let drawn = 0;
    let sum = 0;
    const bars = pieces.map(({ value, paint = (text: string) => text }, index) => {
      sum += value;
      // Inner pieces are whole columns, so that the next one begins where this one ends.
      const last = index === pieces.length - 1;
      const end = most === 0 ? 0 : (sum / most) * barWidth;
      const text = last
        ? bar((end - drawn) / barWidth, barWidth)
        : "█".repeat(Math.max(0, Math.round(end) - drawn));
      drawn += textWidth(text);
      return paint(text);
    });
    return `${label}${" ".repeat(labels - textWidth(label))}  ${bars.join("")}${" ".repeat(Math.max(0, barWidth - drawn))}  ${note}`;
  });
}
