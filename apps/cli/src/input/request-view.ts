import type { PendingRequest } from "@parley/wire";
import { dataLines, escapeInvisible, foldData } from "../terminal/data-text.js";
import { ago, moment } from "../terminal/figures.js";
import type { Style } from "../terminal/style.js";

/** Layout of a request. */
export interface RequestViewOptions {
  readonly columns: number;
  readonly style: Style;
  readonly now: number;
  /** Number of lines of the arguments that are shown. Absent: all. */
  readonly rows?: number;
  /** Other arguments that the call is to run with, as JSON. */
  readonly changed?: string | undefined;
}

const needs: Readonly<Record<string, string>> = {
  approval: "asks for approval",
  question: "asks you",
  "tool-output": "waits for its output from the caller",
};

/** Returns a short text for what a request waits for. */
export function waitsFor(kind: string): string {
  if (kind === "question") return "an answer";
  return kind === "tool-output" ? "its output" : "approval";
}

/** A request as lines, and the number of its characters that were left out. */
export interface RequestView {
  readonly lines: readonly string[];
  readonly hidden: number;
}

/** Maximum lines of a reason that are shown where the arguments are folded too. */
const reasonRows = 4;

/**
 * Shows a request: what will run, why it is asked, and since when. Everything that a model wrote is shown as data; of
 * arguments that were changed, the lines that go and those that come.
 */
export function viewRequest(request: PendingRequest, options: RequestViewOptions): RequestView {
  const { style, columns, now, rows } = options;
  const { kind, toolName, createdAt, expiresAt, reason = "" } = request;
  const since = ago(createdAt, now);
  const facts = [
    `since ${since === "just now" ? "now" : since.replace(/ ago$/, "")}`,
    ...(expiresAt === undefined ? [] : [`until ${moment(expiresAt)}`]),
  ];
  const need = needs[kind] ?? `asks for ${escapeInvisible(kind)}`;
  const head = `${style.bold(escapeInvisible(toolName))} ${style.yellow(need)}`;
  const isQuestion = kind === "question";
  const why = foldData(reason === "" ? [] : reason.split("\n").map(escapeInvisible), {
    columns: columns - 2,
    ...(rows === undefined ? {} : { rows: isQuestion ? rows : reasonRows }),
  });
  const what = isQuestion ? { lines: [], hidden: 0 } : viewArguments(request, options);
  const hidden = why.hidden + what.hidden;
  return {
    lines: [
      `${style.yellow("?")} ${head} ${style.dim(facts.join(" · "))}`,
      ...why.lines.map((line) => `  ${isQuestion ? style.bold(line) : line}`),
      ...what.lines,
      ...(hidden === 0 ? [] : [style.yellow(`    … ${hidden} more characters are not shown`)]),
    ],
    hidden,
  };
}

function viewArguments({ argumentsText }: PendingRequest, options: RequestViewOptions): RequestView {
  const { style, columns, rows, changed } = options;
  const shown =
    changed === undefined
      ? dataLines(argumentsText).map((text) => ({ text, mark: " " }))
      : changedLines(dataLines(argumentsText), dataLines(changed));
  const lines: string[] = [];
  let hidden = 0;
  for (const { text, mark } of shown) {
    const left = rows === undefined ? {} : { rows: rows - lines.length };
    const folded = foldData([text], { columns: columns - 4, ...left });
    const paint = mark === "+" ? style.green : mark === "-" ? style.red : style.cyan;
    lines.push(...folded.lines.map((line) => `  ${paint(`${mark} ${line}`)}`));
    hidden += folded.hidden;
  }
  return { lines, hidden };
}

/** Lines of both texts: what they share at their beginning and end once, the rest as removed and added. */
function changedLines(
  before: readonly string[],
  after: readonly string[],
): { readonly text: string; readonly mark: string }[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const marked = (lines: readonly string[], mark: string) => lines.map((text) => ({ text, mark }));
  return [
    ...marked(before.slice(0, start), " "),
    ...marked(before.slice(start, before.length - end), "-"),
    ...marked(after.slice(start, after.length - end), "+"),
    ...marked(before.slice(before.length - end), " "),
  ];
}
