import type { Clock } from "@parley/core";

/** Calls all listeners at an interval, with one timer for all, and none while there is no listener. */
export class IntervalTimer {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #listeners = new Set<() => void>();
  #stop: (() => void) | undefined;

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Adds a listener. Returns a function that removes it. */
  add(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    this.#stop ??= this.#clock.after(this.#everyMs, () => this.#tick());
    return () => {
      this.#listeners.delete(own);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  }

  #tick(): void {
    this.#stop = this.#clock.after(this.#everyMs, () => this.#tick());
    for (const listener of [...this.#listeners]) listener();
  }
}
