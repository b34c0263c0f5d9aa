/** Formats rows in columns; the columns in `right` are right-aligned. */
export function formatTable(columns, rows, right = []) {
  const lines = [columns, ...rows].map((row) => row.map((cell) => String(cell ?? "")));
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => (line[i] ?? "").length)));
  const format = (line) =>
    line.map((cell, i) => (right.includes(i) ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join("  ");
  const [head, ...body] = lines.map((line) => `  ${format(line)}`.trimEnd());
  return [head, `  ${widths.map((width) => "-".repeat(width)).join("  ")}`, ...body].join("\n");
}
