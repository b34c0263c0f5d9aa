import { availableParallelism } from "node:os";

/** Limits the number of concurrent tasks; the others wait in line. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** A case waits half of its time, for leases and processes: two for each core keep a machine busy, and not more. */
  constructor(count = 2 * availableParallelism()) {
    this.#free = count;
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
