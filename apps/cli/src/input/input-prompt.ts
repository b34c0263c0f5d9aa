import type { JsonValue, PendingRequest, RespondRequest } from "@parley/wire";
import { dataLine, dataLines, escapeInvisible } from "../terminal/data-text.js";
import { emptyLine, type Key, type LineState, pressKey, withText } from "../terminal/line-editor.js";
import { clip } from "../terminal/text-width.js";
import { wrap } from "../terminal/wrap.js";
import { answerValue, optionsOf, parsed, takesText } from "./answer-value.js";
import { type RequestViewOptions, viewRequest } from "./request-view.js";

/** State of the prompt for a request. Plain data: each key makes a new one. */
export interface InputPrompt {
  readonly request: PendingRequest;
  /** `edit`: the line holds the arguments. */
  readonly mode: "choose" | "edit";
  readonly line: LineState;
  /** The arguments that the call is to run with, as JSON. Absent: the model's own. */
  readonly changed?: string;
  /** The reason why the last entry was not accepted. */
  readonly notice: string;
}

/** An action of a key beyond changing the prompt. */
export type PromptAction =
  | { readonly type: "respond"; readonly response: RespondRequest }
  /** Ask again later. */
  | { readonly type: "later" }
  | { readonly type: "interrupt" }
  | { readonly type: "end" }
  | { readonly type: "redraw" }
  /** Show the request whole. */
  | { readonly type: "show" }
  /** A line that begins with a slash, which is not the prompt's. */
  | { readonly type: "command"; readonly text: string };

/** Rows that the head, a reason, the choices, a notice, the line and the hints take; the same in a low terminal. */
const rowsBeside = 18;
const rowsBesideLow = 8;
/** Rows below a prompt: the line, the hints, and the last one of the terminal. */
const rowsBelow = 3;
/** Longer arguments are changed in a file. */
const longestEdit = 4_000;

/** Asks about a request. */
export function openPrompt(request: PendingRequest): InputPrompt {
  return { request, mode: "choose", line: emptyLine(), notice: "" };
}

/**
 * Returns what a key does. A choice is a letter and Enter, never the letter alone: a user who is typing a message when the
 * prompt opens decides nothing by accident.
 */
export function pressPrompt(
  prompt: InputPrompt,
  text: string | undefined,
  key: Key,
): { readonly prompt: InputPrompt; readonly action?: PromptAction } {
  if (key.name === "escape") {
    if (prompt.mode === "choose") return { prompt, action: { type: "later" } };
    return { prompt: { ...prompt, mode: "choose", line: emptyLine(), notice: "" } };
  }
  const { line, action } = pressKey(prompt.line, text, key);
  const next = { ...prompt, line, notice: action === undefined ? "" : prompt.notice };
  switch (action) {
    case "enter":
    case "enter-alt":
      return next.mode === "edit" ? takeEdit(next) : choose(next);
    case "interrupt":
    case "end":
    case "redraw":
      return { prompt: next, action: { type: action } };
    default:
      return { prompt: next };
  }
}

type Pressed = ReturnType<typeof pressPrompt>;

function choose(prompt: InputPrompt): Pressed {
  const text = prompt.line.text.trim();
  const [, word = "", rest = ""] = /^(\S+)\s*([\s\S]*)$/u.exec(text) ?? [];
  const taken = { ...prompt, line: emptyLine(), notice: "" };
  if (text === "") return { prompt };
  if (text === "/view") return { prompt: taken, action: { type: "show" } };
  if (text === "/later") return { prompt: taken, action: { type: "later" } };
  if (word === "/deny") return { prompt: taken, action: deny(rest) };
  if (text.startsWith("/")) return { prompt: taken, action: { type: "command", text } };
  if (prompt.request.kind === "question") return answer(prompt, text);
  return decide(prompt, taken, text, rest);
}

function decide(prompt: InputPrompt, taken: InputPrompt, text: string, rest: string): Pressed {
  const { request, changed } = prompt;
  const { argumentsHash } = request;
  const allow = (scope?: RespondRequest["scope"]): Pressed => ({
    prompt: taken,
    action: {
      type: "respond",
      response: {
        decision: "allow",
        argumentsHash,
        ...(changed === undefined ? {} : { argumentsText: changed }),
        ...(scope === undefined ? {} : { scope }),
      },
    },
  });
  switch (text) {
    case "a":
      return allow();
    case "c":
      return request.remember ? refused(prompt) : allow({ in: "conversation" });
    case "o":
      return allow({ in: "owner" });
    case "e":
      return edit(prompt);
    case "l":
      return { prompt: taken, action: { type: "later" } };
    case "v":
      return { prompt: taken, action: { type: "show" } };
  }
  return /^d(?:$|\s)/u.test(text) ? { prompt: taken, action: deny(rest) } : refused(prompt);
}

function refused(prompt: InputPrompt): Pressed {
  const notice = "This is none of the choices. To write a message instead: l, or Esc.";
  return { prompt: { ...prompt, notice } };
}

function deny(note: string): PromptAction {
  return { type: "respond", response: { decision: "deny", ...(note === "" ? {} : { note }) } };
}

function answer(prompt: InputPrompt, text: string): Pressed {
  const { schema } = prompt.request;
  const options = optionsOf(schema);
  const chosen = /^\d{1,3}$/.test(text) ? options?.[Number(text) - 1] : undefined;
  const value: JsonValue | undefined = answerValue(schema, text) ?? chosen;
  if (value !== undefined)
    return {
      prompt: { ...prompt, line: emptyLine() },
      action: { type: "respond", response: { decision: "answer", value } },
    };
  const notice =
    options === undefined ? "The answer has to be JSON." : "Choose one: its number, or the answer itself.";
  return { prompt: { ...prompt, notice } };
}

function edit(prompt: InputPrompt): Pressed {
  const text = dataLines(prompt.changed ?? prompt.request.argumentsText).join("\n");
  if (text.length <= longestEdit)
    return { prompt: { ...prompt, mode: "edit", line: withText(emptyLine(), text), notice: "" } };
  const notice = `Too long to edit here: parley approve ${prompt.request.requestId} --args-file FILE`;
  return { prompt: { ...prompt, line: emptyLine(), notice } };
}

function takeEdit(prompt: InputPrompt): Pressed {
  const value = parsed(prompt.line.text);
  if (value === undefined) return { prompt: { ...prompt, notice: "This is not JSON. Esc leaves it." } };
  const changed = JSON.stringify(value);
  const isSame = changed === JSON.stringify(parsed(prompt.request.argumentsText));
  const { changed: _, ...rest } = prompt;
  const next: InputPrompt = { ...rest, mode: "choose", line: emptyLine(), notice: "" };
  return { prompt: isSame ? next : { ...next, changed } };
}

/** Layout of a prompt. */
export interface PromptViewOptions extends Omit<RequestViewOptions, "changed" | "rows"> {
  /** The height of the terminal: arguments are folded so that the choices stay in sight. */
  readonly height: number;
  /** Number of requests that wait, this one included. */
  readonly count: number;
}

/** Shows a prompt: the rows above the line that is typed. In a low terminal the choices stand side by side. */
export function promptRows(prompt: InputPrompt, options: PromptViewOptions): string[] {
  const most = options.height - rowsBelow;
  const full = layOut(prompt, options, Math.max(3, options.height - rowsBeside), false);
  return full.length <= most ? full : layOut(prompt, options, Math.max(2, most - rowsBesideLow), true);
}

function layOut(prompt: InputPrompt, options: PromptViewOptions, rows: number, isLow: boolean): string[] {
  const { style, columns, count } = options;
  const { request, mode, notice, changed } = prompt;
  const { lines, hidden } = viewRequest(request, { ...options, rows, changed });
  const [head = "", ...body] = lines;
  const more = count > 1 ? style.dim(` · ${count} wait`) : "";
  const keyed = choices(prompt, { columns, rows, isFolded: hidden > 0 });
  const shown = isLow
    ? wrap(keyed.map(([key, , short]) => `${style.cyan(style.bold(key))} ${short}`).join(" · "), {
        columns,
        first: "  ",
        rest: "  ",
      })
    : keyed.flatMap(([key, text]) =>
        wrap(text, { columns, first: `  ${style.cyan(style.bold(key))}  `, rest: "     ", indent: 5 }),
      );
  return [
    `${head}${more}`,
    ...(mode === "edit" ? [] : [...body, ...shown]),
    ...(notice === ""
      ? []
      : wrap(style.yellow(escapeInvisible(notice)), { columns, first: "  ", rest: "  " })),
  ];
}

/** A choice: its key, what it does, and the same for a low terminal. */
type Choice = readonly [key: string, text: string, short: string];

function choices(
  { request }: InputPrompt,
  {
    columns,
    rows,
    isFolded,
  }: { readonly columns: number; readonly rows: number; readonly isFolded: boolean },
): Choice[] {
  if (request.kind === "question") {
    const options = optionsOf(request.schema) ?? [];
    const shown = options.slice(0, rows).map((option, index): Choice => {
      const text = typeof option === "string" ? escapeInvisible(option) : dataLine(JSON.stringify(option));
      return [String(index + 1), clip(text, columns - 6), clip(text, columns - 6)];
    });
    const more = `and ${options.length - rows} more`;
    return options.length > rows ? [...shown, ["…", more, more]] : shown;
  }
  const name = clip(escapeInvisible(request.toolName), 40);
  const once: Choice = request.remember
    ? ["a", `allow, and later calls of ${name} in this conversation too`, "allow in this conversation"]
    : ["a", "allow once", "allow once"];
  const always = (key: string, where: string): Choice => [
    key,
    `always allow ${name} in ${where}, whatever the arguments`,
    `always in ${where}`,
  ];
  return [
    once,
    ...(request.remember ? [] : [always("c", "this conversation")]),
    always("o", "all conversations"),
    ["e", "edit the arguments", "edit"],
    ["d", "deny; behind it the reason, for the model: d not today", "deny"],
    ...(isFolded ? [["v", "view all of it", "view all"] as const] : []),
    ["l", "later", "later"],
  ];
}

/** Describes the available actions, for the line below. */
export function promptHints({ mode, request }: InputPrompt): string {
  if (mode === "edit") return "Enter takes the arguments · Ctrl-J new line · Esc back";
  if (request.kind !== "question") return "a letter, then Enter · Esc later · Ctrl-C leaves it waiting";
  const form = optionsOf(request.schema) !== undefined || takesText(request.schema) ? "" : " (JSON)";
  return `Enter answers${form} · /deny · Esc later · Ctrl-C leaves it waiting`;
}
