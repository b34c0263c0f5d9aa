/** Source of time for the client. Tests inject their own; everything else uses {@link systemClock}. */
export interface Clock {
  /** Wall-clock milliseconds since the epoch. Read only to interpret and to report dates. */
  wallNow(): number;
  /** Milliseconds that never run backwards. All timeouts, deadlines and durations are measured with them. */
  monotonicNow(): number;
  /** Calls `callback` once after about `delayMs`. */
  setTimer(callback: () => void, delayMs: number): unknown;
  /** Clears a timer, fired or not. */
  clearTimer(timer: unknown): void;
}

/** The longest delay that `setTimeout` accepts; anything longer would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/** The system clock. */
export const systemClock: Clock = {
  wallNow: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimer: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};
