import { safeLine } from "./safe-text.js";
import { clip, textWidth } from "./text-width.js";

/** One column of a table. */
export interface Column<Row> {
  readonly title: string;
  /** The cell's text. It is made safe here; `paint` adds the colours. */
  text(row: Row): string;
  readonly align?: "left" | "right";
  /** True for a column that is cut when the terminal is narrow; of several, the widest first. */
  readonly shrink?: boolean;
  paint?(text: string, row: Row): string;
}

/** Layout of a table. */
export interface TableOptions {
  /** The width of the terminal. Absent: nothing is cut, as for a file. */
  readonly columns?: number | undefined;
  paintTitle?(text: string): string;
}

const gap = "  ";
const leastWidth = 8;

/** Formats rows as aligned lines, with a line of titles above them. */
export function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  options: TableOptions = {},
): string[] {
  const cells = rows.map((row) => columns.map((column) => safeLine(column.text(row))));
  const widths = columns.map((column, index) =>
    Math.max(textWidth(column.title), ...cells.map((line) => textWidth(line[index] ?? ""))),
  );
  if (options.columns !== undefined) shrink(widths, columns, options.columns);
  const { paintTitle = (text: string) => text } = options;
  const head = columns.map(({ title, align }, index) => pad(title, widths[index] ?? 0, align));
  return [
    paintTitle(head.join(gap).trimEnd()),
    ...rows.map((row, line) =>
      columns
        .map(({ align, paint }, index) => {
          const width = widths[index] ?? 0;
          const text = clip(cells[line]?.[index] ?? "", width);
          const last = index === columns.length - 1 && align !== "right";
          const padding = last ? "" : " ".repeat(Math.max(0, width - textWidth(text)));
          const painted = paint === undefined ? text : paint(text, row);
          return align === "right" ? `${padding}${painted}` : `${painted}${padding}`;
        })
        .join(gap),
    ),
  ];
}

/** Narrows the widest of the columns that may be cut, until all of them fit. */
function shrink<Row>(widths: number[], columns: readonly Column<Row>[], available: number): void {
  let over = widths.reduce((sum, width) => sum + width, 0) + gap.length * (widths.length - 1) - available;
  const may = columns.flatMap(({ shrink: gives }, index) => (gives ? [index] : []));
  for (const index of may) {
    const more = Math.max(0, (widths[index] ?? 0) - Math.max(leastWidth, available));
    widths[index] = (widths[index] ?? 0) - more;
    over -= more;
  }
  for (; over > 0; over -= 1) {
    const widest = Math.max(0, ...may.map((index) => widths[index] ?? 0));
    if (widest <= leastWidth) return;
    const place = may.find((index) => widths[index] === widest);
    if (place !== undefined) widths[place] = widest - 1;
  }
}

function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const padding = " ".repeat(Math.max(0, width - textWidth(text)));
  return align === "right" ? `${padding}${text}` : `${text}${padding}`;
}
