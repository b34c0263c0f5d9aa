import { lexer, type Token, type Tokens } from "marked";
import { type MarkdownOptions, renderToken } from "./markdown.js";
import { safeText } from "./safe-text.js";

/** The state of a growing text. */
export interface MarkdownProgress {
  /** Lines that will not change any more, and were not given before. */
  readonly finished: readonly string[];
  /** The piece that still grows, as it looks now. */
  readonly live: readonly string[];
}

/**
 * Renders markdown while it is being written. A paragraph, list, table or code is finished when the next one begins:
 * until then its look may change, so it is shown as live and redrawn with every word.
 */
export class MarkdownStream {
  #finished = "";
  #pieces = 0;

  /** The text that was returned as finished. */
  get finishedText(): string {
    return this.#finished;
  }

  /** Takes the whole text so far. `whole`: nothing more will come. */
  update(text: string, options: MarkdownOptions & { readonly whole: boolean }): MarkdownProgress {
    const pending = safeText(text).slice(this.#finished.length);
    const tokens = lexer(pending);
    const until = options.whole ? tokens.length : growingAt(tokens);
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

/** The place of the first piece that may still change: the last one, or a list whose next item may be coming. */
function growingAt(tokens: readonly Token[]): number {
  const last = contentBefore(tokens, tokens.length);
  const before = contentBefore(tokens, last);
  const [list, next] = [tokens[before], tokens[last]];
  const isNumber = next?.type === "paragraph" && /^\d{1,9}$/.test(next.raw.trim());
  const isItemComing = list?.type === "list" && (list as Tokens.List).ordered && isNumber;
  return Math.max(0, isItemComing ? before : last);
}

function contentBefore(tokens: readonly Token[], place: number): number {
  return tokens.slice(0, Math.max(0, place)).findLastIndex(({ type }) => type !== "space");
}
