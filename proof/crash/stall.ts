const tickMs = 50;
/** Number of plain queries that a take-over consists of: reading what is open, then writing how it continues. */
const questionsPerTakeOver = 6;

/**
 * Measures how much slower this machine is than an idle one: the delay of its timers, and the time a node takes to
 * answer a plain query to its store, which takes next to no time on an idle machine.
 */
export class Stall {
  readonly #timer: NodeJS.Timeout;
  #dueAt = performance.now() + tickMs;
  #latestMs = 0;
  #slowestMs = 0;

  constructor() {
    this.#timer = setInterval(() => {
      const at = performance.now();
      this.#latestMs = Math.max(this.#latestMs, at - this.#dueAt);
      this.#dueAt = at + tickMs;
    }, tickMs);
  }

  /** Returns the delay that everything may have. */
  get ms(): number {
    return Math.max(this.#latestMs, performance.now() - this.#dueAt) + questionsPerTakeOver * this.#slowestMs;
  }

  /** Waits for the answer to a plain query, and records how long that took. */
  async measure<T>(answer: Promise<T>): Promise<T> {
    const from = performance.now();
    const value = await answer;
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - from);
    return value;
  }

  end(): void {
    clearInterval(this.#timer);
  }
}
