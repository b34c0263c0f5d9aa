import type { Clock } from "@parley/http";

interface VirtualTimer {
  readonly callback: () => void;
  readonly dueAt: number;
  readonly delayMs: number;
}

/** A clock that advances only on request. */
export class VirtualClock implements Clock {
  #monotonic = 1000;
  #wall = Date.parse("2026-01-01T00:00:00Z");
  readonly #timers = new Set<VirtualTimer>();
  readonly #watchers = new Set<{ delayMs: number; resolve: () => void }>();

  /** Timers that are set and have not fired. */
  get pending(): number {
    return this.#timers.size;
  }

  readonly wallNow = (): number => this.#wall;

  readonly monotonicNow = (): number => this.#monotonic;

  setTimer(callback: () => void, delayMs: number): unknown {
    const timer = { callback, delayMs, dueAt: this.#monotonic + delayMs };
    this.#timers.add(timer);
    for (const watcher of this.#watchers) {
      if (watcher.delayMs !== delayMs) continue;
      this.#watchers.delete(watcher);
      watcher.resolve();
    }
    return timer;
  }

  clearTimer(timer: unknown): void {
    this.#timers.delete(timer as VirtualTimer);
  }

  /** Resolves once a timer of exactly this delay is set. */
  timer(delayMs: number): Promise<void> {
    for (const timer of this.#timers) if (timer.delayMs === delayMs) return Promise.resolve();
    return new Promise((resolve) => this.#watchers.add({ delayMs, resolve }));
  }

  /** Advances the time, firing due timers in their order. */
  advance(ms: number): void {
    const end = this.#monotonic + ms;
    for (;;) {
      let next: VirtualTimer | undefined;
      for (const timer of this.#timers) {
        if (timer.dueAt <= end && (next === undefined || timer.dueAt < next.dueAt)) next = timer;
      }
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#step(Math.max(0, next.dueAt - this.#monotonic));
      next.callback();
    }
    this.#step(end - this.#monotonic);
  }

  /** Sets the wall clock, as an administrator or NTP would; durations must not be affected. */
  setWall(at: number): void {
    this.#wall = at;
  }

  #step(ms: number): void {
    this.#monotonic += ms;
    this.#wall += ms;
  }
}
