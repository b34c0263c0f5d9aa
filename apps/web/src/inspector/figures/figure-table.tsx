import type { ReactNode } from "react";
import { cx } from "../../ui/cx.js";

export interface FigureTableProps {
  /** Subject of the table, for screen readers. */
  readonly caption: string;
  readonly columns: readonly string[];
  /** The first cell names the row. */
  readonly rows: readonly { readonly key: string; readonly cells: readonly ReactNode[] }[];
  /**
   * Background of the table: the names of rows stay in place above what scrolls, in the same color. Default `panel`.
   */
  readonly surface?: "panel" | "canvas";
}

/** Figures in a table that scrolls sideways if it does not fit. */
export function FigureTable({ caption, columns, rows, surface = "panel" }: FigureTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label={caption} tabIndex={0} className="overflow-x-auto rounded-md border border-line">
      <table className="tabular w-full border-collapse text-xs">
        <caption className="sr-only">{caption}</caption>
        <thead>
          <tr className="bg-sunken text-left text-faint">
            {columns.map((column, index) => (
              <th
                key={column}
                scope="col"
                className={cx(
                  "px-2.5 py-1.5 font-medium whitespace-nowrap",
                  index === 0 ? "sticky left-0 bg-sunken" : "text-right",
                )}
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} className="border-t border-line">
              {row.cells.map((cell, index) =>
                index === 0 ? (
                  <th
                    key={columns[index]}
                    scope="row"
                    title={typeof cell === "string" ? cell : undefined}
                    className={cx(
                      "sticky left-0 max-w-36 truncate px-2.5 py-1.5 text-left font-medium text-ink",
                      surface === "panel" ? "bg-panel" : "bg-canvas",
                    )}
                  >
                    {cell}
                  </th>
                ) : (
                  <td key={columns[index]} className="px-2.5 py-1.5 text-right whitespace-nowrap text-soft">
                    {cell}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
