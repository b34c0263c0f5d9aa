import { createStyle, hasColours, type Style } from "./terminal/style.js";

/** Standard output and standard error, and how to write on them. */
export interface Io {
  /** Looks for standard output. */
  readonly style: Style;
  /** Looks for standard error. */
  readonly errorStyle: Style;
  /** The width of standard output; undefined when it is no terminal. */
  readonly columns: number | undefined;
  /** Standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Somebody sits at the terminal: input and output are both one. */
  readonly isInteractive: boolean;
  /** What was asked for, as it is. */
  write(text: string): void;
  /** A line of what was asked for. */
  line(text?: string): void;
  lines(lines: readonly string[]): void;
  /** One JSON value. */
  json(value: unknown): void;
  /** One JSON value on one line. */
  jsonLine(value: unknown): void;
  /** A line beside it, on standard error. Not with `--quiet`. */
  note(text: string): void;
  /** A line on standard error that is always shown. */
  warn(text: string): void;
  /** Shows how far long work is, on one line that is drawn over; only where somebody watches. */
  progress(text: string): void;
  /** Takes that line away. */
  endProgress(): void;
}

/** How the caller wants it. */
export interface IoOptions {
  readonly quiet?: boolean | undefined;
  /** False: `--no-color`. */
  readonly color?: boolean | undefined;
}

/** The process's own streams. */
export function createIo(options: IoOptions = {}): Io {
  const { stdout, stderr, stdin } = process;
  const allowed = options.color !== false;
  const style = createStyle(allowed && hasColours(stdout));
  const errorStyle = createStyle(allowed && hasColours(stderr));
  let progressShown = false;
  const endProgress = () => {
    if (progressShown) stderr.write("\r\u001B[K");
    progressShown = false;
  };
  const write = (text: string) => {
    endProgress();
    stdout.write(text);
  };
  const warn = (text: string) => {
    endProgress();
    stderr.write(`${text}\n`);
  };
  return {
    style,
    errorStyle,
    columns: stdout.isTTY ? stdout.columns : undefined,
    isTerminal: stdout.isTTY === true,
    isInteractive: stdin.isTTY === true && stdout.isTTY === true,
    write,
    line: (text = "") => write(`${text}\n`),
    lines: (lines) => write(lines.map((line) => `${line}\n`).join("")),
    json: (value) => write(`${JSON.stringify(value, null, 2)}\n`),
    jsonLine: (value) => write(`${JSON.stringify(value)}\n`),
    note: (text) => {
      if (options.quiet !== true) warn(text);
    },
    warn,
    progress: (text) => {
      if (options.quiet === true || stderr.isTTY !== true) return;
      stderr.write(`\r\u001B[K${errorStyle.dim(text)}`);
      progressShown = true;
    },
    endProgress,
  };
}
