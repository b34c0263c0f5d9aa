import { formatCost } from "@parley/client/usage";
import { decisionText } from "../input/decision-text.js";
import { waitsFor } from "../input/request-view.js";
import { dataStart, escapeInvisible } from "../terminal/data-text.js";
import { duration, tokens } from "../terminal/figures.js";
import { type MarkdownOptions, renderMarkdown } from "../terminal/markdown.js";
import { safeLine, safeText } from "../terminal/safe-text.js";
import { clip } from "../terminal/text-width.js";
import { wrap } from "../terminal/wrap.js";
import type { EndEntry, Entry, ToolEntry, UserEntry } from "./entries.js";

/** Options for rendering entries. */
export interface EntryOptions extends MarkdownOptions {
  /** Absent: true. */
  readonly showReasoning?: boolean | undefined;
  /** Number of lines of a tool's result that are shown. Absent: one, shortened. */
  readonly resultLines?: number | undefined;
  /** Summaries behind this seq are no longer in force. Absent: nothing is known of that. */
  readonly undoneBehind?: number | undefined;
}

/** An entry as lines, when it is whole. */
export function renderEntry(entry: Entry, options: EntryOptions): string[] {
  const { style, columns, showReasoning = true } = options;
  switch (entry.kind) {
    case "user":
      return renderUser(entry, options);
    case "text":
      return renderMarkdown(entry.text, options);
    case "thinking":
      return showReasoning ? renderThinking(entry.text, options) : [];
    case "tool":
      return renderTool(entry, options, "");
    case "summary": {
      const { covers, seq = 0 } = entry;
      const isUndone = options.undoneBehind !== undefined && seq > options.undoneBehind;
      const what =
        covers === undefined
          ? "Note of the system"
          : `Summary of entries ${covers.firstSeq} to ${covers.lastSeq}${isUndone ? ", undone since: the model sees them again" : ""}`;
      return [
        style.magenta(`≡ ${what}`),
        ...wrap(style.dim(safeText(entry.text)), { columns, first: "  ", rest: "  " }),
      ];
    }
    case "error":
      return wrap(
        style.red(`✗ ${entry.code === undefined ? "" : `${entry.code}: `}${safeText(entry.message)}`),
        { columns, rest: "  " },
      );
    case "attachment":
      return [style.dim(clip(`· ${safeLine(entry.text)}`, columns))];
    case "end":
      return renderEnd(entry, options);
  }
}

/** Reasoning is set apart from the answer: dimmed, and behind a thin line. */
export function renderThinking(text: string, { style, columns }: EntryOptions): string[] {
  return wrap(style.dim(style.italic(safeText(text).trim())), {
    columns,
    first: style.dim("┊ "),
    rest: style.dim("┊ "),
    indent: 2,
  });
}

function renderUser(entry: UserEntry, { style, columns }: EntryOptions): string[] {
  const mark = entry.isSteer ? "↪ " : "› ";
  const lines = wrap(style.bold(safeText(entry.text).trim()), {
    columns,
    first: style.cyan(mark),
    rest: "  ",
    indent: 2,
  });
  if (entry.status === "sending") return [...lines, style.dim("  on its way")];
  if (entry.status === "failed") return [...lines, style.red(`  not sent: ${safeLine(entry.problem ?? "")}`)];
  return lines;
}

/** A tool's card. `spinner` stands before one that runs. */
export function renderTool(
  entry: ToolEntry,
  options: EntryOptions,
  spinner: string,
  elapsedMs?: number,
): string[] {
  const { style, columns, resultLines = 1 } = options;
  const { status } = entry;
  const mark =
    status === "running" || status === "waiting"
      ? style.yellow(status === "waiting" ? "?" : spinner || "•")
      : status === "failed"
        ? style.red("✗")
        : status === "stopped"
          ? style.dim("■")
          : style.green("✓");
  const time = status === "running" ? elapsedMs : entry.durationMs;
  const took = time === undefined ? "" : ` ${duration(time)}`;
  const name = safeLine(entry.name);
  const inputWidth = Math.max(10, columns - name.length - took.length - 4);
  const input = entry.input === "{}" ? "" : clip(dataStart(entry.input), inputWidth);
  const head =
    `${mark} ${style.bold(name)} ${style.dim(`${input}${input === "" ? "" : " "}${took.trim()}`)}`.trimEnd();
  const above = [head, ...decisionLines(entry, options)];
  if (status === "waiting") return above;
  if (status === "running") return [...above, ...outputTail(entry.output, options)];
  const result = safeText(entry.result ?? "").trimEnd();
  if (result === "") return above;
  const paint = status === "failed" ? style.red : style.dim;
  if (resultLines <= 1)
    return [...above, `  ${style.dim("└")} ${paint(clip(safeLine(result), columns - 5))}`];
  const lines = result.split("\n");
  const shown = lines
    .slice(0, resultLines)
    .flatMap((line) => wrap(paint(line), { columns, first: "    ", rest: "    " }));
  const more = lines.length - resultLines;
  return [...above, ...shown, ...(more > 0 ? [style.dim(`    … ${more} more lines`)] : [])];
}

/** Describes what a call waits for, or who decided on it. */
function decisionLines({ request, decision }: ToolEntry, { style, columns }: EntryOptions): string[] {
  if (decision !== undefined)
    return [`  ${style.dim("├")} ${style.yellow(clip(decisionText(decision), columns - 5))}`];
  if (request === undefined) return [];
  const { kind, reason } = request;
  const why = reason === undefined || reason === "" ? "" : `: ${escapeInvisible(reason)}`;
  return [`  ${style.dim("└")} ${style.yellow(clip(`waits for ${waitsFor(kind)}${why}`, columns - 5))}`];
}

/** The last lines of what a running tool has printed. */
function outputTail(output: string, { style, columns }: EntryOptions): string[] {
  const lines = safeText(output).trimEnd().split("\n").slice(-3);
  return lines
    .filter((line) => line !== "")
    .map((line) => `  ${style.dim("│")} ${style.dim(clip(line, columns - 5))}`);
}

const endings: Readonly<Record<string, string>> = {
  stop: "",
  length: "cut off at the limit of an answer",
  "content-filter": "withheld by the provider",
  "max-steps": "stopped after the most steps that a turn may have",
  "tool-calls": "ended with tool calls that were not run",
  aborted: "stopped",
  error: "failed",
  interrupted: "interrupted: the server failed; the text until then is kept",
};

/** Describes how a turn ended, and its figures. */
function renderEnd({ turn, error, contextWindow }: EndEntry, { style, columns }: EntryOptions): string[] {
  const { reason, durationMs, usage, contextSize, cost } = turn;
  const ending = reason === undefined ? "" : (endings[reason] ?? reason);
  const bad = reason !== undefined && reason !== "stop";
  const facts = [
    ...(ending === "" ? [] : [bad ? style.yellow(ending) : ending]),
    ...(durationMs === undefined ? [] : [style.dim(duration(durationMs))]),
    ...(usage === undefined
      ? []
      : [style.dim(`${tokens(usage.inputTokens)} in, ${tokens(usage.outputTokens)} out`)]),
    ...(contextSize === undefined
      ? []
      : [
          style.dim(
            `context ${tokens(contextSize)}${contextWindow === undefined ? "" : ` of ${tokens(contextWindow)}`}`,
          ),
        ]),
    ...(cost === undefined ? [] : [style.dim(formatCost(cost))]),
  ];
  const problem =
    error === undefined
      ? []
      : wrap(style.red(`✗ ${error.code}: ${safeText(error.message)}`), { columns, rest: "  " });
  return facts.length === 0 ? problem : [...problem, `${style.dim("─")} ${facts.join(style.dim(" · "))}`];
}
