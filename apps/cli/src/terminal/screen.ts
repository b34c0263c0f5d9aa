import { safeStyled } from "./safe-text.js";
import { textWidth } from "./text-width.js";

/** The area at the bottom of the terminal that is redrawn whenever it changes. */
export interface LiveArea {
  /** Rows above the line that is typed; the oldest ones are left out where the terminal is too low. */
  readonly rows: readonly string[];
  /** The typed line, with the cursor in it. */
  readonly line?: {
    readonly rows: readonly string[];
    readonly cursorRow: number;
    readonly cursorColumn: number;
  };
  /** Rows below it, such as hints. */
  readonly below?: readonly string[];
}

/** The part of a terminal that is used. */
export interface TerminalOutput {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

const esc = "\u001B[";
/** Terminals that know these show everything between them at once, without flicker; others ignore them. */
const beginFrame = `${esc}?2026h`;
const endFrame = `${esc}?2026l`;

/**
 * A terminal of which the bottom is ours: finished lines go up into the scrollback and are never touched again, the
 * live area below them is cleared and redrawn. So a line can be typed while an answer streams above it, and the
 * scrollback stays an ordinary one.
 */
export class Screen {
  readonly #output: TerminalOutput;
  #drawn: readonly string[] = [];
  #cursorRow = 0;
  #pending: string[] = [];
  #area: LiveArea = { rows: [] };
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(output: TerminalOutput) {
    this.#output = output;
  }

  get columns(): number {
    return this.#output.columns ?? 80;
  }

  get height(): number {
    return this.#output.rows ?? 24;
  }

  /** Prints lines that stay. They appear above the live area with the next frame. */
  print(lines: readonly string[]): void {
    for (const line of lines) this.#pending.push(safeStyled(line));
    this.#schedule();
  }

  /** Sets the content of the live area. */
  show(area: LiveArea): void {
    this.#area = area;
    this.#schedule();
  }

  /** The terminal has another size: rows may be wrapped differently, so the old ones are counted again. */
  resized(): void {
    const { columns } = this;
    const heightOf = (row: string) => Math.max(1, Math.ceil(textWidth(row) / columns));
    this.#cursorRow = this.#drawn.slice(0, this.#cursorRow + 1).reduce((sum, row) => sum + heightOf(row), -1);
    this.#schedule();
  }

  /** Wipes the whole terminal, as Ctrl-L does. */
  clear(): void {
    this.#output.write(`${esc}2J${esc}H`);
    this.#drawn = [];
    this.#cursorRow = 0;
    this.draw();
  }

  /** Draws at once. */
  draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#closed) return;
    const { rows, cursorRow, cursorColumn } = this.#layout();
    const up = this.#cursorRow > 0 ? `${esc}${this.#cursorRow}A` : "";
    const wipe = `\r${up}${esc}J`;
    const finished = this.#pending.map((line) => `${line}${esc}0m\r\n`).join("");
    const below = rows.length - 1 - cursorRow;
    const back = `${below > 0 ? `${esc}${below}A` : ""}\r${cursorColumn > 0 ? `${esc}${cursorColumn}C` : ""}`;
    this.#output.write(
      `${beginFrame}${wipe}${finished}${rows.join(`${esc}0m\r\n`)}${esc}0m${back}${endFrame}`,
    );
    this.#pending = [];
    this.#drawn = rows;
    this.#cursorRow = cursorRow;
  }

  /** Leaves the finished lines and takes the live area away. */
  close(): void {
    if (this.#closed) return;
    this.#area = { rows: [] };
    this.draw();
    this.#closed = true;
  }

  #layout(): { rows: string[]; cursorRow: number; cursorColumn: number } {
    const { rows, line, below = [] } = this.#area;
    const most = Math.max(1, this.height - 1 - below.length);
    // Of a typed text that is higher than the terminal, the part around the cursor.
    const first = line === undefined ? 0 : Math.max(0, line.cursorRow - most + 1);
    const typed = line?.rows.slice(first, first + most) ?? [];
    const above = rows.slice(Math.max(0, rows.length - (most - typed.length)));
    const all = [...above, ...typed, ...below].map(safeStyled);
    if (all.length === 0) return { rows: [""], cursorRow: 0, cursorColumn: 0 };
    if (line === undefined) return { rows: all, cursorRow: all.length - 1, cursorColumn: 0 };
    return { rows: all, cursorRow: above.length + line.cursorRow - first, cursorColumn: line.cursorColumn };
  }

  /** Many changes, one frame. */
  #schedule(): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => this.draw(), 16);
  }
}
