/** Length at which pieces are joined, so that a line that arrives in tiny pieces is not kept as millions of them. */
const crumbsLength = 65_536;

/**
 * Assembles lines from the pieces of a text. Each piece is searched once, when it arrives, and the pieces of a line
 * are joined when it is complete: a line of many pieces costs as much as its length.
 */
export class LineSplitter {
  #pieces: string[] = [];
  #crumbs: string[] = [];
  #crumbsLength = 0;

  /** Takes the next piece and returns the lines that it completes, without their ends. */
  take(piece: string): string[] {
    const lines = piece.split("\n");
    const rest = lines.pop() ?? "";
    if (lines.length > 0) lines[0] = this.#join(lines[0]);
    this.#keep(rest);
    return lines;
  }

  /** Returns the text after the last end of a line. */
  end(): string {
    return this.#join();
  }

  #keep(piece: string): void {
    if (piece === "") return;
    this.#crumbs.push(piece);
    this.#crumbsLength += piece.length;
    if (this.#crumbsLength < crumbsLength) return;
    this.#pieces.push(this.#crumbs.join(""));
    this.#crumbs = [];
    this.#crumbsLength = 0;
  }

  #join(last = ""): string {
    const line = [...this.#pieces, ...this.#crumbs, last].join("");
    this.#pieces = [];
    this.#crumbs = [];
    this.#crumbsLength = 0;
    return line;
  }
}
