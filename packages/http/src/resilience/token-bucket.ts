import { type Clock, MAX_TIMER_MS, systemClock } from "../clock.js";
import type { AttemptContext, RateLimiter } from "../ports.js";
import type { RateLimitFeedback } from "../response/rate-limit-feedback.js";

/** Rate and burst of a {@link TokenBucketRateLimiter}. */
export interface TokenBucketOptions {
  /** Average attempts per second. */
  perSecond: number;
  /** Attempts that may be sent at once after a quiet period. Default: `perSecond`, at least 1. */
  burst?: number;
  /**
   * The longest pause that one response can cause; after it the server is tried again. Default 60 000. A
   * bucket is shared, so an absurd wait in one response must not stop all callers.
   */
  maxPauseMs?: number;
  /** Returns the key of the bucket that an attempt uses. Default: the origin. */
  keyOf?: (context: AttemptContext) => string;
  clock?: Clock;
}

interface Waiter {
  readonly go: () => void;
}

interface Bucket {
  tokens: number;
  /** Monotonic: the time for which `tokens` was computed. */
  countedAt: number;
  /** Monotonic: the server asked for no attempts before this time. */
  blockedUntil: number;
  readonly waiters: Set<Waiter>;
  timer: unknown;
}

/**
 * An in-process token bucket per origin. Attempts are admitted in the order they arrive. When a server
 * reports that nothing remains, or answers 429 with a wait, its bucket pauses until then. Only a bucket with
 * waiting attempts holds a timer.
 */
export class TokenBucketRateLimiter implements RateLimiter {
  readonly #buckets = new Map<string, Bucket>();
  readonly #perMs: number;
  readonly #burst: number;
  readonly #maxPauseMs: number;
  readonly #keyOf: (context: AttemptContext) => string;
  readonly #clock: Clock;

  constructor(options: TokenBucketOptions) {
    if (!(options.perSecond > 0)) throw new RangeError("perSecond must be above 0");
    this.#perMs = options.perSecond / 1000;
    this.#burst = Math.max(1, options.burst ?? options.perSecond);
    this.#maxPauseMs = options.maxPauseMs ?? 60_000;
    this.#keyOf = options.keyOf ?? ((context) => context.origin);
    this.#clock = options.clock ?? systemClock;
  }

  acquire(context: AttemptContext, signal: AbortSignal): void | Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const bucket = this.#bucket(context);
    if (bucket.waiters.size === 0 && this.#take(bucket)) return;
    return new Promise<void>((resolve, reject) => {
      const waiter: Waiter = {
        go: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        bucket.waiters.delete(waiter);
        if (bucket.waiters.size === 0) this.#stopTimer(bucket);
        reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      bucket.waiters.add(waiter);
      this.#startTimer(bucket);
    });
  }

  report(context: AttemptContext, feedback: RateLimitFeedback, retryAfterMs: number | undefined): void {
    const wall = this.#clock.wallNow();
    let waitMs = feedback.isRateLimited === true ? (retryAfterMs ?? 0) : 0;
    if (feedback.remainingRequests === 0 && feedback.resetRequestsAt !== undefined) {
      waitMs = Math.max(waitMs, feedback.resetRequestsAt.getTime() - wall);
    }
    if (feedback.remainingTokens === 0 && feedback.resetTokensAt !== undefined) {
      waitMs = Math.max(waitMs, feedback.resetTokensAt.getTime() - wall);
    }
    if (waitMs <= 0) return;
    const bucket = this.#bucket(context);
    bucket.blockedUntil = Math.max(
      bucket.blockedUntil,
      this.#clock.monotonicNow() + Math.min(waitMs, this.#maxPauseMs),
    );
  }

  #bucket(context: AttemptContext): Bucket {
    const key = this.#keyOf(context);
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      const countedAt = this.#clock.monotonicNow();
      bucket = { tokens: this.#burst, countedAt, blockedUntil: 0, waiters: new Set(), timer: undefined };
      this.#buckets.set(key, bucket);
    }
    return bucket;
  }

  #take(bucket: Bucket): boolean {
    const now = this.#clock.monotonicNow();
    bucket.tokens = Math.min(this.#burst, bucket.tokens + (now - bucket.countedAt) * this.#perMs);
    bucket.countedAt = now;
    if (now < bucket.blockedUntil || bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  #startTimer(bucket: Bucket): void {
    if (bucket.timer !== undefined) return;
    const now = this.#clock.monotonicNow();
    const refillMs = (1 - bucket.tokens) / this.#perMs - (now - bucket.countedAt);
    const delayMs = Math.max(0, Math.ceil(Math.max(refillMs, bucket.blockedUntil - now)));
    bucket.timer = this.#clock.setTimer(() => this.#letGo(bucket), Math.min(delayMs, MAX_TIMER_MS));
  }

  #letGo(bucket: Bucket): void {
    bucket.timer = undefined;
    for (const waiter of bucket.waiters) {
      if (!this.#take(bucket)) break;
      bucket.waiters.delete(waiter);
      waiter.go();
    }
    if (bucket.waiters.size > 0) this.#startTimer(bucket);
  }

  #stopTimer(bucket: Bucket): void {
    this.#clock.clearTimer(bucket.timer);
    bucket.timer = undefined;
  }
}
