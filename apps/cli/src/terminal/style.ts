import { styleText } from "node:util";

/** The looks that are used. Each gives the text back as it is where colours are off. */
export interface Style {
  readonly enabled: boolean;
  bold(text: string): string;
  dim(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  blue(text: string): string;
  magenta(text: string): string;
  cyan(text: string): string;
}

/** A stream that may be a terminal. */
export interface MaybeTerminal {
  readonly isTTY?: boolean | undefined;
}

/**
 * Returns true if a stream gets colours: never with `NO_COLOR` or `--no-color`, always with `FORCE_COLOR`, else if it is a
 * terminal that can show them.
 */
export function hasColours(
  stream: MaybeTerminal,
  env: Readonly<Record<string, string | undefined>> = process.env,
): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "") return env.FORCE_COLOR !== "0";
  return stream.isTTY === true && env.TERM !== "dumb";
}

/** The looks for a stream. */
export function createStyle(enabled: boolean): Style {
  const look =
    (format: Parameters<typeof styleText>[0]) =>
    (text: string): string =>
      // The stream was judged above; newer versions of Node would judge again, by standard output alone.
      enabled && text !== "" ? styleText(format, text, { validateStream: false }) : text;
  return {
    enabled,
    bold: look("bold"),
    dim: look("dim"),
    italic: look("italic"),
    underline: look("underline"),
    red: look("red"),
    green: look("green"),
    yellow: look("yellow"),
    blue: look("blue"),
    magenta: look("magenta"),
    cyan: look("cyan"),
  };
}
