import type { SearchBounds } from "./search-bounds.js";

interface Waiting {
  readonly owner: string;
  enter(): void;
}

/**
 * Lets a few searches run at once, so that they never take all connections, and few of one owner, so that one owner's
 * searches do not block others'. The rest wait for their turn, in order, for a limited time.
 */
export class SearchGate {
  readonly #bounds: Pick<SearchBounds, "atOnce" | "perOwner" | "waitMs">;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #count = 0;

  constructor(bounds: Pick<SearchBounds, "atOnce" | "perOwner" | "waitMs">) {
    this.#bounds = bounds;
  }

  /** Runs a search when it is its turn; undefined when its turn does not come in time. */
  async pass<T>(owner: string, search: () => Promise<T>): Promise<T | undefined> {
    if (!(await this.#enter(owner))) return undefined;
    try {
      return await search();
    } finally {
      this.#leave(owner);
    }
  }

  #enter(owner: string): Promise<boolean> {
    if (this.#mayRun(owner)) {
      this.#begin(owner);
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        resolve(false);
      }, this.#bounds.waitMs);
      const waiting: Waiting = {
        owner,
        enter: () => {
          clearTimeout(timer);
          this.#waiting.delete(waiting);
          this.#begin(owner);
          resolve(true);
        },
      };
      this.#waiting.add(waiting);
    });
  }

  #mayRun(owner: string): boolean {
    return this.#count < this.#bounds.atOnce && (this.#running.get(owner) ?? 0) < this.#bounds.perOwner;
  }

  #begin(owner: string): void {
    this.#count += 1;
    this.#running.set(owner, (this.#running.get(owner) ?? 0) + 1);
  }

  #leave(owner: string): void {
    this.#count -= 1;
    const running = (this.#running.get(owner) ?? 1) - 1;
    if (running === 0) this.#running.delete(owner);
    else this.#running.set(owner, running);
    for (const waiting of this.#waiting) if (this.#mayRun(waiting.owner)) waiting.enter();
  }
}
