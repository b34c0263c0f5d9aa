import { lexer, type Token } from "marked";
import { type MarkdownOptions, renderToken } from "./markdown.js";
import { safeText } from "./text-width.js";

/** What a growing text has become. */
export interface MarkdownProgress {
  /** Lines that will not change any more, and were not given before. */
  readonly finished: readonly string[];
  /** The piece that still grows, as it looks now. */
  readonly live: readonly string[];
}

/**
 * Renders markdown while it is being written. A paragraph, list, table or code is finished when the next one begins:
 * until then its look may change, so it is shown as live and drawn anew with every word.
 */
export class MarkdownStream {
  #finished = "";
  #pieces = 0;

  /** What was given as finished, as text. */
  get finishedText(): string {
    return this.#finished;
  }

  /** Takes the whole text so far. `whole`: nothing more will come. */
  update(text: string, options: MarkdownOptions & { readonly whole: boolean }): MarkdownProgress {
    const pending = safeText(text).slice(this.#finished.length);
    const tokens = lexer(pending);
    let last = tokens.length - 1;
    while (last >= 0 && tokens[last]?.type === "space") last -= 1;
    const until = options.whole ? tokens.length : Math.max(0, last);
    const finished = tokens.slice(0, until).flatMap((token) => {
      this.#finished += token.raw;
      return this.#render(token, options);
    });
    const growing = tokens[until];
    if (growing === undefined || growing.type === "space") return { finished, live: [] };
    return { finished, live: [...(this.#pieces === 0 ? [] : [""]), ...renderToken(growing, options)] };
  }

  #render(token: Token, options: MarkdownOptions): string[] {
    if (token.type === "space") return [];
    this.#pieces += 1;
    return [...(this.#pieces === 1 ? [] : [""]), ...renderToken(token, options)];
  }
}
