import { safeJson, safeStyled, safeText } from "./terminal/safe-text.js";
import { createStyle, hasColours, type MaybeTerminal, type Style } from "./terminal/style.js";

/**
 * Standard output and standard error, and the one way to write on them. What goes to a terminal is made safe there:
 * content loses its control characters, JSON has them as escapes, and lines of our own keep nothing but their colours.
 * Pipes and files get what was written, byte for byte.
 */
export interface Io {
  /** Looks for standard output. */
  readonly style: Style;
  /** Looks for standard error. */
  readonly errorStyle: Style;
  /** The width of standard output; undefined when it is not a terminal. */
  readonly columns: number | undefined;
  /** Standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Somebody sits at the terminal: input and output are both one. */
  readonly isInteractive: boolean;
  /** Content that was asked for. */
  write(text: string): void;
  /** The same for much of it: resolves when the reader has taken it. */
  pass(text: string, format: "text" | "json"): Promise<void>;
  /** A line of what was asked for, which may have colours. */
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

/** The output format that the caller wants. */
export interface IoOptions {
  readonly quiet?: boolean | undefined;
  /** False: `--no-color`. */
  readonly color?: boolean | undefined;
}

/** A stream to write on. */
export interface Outlet extends MaybeTerminal {
  readonly columns?: number | undefined;
  write(text: string, written?: (error?: Error | null) => void): unknown;
}

/** The streams of a process. */
export interface Outlets {
  readonly stdout: Outlet;
  readonly stderr: Outlet;
  readonly stdin: MaybeTerminal;
}

/** Writes on the process's own streams, or on those that are given. */
export function createIo(options: IoOptions = {}, outlets: Outlets = process): Io {
  const { stdout, stderr, stdin } = outlets;
  const allowed = options.color !== false;
  const style = createStyle(allowed && hasColours(stdout));
  const errorStyle = createStyle(allowed && hasColours(stderr));
  const isTerminal = stdout.isTTY === true;
  const out = (safe: (text: string) => string) => (text: string) => (isTerminal ? safe(text) : text);
  const [content, styled, json] = [out(safeText), out(safeStyled), out(safeJson)];
  let progressShown = false;
  const endProgress = () => {
    if (progressShown) stderr.write("\r\u001B[K");
    progressShown = false;
  };
  const put = (text: string) => {
    endProgress();
    stdout.write(text);
  };
  const warn = (text: string) => {
    endProgress();
    stderr.write(`${stderr.isTTY === true ? safeStyled(text) : text}\n`);
  };
  return {
    style,
    errorStyle,
    columns: isTerminal ? stdout.columns : undefined,
    isTerminal,
    isInteractive: stdin.isTTY === true && isTerminal,
    write: (text) => put(content(text)),
    pass: (text, format) =>
      new Promise((resolve, reject) => {
        endProgress();
        stdout.write(format === "json" ? json(text) : content(text), (error) =>
          error ? reject(error) : resolve(),
        );
      }),
    line: (text = "") => put(`${styled(text)}\n`),
    lines: (lines) => put(lines.map((line) => `${styled(line)}\n`).join("")),
    json: (value) => put(`${json(JSON.stringify(value, null, 2))}\n`),
    jsonLine: (value) => put(`${json(JSON.stringify(value))}\n`),
    note: (text) => {
      if (options.quiet !== true) warn(text);
    },
    warn,
    progress: (text) => {
      if (options.quiet === true || stderr.isTTY !== true) return;
      stderr.write(`\r\u001B[K${errorStyle.dim(safeText(text))}`);
      progressShown = true;
    },
    endProgress,
  };
}
