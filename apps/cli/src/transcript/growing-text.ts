import { MarkdownStream } from "../terminal/markdown-stream.js";
import { safeText } from "../terminal/safe-text.js";
import type { TextEntry, ThinkingEntry } from "./entries.js";
import { type EntryOptions, renderThinking } from "./render-entry.js";

/** A change of a text that grows. */
export interface Growth {
  /** Lines that are final and were not given before. */
  readonly finished: readonly string[];
  /** The rest, as it looks now. */
  readonly live: readonly string[];
}

/** A text that is printed while it grows. Lines returned as finished are printed and cannot be changed any more. */
export interface GrowingText {
  /** True if a part was returned as finished. */
  readonly hasPrinted: boolean;
  /**
   * Compares the text with what is printed: it continues it, it is shorter (by this number of characters), or it
   * says something else.
   */
  compare(text: string): "continues" | "differs" | { readonly lost: number };
  update(entry: TextEntry | ThinkingEntry, options: EntryOptions): Growth;
}

/** An answer: markdown, of which each piece is final when the next one begins. */
export function growingAnswer(): GrowingText {
  const stream = new MarkdownStream();
  return {
    get hasPrinted() {
      return stream.finishedText !== "";
    },
    compare: (text) => compareTexts(safeText(text), stream.finishedText),
    update: (entry, options) => stream.update(entry.text, { ...options, whole: entry.done }),
  };
}

/** Reasoning: no markup to wait for, so every line but the last is final. */
export function growingThought(columns: number): GrowingText {
  let printed = 0;
  let seen = "";
  return {
    get hasPrinted() {
      return printed > 0;
    },
    compare: (text) => compareTexts(text, printed > 0 ? seen : ""),
    update(entry, options) {
      seen = entry.text;
      if (options.showReasoning === false) return { finished: [], live: [] };
      // Wrapped at the width at its beginning: with another one the printed lines would be other lines.
      const lines = renderThinking(entry.text, { ...options, columns });
      const until = entry.done ? lines.length : Math.max(printed, lines.length - 1);
      const finished = lines.slice(printed, until);
      printed = Math.max(printed, until);
      return { finished, live: lines.slice(until) };
    },
  };
}

function compareTexts(text: string, printed: string): ReturnType<GrowingText["compare"]> {
  if (text.startsWith(printed)) return "continues";
  return printed.startsWith(text) ? { lost: printed.trimEnd().length - text.trimEnd().length } : "differs";
}
