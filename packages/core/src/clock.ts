/** Time, injected so that tests hold it in their hand. */
export interface Clock {
  /** Wall-clock time in epoch milliseconds. May jump. */
  now(): number;
  /** Milliseconds from an arbitrary point. Never goes back: for durations and deadlines. */
  monotonic(): number;
  /** Calls back once after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void;
}

/** Read once: the global is a getter, which costs as much as the reading. */
const timer = globalThis.performance;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => timer.now(),
  after(ms, callback) {
    const timeout = setTimeout(callback, ms);
    return () => clearTimeout(timeout);
  },
};
