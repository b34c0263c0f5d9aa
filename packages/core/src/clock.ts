/** Time source, injected so that tests control it. */
export interface Clock {
  /** Returns wall-clock time in epoch milliseconds. May jump. */
  now(): number;
  /** Milliseconds from an arbitrary point. Never decreases: for durations and deadlines. */
  monotonic(): number;
  /** Calls `callback` once after `ms`; the returned function cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** Read once: the global is a getter, which costs as much as reading the clock. */
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
