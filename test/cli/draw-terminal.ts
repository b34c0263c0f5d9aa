import type headless from "@xterm/headless";
import type { Browser } from "playwright-core";

const background = "#16181d";
const ink = "#dfe3ea";
/** The sixteen colors of a terminal, in their order. */
const palette = [
  "#2b303b",
  "#f0717a",
  "#7fd88f",
  "#e5c07b",
  "#6cb0f5",
  "#c792ea",
  "#5fd3d8",
  "#dfe3ea",
  "#5c6370",
  "#ff8b92",
  "#98e6a6",
  "#f0d399",
  "#8cc4ff",
  "#d7a9f5",
  "#7fe3e8",
  "#ffffff",
];

/** Frame of a picture of a terminal. */
export interface PictureOptions {
  readonly title: string;
}

/** Draws a terminal as a picture, cell by cell, in a browser. */
export async function drawTerminal(
  browser: Browser,
  rows: readonly string[],
  options: PictureOptions,
): Promise<Buffer> {
  const tab = await browser.newPage({ viewport: { width: 1200, height: 800 }, deviceScaleFactor: 2 });
  try {
    await tab.setContent(pageOf(rows, options.title));
    return await tab.locator(".paper").screenshot();
  } finally {
    await tab.close();
  }
}

/** Returns the current rows of a terminal as HTML. */
export function htmlRows(buffer: Buffered): string[] {
  const rows: string[] = [];
  for (let row = 0; row < buffer.length; row += 1) rows.push(rowOf(buffer, row));
  while (rows.length > 0 && rows.at(-1) === "") rows.pop();
  return rows;
}

type Buffered = headless.Terminal["buffer"]["active"];

/** Returns a row as HTML. Neighboring cells with the same style share one element. */
function rowOf(buffer: Buffered, row: number): string {
  const line = buffer.getLine(row);
  if (line === undefined) return "";
  const cursor = buffer.baseY + buffer.cursorY === row ? buffer.cursorX : -1;
  let html = "";
  let text = "";
  let look = "";
  const flush = () => {
    html += look === "" ? text : `<span style="${look}">${text}</span>`;
    text = "";
  };
  let end = line.length;
  while (end > 0 && (line.getCell(end - 1)?.getChars() ?? "") === "" && end - 1 !== cursor) end -= 1;
  for (let column = 0; column < end; column += 1) {
    const cell = line.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const next = column === cursor ? `background:${ink};color:${background}` : lookOf(cell);
    if (next !== look) flush();
    look = next;
    text += escaped(cell.getChars() || " ");
  }
  flush();
  return html;
}

type Cell = NonNullable<ReturnType<NonNullable<ReturnType<Buffered["getLine"]>>["getCell"]>>;

function lookOf(cell: Cell): string {
  const looks: string[] = [];
  if (cell.isFgPalette()) looks.push(`color:${palette[cell.getFgColor()] ?? ink}`);
  if (cell.isBold()) looks.push("font-weight:600");
  if (cell.isDim()) looks.push("opacity:.55");
  if (cell.isItalic()) looks.push("font-style:italic");
  if (cell.isUnderline()) looks.push("text-decoration:underline");
  return looks.join(";");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function pageOf(rows: readonly string[], title: string): string {
  const dots = ["#ff5f57", "#febc2e", "#28c840"]
    .map((colour) => `<i style="background:${colour}"></i>`)
    .join("");
  return `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0 }
    .paper { display: inline-block; padding: 36px 40px 44px; background: linear-gradient(160deg, #e9e6df, #d9dee6) }
    .window { border-radius: 12px; overflow: hidden; background: ${background}; box-shadow: 0 18px 50px rgb(20 24 32 / 35%) }
    .bar { position: relative; height: 36px; background: #20242b; color: #99a1ad; text-align: center;
      font: 500 13px/36px system-ui, "DejaVu Sans", sans-serif }
    .bar i { float: left; width: 12px; height: 12px; margin: 12px 0 0 8px; border-radius: 50% }
    .bar i:first-child { margin-left: 14px }
    .bar span { position: absolute; left: 0; right: 0 }
    pre { margin: 0; padding: 20px 24px 22px; color: ${ink};
      font: 14px/1.5 "JetBrains Mono", "DejaVu Sans Mono", "Liberation Mono", monospace; font-variant-ligatures: none }
  </style><div class="paper"><div class="window"><div class="bar">${dots}<span>${escaped(title)}</span></div><pre>${rows
    .map((row) => row || " ")
    .join("\n")}</pre></div></div>`;
}
