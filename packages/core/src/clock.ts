/** Time, injected so that tests hold it in their hand. */
export interface Clock {
  /** Wall-clock time in epoch milliseconds. May jump. */
  now(): number;
  /** Milliseconds from an arbitrary point. Never goes back: for durations and deadlines. */
  monotonic(): number;
  /** Calls back once after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
