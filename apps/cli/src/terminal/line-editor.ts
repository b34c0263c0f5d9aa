import { graphemesOf } from "./text-width.js";

/** A key as `readline` names it. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
  readonly shift?: boolean | undefined;
}

/** The line that is being typed. Plain data: each key makes a new one. */
export interface LineState {
  readonly text: string;
  /** An index into the text, always between two characters. */
  readonly cursor: number;
  /** The text that was cut last, for Ctrl-Y. */
  readonly cut: string;
  /** Lines that were entered before, oldest first. */
  readonly history: readonly string[];
  /** Which of them is shown; their number: none, but what was typed. */
  readonly place: number;
  /** The text that was typed before the history was opened. */
  readonly draft: string;
  /** Between the two signs with which a terminal frames what is pasted. */
  readonly pasting: boolean;
}

/** An action of a key beyond changing the line. */
export type LineAction = "enter" | "enter-alt" | "interrupt" | "end" | "redraw" | "complete";

/** An empty line. */
export function emptyLine(history: readonly string[] = []): LineState {
  return { text: "", cursor: 0, cut: "", history, place: history.length, draft: "", pasting: false };
}

/** The line with another text, the cursor behind it. */
export function withText(line: LineState, text: string): LineState {
  return { ...line, text, cursor: text.length };
}

/** The line after it was entered: empty, and the text in the history unless it repeats the one before. */
export function entered(line: LineState): LineState {
  const text = line.text.trim();
  const repeats = text === "" || line.history.at(-1) === text;
  return { ...emptyLine(repeats ? line.history : [...line.history, text]), cut: line.cut };
}

/**
 * Applies a key to the line. Emacs' keys, as in every shell. A pasted text is inserted as it is: a line break in it
 * enters nothing.
 */
export function pressKey(
  line: LineState,
  input: string | undefined,
  key: Key,
): { readonly line: LineState; readonly action?: LineAction } {
  if (key.name === "paste-start") return { line: { ...line, pasting: true } };
  if (key.name === "paste-end") return { line: { ...line, pasting: false } };
  if (line.pasting) return { line: insert(line, pasted(input, key)) };
  const action = actionOf(line, key);
  if (action !== undefined) return { line, action };
  const edited = edit(line, key);
  if (edited !== undefined) return { line: edited };
  const text = input ?? "";
  const printable = text !== "" && key.ctrl !== true && key.meta !== true && !/\p{Control}/u.test(text);
  return { line: printable ? insert(line, text) : line };
}

function actionOf(line: LineState, key: Key): LineAction | undefined {
  if (key.name === "return") return key.meta ? "enter-alt" : "enter";
  if (key.name === "tab" && !key.shift) return "complete";
  if (!key.ctrl) return undefined;
  if (key.name === "c") return "interrupt";
  if (key.name === "d" && line.text === "") return "end";
  if (key.name === "l") return "redraw";
  return undefined;
}

function pasted(input: string | undefined, key: Key): string {
  if (key.name === "return" || key.name === "enter") return "\n";
  if (key.name === "tab") return "\t";
  return (input ?? "").replace(/[^\P{Control}\n\t]/gu, "");
}

function edit(line: LineState, key: Key): LineState | undefined {
  const { text, cursor } = line;
  const name = key.ctrl ? `ctrl-${key.name}` : key.meta ? `alt-${key.name}` : key.name;
  switch (name) {
    // Ctrl-J, and what a terminal sends for Shift-Enter when it tells it from Enter.
    case "enter":
    case "ctrl-j":
      return insert(line, "\n");
    case "left":
    case "ctrl-b":
      return { ...line, cursor: before(text, cursor) };
    case "right":
    case "ctrl-f":
      return { ...line, cursor: after(text, cursor) };
    case "ctrl-left":
    case "alt-left":
    case "alt-b":
      return { ...line, cursor: wordStart(text, cursor) };
    case "ctrl-right":
    case "alt-right":
    case "alt-f":
      return { ...line, cursor: wordEnd(text, cursor) };
    case "home":
    case "ctrl-a":
      return { ...line, cursor: lineStart(text, cursor) };
    case "end":
    case "ctrl-e":
      return { ...line, cursor: lineEnd(text, cursor) };
    case "backspace":
    case "ctrl-h":
      return remove(line, before(text, cursor), cursor, false);
    case "delete":
    case "ctrl-d":
      return remove(line, cursor, after(text, cursor), false);
    case "ctrl-w":
    case "alt-backspace":
      return remove(line, wordStart(text, cursor), cursor, true);
    case "alt-d":
      return remove(line, cursor, wordEnd(text, cursor), true);
    case "ctrl-u":
      return remove(line, lineStart(text, cursor), cursor, true);
    case "ctrl-k":
      return remove(line, cursor, lineEnd(text, cursor), true);
    case "ctrl-y":
      return insert(line, line.cut);
    case "up":
    case "ctrl-p":
      return lineStart(text, cursor) > 0 && name === "up" ? vertical(line, -1) : recall(line, -1);
    case "down":
    case "ctrl-n":
      return lineEnd(text, cursor) < text.length && name === "down" ? vertical(line, 1) : recall(line, 1);
    default:
      return undefined;
  }
}

function insert(line: LineState, text: string): LineState {
  const { cursor } = line;
  return {
    ...line,
    text: `${line.text.slice(0, cursor)}${text}${line.text.slice(cursor)}`,
    cursor: cursor + text.length,
  };
}

function remove(line: LineState, from: number, to: number, keep: boolean): LineState {
  const cut = line.text.slice(from, to);
  return {
    ...line,
    text: `${line.text.slice(0, from)}${line.text.slice(to)}`,
    cursor: from,
    cut: keep && cut !== "" ? cut : line.cut,
  };
}

function recall(line: LineState, step: number): LineState {
  const place = Math.min(line.history.length, Math.max(0, line.place + step));
  if (place === line.place) return line;
  const draft = line.place === line.history.length ? line.text : line.draft;
  const text = place === line.history.length ? draft : (line.history[place] ?? "");
  return { ...line, draft, place, text, cursor: text.length };
}

/** To the line above or below, as near to the same column as it has. */
function vertical(line: LineState, step: -1 | 1): LineState {
  const { text, cursor } = line;
  const start = lineStart(text, cursor);
  const column = cursor - start;
  const target = step < 0 ? lineStart(text, start - 1) : lineEnd(text, cursor) + 1;
  const reached = Math.min(target + column, lineEnd(text, target));
  // Not into the middle of a character.
  let place = target;
  for (const grapheme of graphemesOf(text.slice(target, reached))) place += grapheme.length;
  return { ...line, cursor: place };
}

function before(text: string, cursor: number): number {
  let last = 0;
  for (const grapheme of graphemesOf(text.slice(0, cursor))) last = grapheme.length;
  return cursor - last;
}

function after(text: string, cursor: number): number {
  for (const grapheme of graphemesOf(text.slice(cursor))) return cursor + grapheme.length;
  return cursor;
}

function wordStart(text: string, cursor: number): number {
  return text.slice(0, cursor).search(/[^\s]+\s*$/u) < 0 ? 0 : text.slice(0, cursor).search(/[^\s]+\s*$/u);
}

function wordEnd(text: string, cursor: number): number {
  return cursor + (/^\s*[^\s]+|^\s*/u.exec(text.slice(cursor))?.[0].length ?? 0);
}

function lineStart(text: string, cursor: number): number {
  return text.lastIndexOf("\n", cursor - 1) + 1;
}

function lineEnd(text: string, cursor: number): number {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
}
