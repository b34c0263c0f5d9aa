import type { ConversationState } from "@parley/client";
import { type Entry, entriesOf, type TextEntry, type ThinkingEntry, type ToolEntry } from "./entries.js";
import { type GrowingText, growingAnswer, growingThought } from "./growing-text.js";
import { type EntryOptions, renderEntry, renderTool } from "./render-entry.js";

/** The effect of a change of the conversation on the terminal. */
export interface TranscriptUpdate {
  /** Lines that are final. They go up into the scrollback. */
  readonly print: readonly string[];
  /** The part that still changes, as currently rendered. */
  readonly live: readonly string[];
  /** True if a part of it is animated and must be redrawn. */
  readonly isMoving: boolean;
}

const frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/**
 * Turns the states of a conversation into lines for a terminal, in order and each once. Entries are printed when they
 * are final; an answer is printed piece by piece as it comes. What was printed cannot be taken back: when a crash has
 * cost the end of an answer, that is said.
 */
export class TranscriptView {
  readonly #printed = new Set<string>();
  readonly #startedAt = new Map<string, number>();
  readonly #now: () => number;
  #growing: { readonly key: string; readonly text: GrowingText } | undefined;
  #last: Entry["kind"] | undefined;

  constructor(options: { readonly now?: () => number } = {}) {
    this.#now = options.now ?? Date.now;
  }

  /** Treats this number of messages as printed: only those after them, and those that arrive from now on, are printed. */
  skip(state: ConversationState, count = state.messages.length): void {
    const begun = new Set(state.messages.slice(count).map(({ turnId }) => turnId));
    for (const entry of entriesOf({ ...state, messages: state.messages.slice(0, count) })) {
      // A turn of which more is shown has its end there.
      const isCut = entry.kind === "end" && begun.has(entry.turn.turnId);
      if (entry.done && !isCut) this.#printed.add(entry.key);
    }
  }

  update(state: ConversationState, options: EntryOptions): TranscriptUpdate {
    const entries = entriesOf(state);
    const seen = entries.findLastIndex(({ key }) => this.#printed.has(key));
    const print = [...this.#vanished(entries, seen, options)];
    const live: string[] = [];
    let isMoving = false;
    let blocked = false;
    for (const [index, entry] of entries.entries()) {
      // What turns up before something that was printed is older history, which was not asked for.
      if (index <= seen) continue;
      if (!blocked && (entry.kind === "text" || entry.kind === "thinking")) {
        const { finished, rest } = this.#grow(entry, options);
        print.push(...finished);
        live.push(...rest);
        blocked = !entry.done;
        continue;
      }
      const lines = this.#separated(entry, this.#render(entry, options), blocked);
      if (blocked || !entry.done) {
        blocked = true;
        live.push(...lines);
        if (entry.kind === "tool" && entry.status === "running") isMoving = true;
      } else {
        print.push(...lines);
        this.#finish(entry, lines.length > 0);
      }
    }
    return { print, live, isMoving };
  }

  #render(entry: Entry, options: EntryOptions): string[] {
    if (entry.kind !== "tool" || entry.status !== "running") return renderEntry(entry, options);
    return this.#renderRunning(entry, options);
  }

  #renderRunning(entry: ToolEntry, options: EntryOptions): string[] {
    const now = this.#now();
    const since = this.#startedAt.get(entry.key) ?? now;
    this.#startedAt.set(entry.key, since);
    const spinner = frames[Math.floor(now / 100) % frames.length] ?? "";
    return renderTool(entry, options, spinner, now - since);
  }

  /** Prints what is final of a text that grows, and gives the rest as it looks now. */
  #grow(entry: TextEntry | ThinkingEntry, options: EntryOptions): { finished: string[]; rest: string[] } {
    const finished: string[] = [];
    let text = this.#growing?.key === entry.key ? this.#growing.text : undefined;
    const comparison = text?.compare(entry.text) ?? "continues";
    if (comparison === "differs") {
      finished.push(options.style.yellow("↺ this was begun again; what stands above was not kept"));
      text = undefined;
    } else if (comparison !== "continues") {
      if (!entry.done) return { finished, rest: [] };
      this.#finish(entry, true);
      const notice = `↺ the last ${comparison.lost} characters above were lost with the server`;
      return { finished: [options.style.yellow(notice)], rest: [] };
    }
    text ??= entry.kind === "text" ? growingAnswer() : growingThought(options.columns);
    this.#growing = { key: entry.key, text };
    const gap = text.hasPrinted ? [] : this.#gapBefore(entry);
    const { finished: more, live } = text.update(entry, options);
    if (more.length > 0) finished.push(...gap, ...more);
    const rest = live.length === 0 ? [] : [...(more.length > 0 ? [] : gap), ...live];
    if (entry.done) this.#finish(entry, text.hasPrinted);
    return { finished, rest };
  }

  /**
   * An answer that was being printed and is not there any more. It may come back a moment later, when a client receives
   * again what is durable: only when something else follows in its place is it lost.
   */
  #vanished(entries: readonly Entry[], seen: number, { style }: EntryOptions): string[] {
    const growing = this.#growing;
    if (growing === undefined || seen === entries.length - 1) return [];
    if (entries.some(({ key }) => key === growing.key)) return [];
    this.#growing = undefined;
    return growing.text.hasPrinted ? [style.yellow("↺ what was said last was lost with the server")] : [];
  }

  #finish(entry: Entry, hasPrinted: boolean): void {
    this.#printed.add(entry.key);
    this.#startedAt.delete(entry.key);
    if (this.#growing?.key === entry.key) this.#growing = undefined;
    if (hasPrinted) this.#last = entry.kind;
  }

  #separated(entry: Entry, lines: readonly string[], blocked: boolean): string[] {
    if (lines.length === 0) return [];
    const gap = blocked && isWork(entry.kind) ? [] : blocked ? [""] : this.#gapBefore(entry);
    return [...gap, ...lines];
  }

  /** Separates the text of model and user; reasoning and tools stay together. */
  #gapBefore(entry: Entry): string[] {
    if (this.#last === undefined) return [];
    return isWork(entry.kind) && isWork(this.#last) ? [] : [""];
  }
}

function isWork(kind: Entry["kind"]): boolean {
  return kind === "thinking" || kind === "tool" || kind === "attachment";
}
