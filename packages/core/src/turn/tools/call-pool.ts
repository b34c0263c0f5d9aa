import { WorkSlices } from "../../event-loop.js";

/**
 * Runs calls by their place, a limited number at a time, in the order in which they were added; more may be added while others
 * run. Once the signal aborts, no more are started.
 */
export class CallPool {
  readonly #work: (index: number) => Promise<void>;
  readonly #limit: number;
  readonly #signal: AbortSignal | undefined;
  readonly #ready: number[] = [];
  readonly #slices = new WorkSlices();
  #running = 0;
  #failure: { readonly error: unknown } | undefined;
  #onIdle: (() => void) | undefined;

  constructor(limit: number, work: (index: number) => Promise<void>, signal: AbortSignal | undefined) {
    this.#limit = Math.max(1, limit);
    this.#work = work;
    this.#signal = signal;
  }

  add(index: number): void {
    this.#ready.push(index);
    this.#start();
  }

  /** Resolves when nothing runs and nothing is left to start. Rejects with the error that the work threw. */
  async idle(): Promise<void> {
    while (this.#running > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #start(): void {
    while (this.#running < this.#limit && this.#ready.length > 0 && !this.#isEnded()) {
      this.#running += 1;
      void this.#runOn(this.#ready.shift() as number);
    }
  }

  async #runOn(first: number): Promise<void> {
    try {
      for (let index: number | undefined = first; index !== undefined; ) {
        await this.#work(index);
        await this.#slices.next();
        index = this.#isEnded() ? undefined : this.#ready.shift();
      }
    } catch (error) {
      this.#failure ??= { error };
    }
    this.#running -= 1;
    if (this.#running === 0) this.#onIdle?.();
  }

  #isEnded(): boolean {
    return this.#signal?.aborted === true || this.#failure !== undefined;
  }
}
