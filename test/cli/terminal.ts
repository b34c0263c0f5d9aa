import { type IPty, spawn } from "@lydell/node-pty";
import headless from "@xterm/headless";
import { htmlRows } from "./draw-terminal.js";
import type { Workplace } from "./parley-process.js";

/** Keys as a terminal sends them. */
export const keys = {
  enter: "\r",
  altEnter: "\u001B\r",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  ctrlJ: "\n",
  up: "\u001B[A",
  left: "\u001B[D",
  home: "\u001B[H",
  tab: "\t",
  backspace: "\u007F",
} as const;

/** A terminal with a program in it, as a person sees it. */
export class Terminal {
  readonly #pty: IPty;
  readonly #screen: headless.Terminal;
  readonly #waiting = new Set<() => void>();
  #raw = "";
  #exit: { exitCode: number; signal?: number | undefined } | undefined;

  constructor(
    place: Workplace,
    args: readonly string[],
    size = { cols: 90, rows: 30 },
    env: NodeJS.ProcessEnv = {},
  ) {
    const [command, all] = place.command(...args);
    this.#screen = new headless.Terminal({ ...size, scrollback: 5_000, allowProposedApi: true });
    this.#pty = spawn(command, all, {
      ...size,
      name: "xterm-256color",
      cwd: place.folder,
      env: { ...place.env, TERM: "xterm-256color", ...env } as Record<string, string>,
    });
    this.#pty.onData((data) => {
      this.#raw += data;
      this.#screen.write(data, () => this.#look());
    });
    this.#pty.onExit((exit) => {
      this.#exit = exit;
      this.#look();
    });
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  resize(cols: number, rows: number): void {
    this.#screen.resize(cols, rows);
    this.#pty.resize(cols, rows);
  }

  /** Returns every byte that the program has written, as text. */
  raw(): string {
    return this.#raw;
  }

  /** Returns everything, the scrollback included. */
  text(): string {
    const { active } = this.#screen.buffer;
    const lines: string[] = [];
    for (let row = 0; row < active.length; row += 1)
      lines.push(active.getLine(row)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }

  /** Returns the visible part, for a picture. */
  snapshot(): string[] {
    return htmlRows(this.#screen.buffer.active);
  }

  /** Returns the line that the cursor is in, and the column. */
  cursor(): { line: string; column: number } {
    const { active } = this.#screen.buffer;
    return {
      line: active.getLine(active.baseY + active.cursorY)?.translateToString(true) ?? "",
      column: active.cursorX,
    };
  }

  /** Waits until the text matches. */
  async see(pattern: string | RegExp, timeoutMs = 50_000): Promise<string> {
    await this.#until(() => matches(this.text(), pattern), `to see ${String(pattern)}`, timeoutMs);
    return this.text();
  }

  /** Waits until the text does not match any more. */
  async seeNoMore(pattern: string | RegExp, timeoutMs = 50_000): Promise<void> {
    await this.#until(() => !matches(this.text(), pattern), `to see no more ${String(pattern)}`, timeoutMs);
  }

  async exited(timeoutMs = 50_000): Promise<number> {
    await this.#until(() => this.#exit !== undefined, "the program to end", timeoutMs);
    return this.#exit?.exitCode ?? -1;
  }

  close(): void {
    if (this.#exit === undefined) this.#pty.kill("SIGKILL");
    this.#screen.dispose();
  }

  #until(holds: () => boolean, what: string, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!holds()) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(look);
        reject(new Error(`waited in vain ${what}; the terminal shows:\n${this.text()}`));
      }, timeoutMs);
      this.#waiting.add(look);
      look();
    });
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}

function matches(text: string, pattern: string | RegExp): boolean {
  return typeof pattern === "string" ? text.includes(pattern) : pattern.test(text);
}
