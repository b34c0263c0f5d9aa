import { Sheet, Table2 } from "lucide-react";
import type { Tokens } from "marked";
import { memo } from "react";
import { CopyButton } from "../../../ui/text/copy-button.js";
import { Inline } from "../inline.js";
import { Pieces } from "../pieces.js";
import { tableToCsv } from "./table-text.js";

/** A larger table is drawn in pieces: cells cost far more than lines. */
const cellsPerPiece = 2_000;

/** A table, with buttons that copy it. */
export function MarkdownTable({ token }: { readonly token: Tokens.Table }) {
  const { header, rows } = token;
  return (
    <div className="md-table">
      <Pieces
        items={rows}
        size={Math.max(20, Math.floor(cellsPerPiece / Math.max(1, header.length)))}
        noun="rows"
        draw={(shown) => (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable
          <section aria-label="Table" tabIndex={0}>
            <table>
              <thead>
                <tr>
                  {header.map((cell, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a cell is what stands at its place
                    <th key={index} dir="auto" style={alignment(cell)}>
                      <Inline tokens={cell.tokens} />
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {shown.map((cells, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a row is what stands at its place
                  <Row key={index} cells={cells} />
                ))}
              </tbody>
            </table>
          </section>
        )}
      />
      <div className="md-table-actions">
        <CopyButton text={() => tableToCsv(token)} label="Copy table as CSV" icon={<Sheet aria-hidden />} />
        <CopyButton
          text={() => token.raw.trimEnd()}
          label="Copy table as Markdown"
          icon={<Table2 aria-hidden />}
        />
      </div>
    </div>
  );
}

/** A growing table is parsed again each time; only the rows that differ are drawn. */
const Row = memo(
  function Row({ cells }: { readonly cells: readonly Tokens.TableCell[] }) {
    return (
      <tr>
        {cells.map((cell, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a cell is what stands at its place
          <td key={index} dir="auto" style={alignment(cell)}>
            <Inline tokens={cell.tokens} />
          </td>
        ))}
      </tr>
    );
  },
  (before, after) =>
    before.cells.length === after.cells.length &&
    before.cells.every((cell, index) => {
      const other = after.cells[index];
      return cell.text === other?.text && cell.align === other.align;
    }),
);

function alignment({
  align,
}: Tokens.TableCell): { readonly textAlign: "center" | "left" | "right" } | undefined {
  return align === null ? undefined : { textAlign: align };
}
