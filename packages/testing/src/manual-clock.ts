import type { Clock } from "@parley/core";

/** A clock that advances only when the test moves it. */
export interface ManualClock extends Clock {
  /**
   * Advances the time. Timers fire one after the other, each at its own time, and everything that one of them
   * triggers has run as far as it can before the next one fires. `advance(0)` only waits for code in progress.
   */
  advance(ms: number): Promise<void>;
  /**
   * Advances the time unnoticed, as for a process that was suspended: timers that came due meanwhile fire with the
   * next `advance`, late.
   */
  jump(ms: number): void;
  /** Number of timers that are set. */
  readonly pending: number;
}

export interface ManualClockOptions {
  /** Epoch milliseconds at the start. Default: a date in 2023. */
  readonly now?: number;
}

interface Timer {
  readonly at: number;
  /** Of timers for the same moment, the one that was set first fires first. */
  readonly order: number;
  readonly callback: () => void;
}

/** Creates a clock that the test controls. Wall time and monotonic time move together. */
export function createManualClock(options: ManualClockOptions = {}): ManualClock {
  const start = options.now ?? 1_700_000_000_000;
  const timers = new Set<Timer>();
  let passed = 0;
  let set = 0;

  const nextDue = (until: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.at > until) continue;
      const isEarlier = next === undefined || timer.at < next.at;
      if (isEarlier || (timer.at === next?.at && timer.order < next.order)) next = timer;
    }
    return next;
  };
  return {
    now: () => start + passed,
    monotonic: () => passed,
    after(ms, callback) {
      set += 1;
      const timer = { at: passed + Math.max(0, ms), order: set, callback };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    async advance(ms) {
      const until = passed + ms;
      await settle();
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer);
        passed = Math.max(passed, timer.at);
        timer.callback();
        await settle();
      }
      passed = Math.max(passed, until);
    },
    jump(ms) {
      passed += ms;
    },
    get pending() {
      return timers.size;
    },
  };
}

/**
 * Resolves when every promise that can settle without time or input has done so: a message to the same process
 * arrives after all of them.
 */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
