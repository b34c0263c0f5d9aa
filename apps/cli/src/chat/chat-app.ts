import type { RespondRequest } from "@parley/wire";
import { explain } from "../explain.js";
import { pressPrompt, promptHints, promptRows } from "../input/input-prompt.js";
import { viewRequest } from "../input/request-view.js";
import type { Io } from "../io.js";
import { counted, duration } from "../terminal/figures.js";
import type { Highlight } from "../terminal/highlighter.js";
import { emptyLine, entered, type Key, type LineState, pressKey, withText } from "../terminal/line-editor.js";
import { viewLine } from "../terminal/line-view.js";
import { progressWords } from "../terminal/progress-words.js";
import { safeJson, safeLine, safeText } from "../terminal/safe-text.js";
import { Screen } from "../terminal/screen.js";
import { clip, textWidth } from "../terminal/text-width.js";
import { wrap } from "../terminal/wrap.js";
import type { VerbContext } from "../verb-context.js";
import type { ChatController } from "./chat-controller.js";
import { ChatInputs } from "./chat-inputs.js";
import { chatCommands, contextGauge, runCommand } from "./commands.js";
import { openKeyboard } from "./keyboard.js";
import { openTypedLines, type TypedLines } from "./typed-lines.js";

/** The parts of a chat. */
export interface ChatAppOptions {
  readonly controller: ChatController;
  readonly context: VerbContext;
  readonly showReasoning: boolean;
  /** The server or store of the conversations, as shown to the user. */
  readonly place: string;
  readonly typedLines?: TypedLines;
}

/** Time within which a second Ctrl-C counts as the second. */
const twiceMs = 2_000;
/** Shorter waits for the model are usual, and not worth a word. */
const waitShownFromMs = 3_000;

/**
 * The interactive chat. The screen has three parts: what is final scrolls away upwards; below it what still changes,
 * what waits and the connection; at the bottom the line that is typed, with a line of hints. Keys and changes of the
 * conversation only change the state; one place draws it.
 */
export class ChatApp {
  readonly #controller: ChatController;
  readonly #context: VerbContext;
  readonly #io: Io;
  readonly #screen = new Screen(process.stdout);
  readonly #showReasoning: boolean;
  readonly #place: string;
  readonly #typed: TypedLines;
  readonly #inputs: ChatInputs;
  #line: LineState;
  #highlight: Highlight | undefined;
  #notice = "";
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #ticker: NodeJS.Timeout | undefined;
  /** Since when the running turn has shown nothing new. */
  #quietSince: number | undefined;
  #end: ((exitCode: number) => void) | undefined;

  constructor(options: ChatAppOptions) {
    this.#controller = options.controller;
    this.#context = options.context;
    this.#io = options.context.io;
    this.#showReasoning = options.showReasoning;
    this.#place = options.place;
    this.#typed = options.typedLines ?? openTypedLines();
    this.#line = emptyLine(this.#typed.lines);
    this.#inputs = new ChatInputs(this.#controller, {
      onChange: () => this.refresh(),
      onFailure: (error) => this.#do(Promise.reject(error)),
    });
  }

  /** Runs until the user leaves; gives the exit code. */
  async run(): Promise<number> {
    const ended = new Promise<number>((resolve) => {
      this.#end = resolve;
    });
    this.#greet();
    const keyboard = openKeyboard(process.stdin, process.stdout, (text, key) => this.#press(text, key));
    const stopWatching = this.#controller.connection.subscribe(() => this.refresh());
    const resized = () => {
      this.#screen.resized();
      this.refresh();
    };
    process.stdout.on("resize", resized);
    // Signals from outside; the key Ctrl-C arrives as a key.
    const offInterrupt = this.#context.onInterrupt(() => this.#end?.(130));
    if (this.#io.style.enabled) this.#loadHighlighter();
    this.refresh();
    try {
      return await ended;
    } finally {
      clearInterval(this.#ticker);
      offInterrupt();
      process.stdout.off("resize", resized);
      stopWatching();
      this.#screen.close();
      keyboard.close();
    }
  }

  /** Draws what has changed. */
  refresh(): void {
    const { style } = this.#io;
    const columns = Math.max(20, this.#screen.columns - 1);
    const { print, live, isMoving, earlier } = this.#controller.update({
      columns: Math.min(columns, 110),
      style,
      showReasoning: this.#showReasoning,
      highlight: this.#highlight,
    });
    if (earlier > 0)
      this.#screen.print([style.dim(`… ${earlier} earlier entries: parley show ${this.#controller.id}`), ""]);
    if (print.length > 0) this.#screen.print(print);
    const isQuiet = this.#controller.isRunning && print.length === 0 && live.length === 0;
    this.#notice = this.#inputs.update(this.#line.text !== "") ?? this.#notice;
    const { prompt } = this.#inputs;
    const typed = prompt?.line ?? this.#line;
    const line = viewLine(typed.text, typed.cursor, style.cyan("› "), 2, columns);
    this.#screen.show({
      rows: [
        ...(live[0] === "" ? [] : [""]),
        ...live,
        ...(live.length > 0 ? [""] : []),
        ...this.#silence(isQuiet),
        ...this.#waiting(columns),
        ...(prompt === undefined
          ? []
          : promptRows(prompt, {
              ...{ columns, style, now: Date.now() },
              ...{ height: this.#screen.height, count: this.#inputs.count },
            })),
      ],
      line,
      below: [style.dim(prompt === undefined ? this.#hints(columns) : clip(promptHints(prompt), columns))],
    });
    this.#tick(isMoving || isQuiet || this.#controller.connection.getState().phase === "waiting");
  }

  #greet(): void {
    const { style } = this.#io;
    this.#screen.print([
      `${style.bold("Parley")} ${style.dim(`· ${this.#place} · /help for commands, Ctrl-D to leave`)}`,
      ...(this.#controller.isTemporary
        ? [style.dim("Temporary: no list shows this conversation, and leaving deletes it. /keep keeps it.")]
        : []),
      "",
    ]);
  }

  /** Returns the time since the model last sent anything: some think for minutes before they show text. */
  #silence(isQuiet: boolean): string[] {
    const now = Date.now();
    this.#quietSince = isQuiet ? (this.#quietSince ?? now) : undefined;
    const ms = now - (this.#quietSince ?? now);
    const progress = isQuiet ? this.#controller.state.activeTurn?.progress : undefined;
    if (progress !== undefined) return [this.#io.style.dim(safeLine(progressWords(progress, now)))];
    if (ms < waitShownFromMs) return [];
    return [this.#io.style.dim(`Waiting for the model · ${duration(ms - (ms % 1_000))}`)];
  }

  #waiting(columns: number): string[] {
    const { style } = this.#io;
    const { messages, paused } = this.#controller.state.queue;
    const rows = messages
      .slice(0, 5)
      .map(({ text, mode }) =>
        style.dim(clip(`${mode === "queue" ? "⏎ next: " : "↪ steers: "}${safeLine(text)}`, columns)),
      );
    if (messages.length > 5) rows.push(style.dim(`  and ${messages.length - 5} more`));
    if (paused && messages.length > 0) rows.push(style.yellow("The queue is paused; /queue resume goes on."));
    const connection = this.#connection();
    if (connection !== "") rows.push(style.yellow(clip(connection, columns)));
    if (this.#notice !== "") rows.push(...wrap(style.yellow(this.#notice), { columns }));
    return rows;
  }

  #connection(): string {
    const { phase, retryAt, everOpen, error } = this.#controller.connection.getState();
    if (phase === "open" || (phase === "connecting" && !everOpen)) return "";
    if (phase === "closed") return error === undefined ? "" : `Disconnected: ${error.message}`;
    const seconds = retryAt === undefined ? 0 : Math.max(0, Math.ceil((retryAt - Date.now()) / 1_000));
    return `Reconnecting${phase === "waiting" && seconds > 0 ? ` in ${seconds} s` : " ..."}  The turn runs on; nothing is lost.`;
  }

  /** Describes the keys and, on the right if it fits, the settings of the next turn. */
  #hints(columns: number): string {
    const { choices, model } = this.#controller;
    const keys =
      this.#inputs.count > 0
        ? `Tab decides what waits (${this.#inputs.count}) · Enter queues · Ctrl-C leaves it waiting`
        : this.#controller.isRunning || this.#controller.isSending
          ? "Enter queues · Alt-Enter or !text steers · Ctrl-C stops"
          : "Enter sends · / commands · Ctrl-J new line";
    const attached = this.#controller.attached.length;
    const files = attached === 0 ? "" : counted(attached, "file");
    const temporary = this.#controller.isTemporary ? "temporary" : "";
    const facts = [temporary, files, model, choices.effort, contextGauge(this.#controller)]
      .filter(Boolean)
      .join(" · ");
    const space = columns - textWidth(keys) - textWidth(facts);
    return space >= 2 ? `${keys}${" ".repeat(space)}${facts}` : clip(keys, columns);
  }

  #press(text: string | undefined, key: Key): void {
    if (this.#inputs.prompt !== undefined) {
      this.#pressPrompt(text, key);
      return;
    }
    const { line, action } = pressKey(this.#line, text, key);
    this.#line = line;
    if (action !== "interrupt") {
      this.#notice = "";
      this.#interruptedAt = Number.NEGATIVE_INFINITY;
    }
    if (action === "enter") this.#enter("queue");
    else if (action === "enter-alt") this.#enter("steer");
    else if (action === "interrupt") this.#interrupt();
    else if (action === "end") this.#end?.(0);
    else if (action === "redraw") this.#screen.clear();
    else if (action === "complete") this.#complete();
    this.refresh();
  }

  /** Keys go to the prompt while one is open; what was being typed stays as it is. */
  #pressPrompt(text: string | undefined, key: Key): void {
    const { prompt: before } = this.#inputs;
    if (before === undefined) return;
    const { prompt, action } = pressPrompt(before, text, key);
    this.#inputs.prompt = prompt;
    this.#notice = "";
    if (action?.type !== "interrupt") this.#interruptedAt = Number.NEGATIVE_INFINITY;
    if (action?.type === "respond") this.#do(this.#respond(action.response));
    else if (action?.type === "later") this.#inputs.defer();
    else if (action?.type === "interrupt") this.#interrupt();
    else if (action?.type === "end") this.#end?.(0);
    else if (action?.type === "redraw") this.#screen.clear();
    else if (action?.type === "command") this.#command(action.text);
    else if (action?.type === "show") {
      const view = { columns: this.#screen.columns - 1, style: this.#io.style, now: Date.now() };
      this.#screen.print(viewRequest(prompt.request, view).lines);
    }
    this.refresh();
  }

  async #respond(response: RespondRequest): Promise<void> {
    this.#notice = (await this.#inputs.respond(response)) ?? this.#notice;
  }

  #enter(mode: "queue" | "steer"): void {
    const text = this.#line.text.trim();
    if (text === "" && this.#controller.attached.length === 0) return;
    if (text !== "") this.#typed.add(text);
    this.#line = entered(this.#line);
    if (text.startsWith("/")) {
      this.#command(text);
      return;
    }
    const steers = text.startsWith("!") && text.length > 1;
    const said = steers ? text.slice(1).trim() : text;
    const saying = this.#controller.say(said, steers ? "steer" : mode);
    // What was refused is put back, unless something else was typed meanwhile.
    saying.catch(() => {
      if (this.#line.text === "") this.#line = withText(this.#line, text);
    });
    this.#do(saying);
  }

  #command(text: string): void {
    this.#screen.print([`${this.#io.style.cyan("›")} ${this.#io.style.dim(safeLine(text))}`]);
    this.#do(
      runCommand(text, {
        controller: this.#controller,
        style: this.#io.style,
        print: (lines) => this.#screen.print(lines),
        verb: () => this.#verb(),
        askAgain: () => this.#inputs.askAgain(),
        quit: () => this.#end?.(0),
      }),
    );
  }

  /** Once stops the turn, or leaves it waiting; twice leaves. An empty line with nothing running leaves after a warning, too. */
  #interrupt(): void {
    const now = Date.now();
    const twice = now - this.#interruptedAt < twiceMs;
    this.#interruptedAt = now;
    if (twice) {
      this.#end?.(130);
      return;
    }
    if (this.#inputs.count > 0) {
      this.#inputs.deferAll();
      this.#notice = "The turn goes on waiting. Ctrl-C once more leaves; /stop ends the turn.";
    } else if (this.#controller.isRunning) {
      this.#notice = "Stopping; Ctrl-C once more leaves.";
      this.#do(this.#controller.stop());
    } else if (this.#line.text !== "") {
      this.#line = { ...emptyLine(this.#line.history), cut: this.#line.text };
      this.#notice = "Ctrl-C once more leaves.";
    } else this.#notice = "Ctrl-C once more leaves.";
  }

  #complete(): void {
    const { text } = this.#line;
    if (!text.startsWith("/") && this.#inputs.askAgain()) return;
    if (!text.startsWith("/") || /\s/.test(text)) return;
    const found = chatCommands.filter(({ name }) => name.startsWith(text.slice(1)));
    const [only] = found;
    if (found.length === 1 && only !== undefined)
      this.#line = withText(this.#line, `/${only.name}${only.takes === undefined ? "" : " "}`);
    else if (found.length > 1) this.#notice = found.map(({ name }) => `/${name}`).join("  ");
  }

  /** Waits for something in the background, and shows its failure. */
  #do(work: Promise<unknown>): void {
    work
      .catch((error: unknown) => {
        const { message, advice } = explain(error);
        this.#screen.print(
          wrap(this.#io.style.red(`✗ ${safeText(message)}${advice === undefined ? "" : ` ${advice}`}`), {
            columns: this.#screen.columns - 1,
            rest: "  ",
          }),
        );
      })
      .finally(() => this.refresh());
  }

  /** A verb's context whose output goes to the scrollback. */
  #verb(): VerbContext {
    const print = (text: string) => this.#screen.print(text.replace(/\n$/, "").split("\n"));
    const io: Io = {
      ...this.#io,
      columns: this.#screen.columns - 1,
      write: (text) => print(safeText(text)),
      pass: async (text, format) => print(format === "json" ? safeJson(text) : safeText(text)),
      line: (text = "") => print(text),
      lines: (lines) => this.#screen.print(lines),
      json: (value) => print(safeJson(JSON.stringify(value, null, 2))),
      jsonLine: (value) => print(safeJson(JSON.stringify(value))),
      note: (text) => print(this.#io.style.dim(text)),
      warn: print,
      progress: () => {},
      endProgress: () => {},
    };
    return { ...this.#context, io };
  }

  #loadHighlighter(): void {
    import("../terminal/highlighter.js")
      .then(({ loadHighlighter }) => loadHighlighter())
      .then((highlight) => {
        this.#highlight = highlight;
        this.refresh();
      })
      .catch(() => undefined);
  }

  /** Redraws by itself while something moves. */
  #tick(moving: boolean): void {
    if (moving === (this.#ticker !== undefined)) return;
    clearInterval(this.#ticker);
    this.#ticker = moving ? setInterval(() => this.refresh(), 100) : undefined;
  }
}
