type Schedule = (callback: () => void) => unknown;

/** Runs after the input that has arrived; a timer if the platform has nothing better. */
const schedule: Schedule =
  (globalThis as { setImmediate?: Schedule }).setImmediate ?? ((callback) => setTimeout(callback, 0));

/** Resolves after timers, sockets and other turns have run. Awaiting a promise alone lets none of them run. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    schedule(resolve);
  });
}

/** Number of small pieces of work between two yields: a few milliseconds of work. */
export const sliceLength = 128;

/**
 * Cuts long work into slices: call `next` once per piece and await what it returns, if anything. However many pieces
 * there are, other work of the process waits for one slice only.
 */
export class WorkSlices {
  #done = 0;

  /** `weight`: number of small pieces that the next one equals. */
  next(weight = 1): Promise<void> | undefined {
    this.#done += weight;
    if (this.#done < sliceLength) return undefined;
    this.#done = 0;
    return yieldToEventLoop();
  }
}
