import { formatCost } from "@parley/client/usage";
import { partKeyOf } from "@parley/fold";
import type { AgentEvent } from "@parley/wire";
import type { Io } from "../../io.js";
import { dataStart } from "../../terminal/data-text.js";
import { duration, tokens } from "../../terminal/figures.js";
import { MarkdownStream } from "../../terminal/markdown-stream.js";
import { progressWords } from "../../terminal/progress-words.js";
import { safeLine, safeText } from "../../terminal/safe-text.js";
import { Screen } from "../../terminal/screen.js";
import { clip } from "../../terminal/text-width.js";
import { wrap } from "../../terminal/wrap.js";
import type { AnswerFold } from "./answer-fold.js";

/** Output for an answer while it arrives. */
export interface AnswerPrinter {
  /** Something else is about to be written to the same terminal. */
  pause(fold: AnswerFold): void;
  take(event: AgentEvent | { readonly type: "again" }, fold: AnswerFold): void;
  end(fold: AnswerFold): void;
}

/** Options for printing an answer. */
export interface PrintOptions {
  readonly json?: boolean;
  readonly jsonl?: boolean;
  readonly stream: boolean;
  readonly raw?: boolean;
  /** The turn returns data: the value alone is the answer. */
  readonly schema?: string;
}

/** Events that are noted beside the answer. */
const notedTypes: ReadonlySet<string> = new Set<AgentEvent["type"]>([
  "tool-call",
  "tool-result",
  "turn-progress",
  "error",
]);

/** The printer that suits the options and the terminal. */
export function createAnswerPrinter(io: Io, options: PrintOptions): AnswerPrinter {
  if (options.jsonl) return jsonLines(io);
  const notes = noteEvents(io);
  if (options.json) {
    return { pause: () => {}, take: notes, end: (fold) => io.json(fold.result()) };
  }
  if (options.schema !== undefined) return valueAlone(io, notes);
  const printer = io.isTerminal && !options.raw ? rendered(io, options.stream) : plain(io, options.stream);
  return {
    pause: (fold) => printer.pause(fold),
    take(event, fold) {
      if (notedTypes.has(event.type)) printer.pause(fold);
      notes(event);
      printer.take(event, fold);
    },
    end(fold) {
      printer.end(fold);
      noteEnd(io, fold);
    },
  };
}

function jsonLines(io: Io): AnswerPrinter {
  return {
    pause: () => {},
    take: (event) => {
      if (event.type !== "again") io.jsonLine(event);
    },
    end: () => {},
  };
}

/** The value that the turn returned, or what is wrong with it. */
function valueAlone(io: Io, notes: AnswerPrinter["take"]): AnswerPrinter {
  return {
    pause: () => {},
    take: notes,
    end(fold) {
      const { output } = fold;
      if (output?.valid === true) io.json(output.value);
      for (const error of output?.errors ?? []) io.warn(io.errorStyle.red(`✗ ${safeLine(error)}`));
      noteEnd(io, fold);
    },
  };
}

/** Prints tools, steering and failures beside the answer. */
function noteEvents(io: Io): (event: AgentEvent | { readonly type: "again" }) => void {
  const { errorStyle } = io;
  return (event) => {
    if (event.type === "tool-call") {
      io.note(
        errorStyle.dim(`• ${safeLine(event.toolName)} ${clip(dataStart(event.argumentsText ?? ""), 100)}`),
      );
    } else if (event.type === "tool-result") {
      const failed = event.isError ? errorStyle.red("✗") : errorStyle.green("✓");
      const mark = event.interrupted ? errorStyle.dim("■") : failed;
      const took = event.durationMs === undefined ? "" : ` ${duration(event.durationMs)}`;
      io.note(`${mark} ${errorStyle.dim(`${safeLine(event.toolName)}${took}`)}`);
    } else if (event.type === "error") {
      io.warn(errorStyle.red(`✗ ${event.code ?? "error"}: ${safeLine(event.message)}`));
    } else if (event.type === "turn-progress" && event.progress !== undefined) {
      io.note(errorStyle.dim(`• ${safeLine(progressWords(event.progress, event.progress.since))}`));
    } else if (event.type === "output-invalid") {
      const { attempt, errors } = event.output;
      io.note(
        errorStyle.dim(`• answer ${attempt} does not match: ${clip(safeLine(errors.join("; ")), 200)}`),
      );
    }
  };
}

function noteEnd(io: Io, fold: AnswerFold): void {
  const { conversationId, model, reason, durationMs, contextSize, cost } = fold.result();
  if (conversationId === undefined) return;
  const facts = [
    model,
    reason === "stop" ? undefined : reason,
    durationMs === undefined ? undefined : duration(durationMs),
    contextSize === undefined ? undefined : `context ${tokens(contextSize)}`,
    cost === undefined ? undefined : formatCost(cost),
    `parley run --in ${conversationId}`,
  ];
  io.note(io.errorStyle.dim(`─ ${facts.filter(Boolean).join(" · ")}`));
}

/** The answer as it is, byte for byte: for pipes and files. */
function plain(io: Io, stream: boolean): AnswerPrinter {
  let part: string | undefined;
  let written = "";
  let again = "";
  const say = (text: string) => {
    // Replayed after a break: only what is new is written.
    const skipped = commonStart(again, text);
    again = skipped === text.length ? again.slice(skipped) : "";
    const news = text.slice(skipped);
    written += text;
    if (stream && news !== "") io.write(news);
  };
  return {
    pause: () => {},
    take(event) {
      if (event.type === "again") {
        again = written;
        written = "";
        part = undefined;
      }
      if (event.type !== "text-delta") return;
      const key = partKeyOf(event);
      if (part !== undefined && part !== key) say("\n\n");
      part = key;
      say(event.delta);
    },
    end() {
      if (!stream && written !== "") io.write(written);
      if (written !== "" && !written.endsWith("\n")) io.write("\n");
    },
  };
}

function commonStart(left: string, right: string): number {
  let length = 0;
  while (length < left.length && length < right.length && left[length] === right[length]) length += 1;
  return length;
}

/** The answer as a person reads it: markdown, drawn while it comes. */
function rendered(io: Io, stream: boolean): AnswerPrinter {
  const screen = new Screen(process.stdout);
  const options = { columns: Math.min(io.columns ?? 80, 100), style: io.style };
  const parts = new Map<string, MarkdownStream>();
  let current: string | undefined;
  let thought = "";
  const finish = (fold: AnswerFold) => {
    if (current === undefined) return;
    const { finished } = streamOf(current).update(fold.texts.get(current) ?? "", { ...options, whole: true });
    screen.print([...finished, ""]);
    screen.show({ rows: [] });
    current = undefined;
  };
  const streamOf = (key: string) => {
    const found = parts.get(key) ?? new MarkdownStream();
    parts.set(key, found);
    return found;
  };
  return {
    pause(fold) {
      // What was said stands before what follows it.
      finish(fold);
      screen.show({ rows: [] });
      screen.draw();
    },
    take(event, fold) {
      if (event.type === "step-complete" || event.type === "done") finish(fold);
      if (event.type === "reasoning-delta" && stream && current === undefined) {
        thought = (thought + safeText(event.delta)).slice(-2_000);
        const [line = ""] = wrap(thought, { columns: options.columns - 2 }).slice(-1);
        screen.show({ rows: [io.style.dim(`┊ ${line}`)] });
      }
      if (event.type !== "text-delta") return;
      const key = partKeyOf(event);
      if (current !== key) finish(fold);
      current = key;
      const { finished, live } = streamOf(key).update(safeText(fold.texts.get(key) ?? ""), {
        ...options,
        whole: false,
      });
      screen.print(finished);
      screen.show({ rows: stream ? live : [] });
    },
    end(fold) {
      finish(fold);
      screen.close();
    },
  };
}
