/** Where the client takes time from. Tests inject their own; everything else uses {@link systemClock}. */
export interface Clock {
  /** Wall-clock milliseconds since the epoch. Read only to interpret and to report dates. */
  wallNow(): number;
  /** Milliseconds that never run backwards. Every timeout, deadline and duration is measured with these. */
  monotonicNow(): number;
  /** Calls back once after about `delayMs`. */
  setTimer(callback: () => void, delayMs: number): unknown;
  /** Forgets a timer, fired or not. */
  clearTimer(timer: unknown): void;
}

/** The longest delay that `setTimeout` takes; anything longer would fire at once. */
export const MAX_TIMER_MS = 2_147_483_647;

/** The clock of the machine. */
export const systemClock: Clock = {
  wallNow: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimer: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};
