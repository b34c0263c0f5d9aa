const tickMs = 50;

/** Measures how late this machine does what is due: what a node may be late as well, through no fault of its own. */
export class Stall {
  readonly #timer: NodeJS.Timeout;
  #dueAt = performance.now() + tickMs;
  #longestMs = 0;

  constructor() {
    this.#timer = setInterval(() => {
      const at = performance.now();
      this.#longestMs = Math.max(this.#longestMs, at - this.#dueAt);
      this.#dueAt = at + tickMs;
    }, tickMs);
  }

  /** The longest delay so far. */
  get longestMs(): number {
    return Math.max(this.#longestMs, performance.now() - this.#dueAt);
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
