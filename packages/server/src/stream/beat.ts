import type { Clock } from "@parley/core";

/** Calls everyone who is there every so often, with one timer for all, and none while nobody is there. */
export class Beat {
  readonly #clock: Clock;
  readonly #everyMs: number;
  readonly #listeners = new Set<() => void>();
  #stop: (() => void) | undefined;

  constructor(clock: Clock, everyMs: number) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  /** Returns a function that takes it out again. */
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
