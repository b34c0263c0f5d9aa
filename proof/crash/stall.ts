const tickMs = 50;
/** How many plain questions a take-over is made of: reading what is open, then writing how it goes on. */
const questionsPerTakeOver = 6;

/**
 * Measures how much slower this machine is than one with nothing else to do: how late it does what is due, and how long
 * a node takes to answer a plain question about its store, which takes next to no time where nobody is in the way.
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

  /** By how much everything may be late. */
  get ms(): number {
    return Math.max(this.#latestMs, performance.now() - this.#dueAt) + questionsPerTakeOver * this.#slowestMs;
  }

  /** Waits for the answer to a plain question, and notes how long that took. */
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
