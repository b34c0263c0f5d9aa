/** A section of an answer, classified. Never empty. */
export interface AnswerPiece {
  readonly kind: "text" | "reasoning";
  readonly text: string;
}

const opening = "<think>";
const closing = "</think>";

/**
 * Splits the text of an answer that starts with reasoning in `<think>` tags, as open models write it if their
 * server does not remove it. A tag counts only at the start: later it is part of the text.
 *
 * - `start`: nothing but whitespace and the start of `<think>` has arrived; it is held back.
 * - `thinking`: inside the tags. Held back are a possible start of `</think>`, and whitespace that may be the
 *   last of the reasoning.
 * - `after`: after `</think>`, where whitespace is dropped.
 * - `text`: everything passes.
 *
 * Pure: the pieces of one text are the same however it is cut. At most nine characters and a run of
 * whitespace are held back.
 */
export class ThinkTags {
  readonly #opened: boolean;
  #phase: "start" | "thinking" | "after" | "text" = "start";
  #held = "";
  /** True once any reasoning was emitted: before that, whitespace is dropped. */
  #thought = false;

  /** `opened`: the answer starts inside the tags, because the server's template has written the first one. */
  constructor(options: { readonly opened?: boolean } = {}) {
    this.#opened = options.opened === true;
  }

  /** True if everything that follows is text. */
  get passes(): boolean {
    return this.#phase === "text";
  }

  /** Classifies a further piece of the answer's text. */
  push(text: string): AnswerPiece[] {
    const pieces: AnswerPiece[] = [];
    let rest = this.#held + text;
    this.#held = "";
    if (this.#phase === "start") rest = this.#begin(rest, pieces);
    if (this.#phase === "thinking") rest = this.#think(rest, pieces);
    if (this.#phase === "after") {
      rest = rest.trimStart();
      if (rest !== "") this.#phase = "text";
    }
    if (this.#phase === "text") add(pieces, "text", rest);
    return pieces;
  }

  /**
   * Returns the text that was held back, when the text is over or something else follows. Anything after that
   * is text.
   */
  end(): AnswerPiece[] {
    const pieces: AnswerPiece[] = [];
    const isReasoning = this.#phase === "thinking" || (this.#phase === "start" && this.#opened);
    if (!isReasoning) add(pieces, "text", this.#held);
    else add(pieces, "reasoning", this.#thought ? this.#held.trimEnd() : this.#held.trim());
    this.#phase = "text";
    this.#held = "";
    return pieces;
  }

  #begin(text: string, pieces: AnswerPiece[]): string {
    const trimmed = text.trimStart();
    if (trimmed.startsWith(opening)) {
      this.#phase = "thinking";
      return trimmed.slice(opening.length);
    }
    if (opening.startsWith(trimmed)) {
      this.#held = text;
      return "";
    }
    this.#phase = this.#opened ? "thinking" : "text";
    if (this.#opened) return trimmed;
    add(pieces, "text", text);
    return "";
  }

  #think(text: string, pieces: AnswerPiece[]): string {
    const given = this.#thought ? text : text.trimStart();
    const end = given.indexOf(closing);
    const shown = end < 0 ? given.slice(0, sureLength(given)) : given.slice(0, end).trimEnd();
    if (shown !== "") this.#thought = true;
    add(pieces, "reasoning", shown);
    if (end < 0) {
      this.#held = given.slice(shown.length);
      return "";
    }
    this.#phase = "after";
    return given.slice(end + closing.length);
  }
}

/**
 * Returns the length of the reasoning that can be emitted: without the start of a tag, and without whitespace
 * before it or at the end.
 */
function sureLength(text: string): number {
  let length = text.length;
  for (let size = Math.min(closing.length - 1, text.length); size > 0; size -= 1) {
    if (!text.endsWith(closing.slice(0, size))) continue;
    length = text.length - size;
    break;
  }
  return text.slice(0, length).trimEnd().length;
}

function add(pieces: AnswerPiece[], kind: AnswerPiece["kind"], text: string): void {
  if (text !== "") pieces.push({ kind, text });
}
