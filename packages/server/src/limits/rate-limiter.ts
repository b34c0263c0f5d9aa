import type { Clock } from "@parley/core";

/** Verdict of a bucket on one request. */
export interface RateVerdict {
  readonly allowed: boolean;
  readonly limit: number;
  /** Whole requests left right now. */
  readonly remaining: number;
  /** Seconds until the bucket is full again. */
  readonly resetSeconds: number;
  /** Milliseconds until the next request is accepted; 0 when this one was. */
  readonly retryAfterMs: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

const mostBuckets = 10_000;

/**
 * A token bucket per caller: `burst` requests at once, and `perSecond` over time. A full bucket is the same as none,
 * so full ones are dropped, and there are never more than callers of the last seconds.
 */
export class RateLimiter {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: {
    readonly perSecond: number;
    readonly burst: number;
    readonly clock: Pick<Clock, "monotonic">;
  }) {
    this.#perSecond = options.perSecond;
    this.#burst = options.burst;
    this.#clock = options.clock;
  }

  take(key: string): RateVerdict {
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(key) ?? this.#open(key, now);
    bucket.tokens = this.#filled(bucket, now);
    bucket.at = now;
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    return {
      allowed,
      limit: this.#burst,
      remaining: Math.floor(bucket.tokens),
      resetSeconds: Math.ceil((this.#burst - bucket.tokens) / this.#perSecond),
      retryAfterMs: allowed ? 0 : Math.ceil(((1 - bucket.tokens) / this.#perSecond) * 1_000),
    };
  }

  get size(): number {
    return this.#buckets.size;
  }

  #open(key: string, now: number): Bucket {
    if (this.#buckets.size >= mostBuckets) this.#evict(now);
    const bucket = { tokens: this.#burst, at: now };
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #filled(bucket: Bucket, now: number): number {
    return Math.min(this.#burst, bucket.tokens + ((now - bucket.at) / 1_000) * this.#perSecond);
  }

  /** Drops the full buckets; if all are in use, the ones that were opened first. */
  #evict(now: number): void {
    for (const [key, bucket] of this.#buckets) {
      if (this.#filled(bucket, now) >= this.#burst) this.#buckets.delete(key);
    }
    for (const key of this.#buckets.keys()) {
      if (this.#buckets.size < mostBuckets) break;
      this.#buckets.delete(key);
    }
  }
}
