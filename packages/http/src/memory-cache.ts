import { type Clock, systemClock } from "./clock.js";
import type { HttpCache } from "./ports.js";

/** Limits of a {@link MemoryHttpCache}. */
export interface MemoryHttpCacheOptions {
  /** Default 500; beyond it the least recently used entry is removed. */
  maxEntries?: number;
  clock?: Clock;
}

/**
 * An in-process cache, bounded in entries, that removes the least recently used first. Values are copied in
 * and out, so that no reader can change what another one gets.
 */
export class MemoryHttpCache implements HttpCache {
  // A Map iterates in insertion order; re-inserting on use makes its first key the least recently used.
  readonly #entries = new Map<string, { value: unknown; expiresAt: number }>();
  readonly #maxEntries: number;
  readonly #clock: Clock;

  constructor(options: MemoryHttpCacheOptions = {}) {
    this.#maxEntries = Math.max(1, options.maxEntries ?? 500);
    this.#clock = options.clock ?? systemClock;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): unknown {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    if (entry.expiresAt <= this.#clock.monotonicNow()) return undefined;
    this.#entries.set(key, entry);
    return structuredClone(entry.value);
  }

  set(key: string, value: unknown, ttlMs: number): void {
    this.#entries.delete(key);
    if (!(ttlMs > 0)) return;
    this.#entries.set(key, { value: structuredClone(value), expiresAt: this.#clock.monotonicNow() + ttlMs });
    if (this.#entries.size <= this.#maxEntries) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  clear(): void {
    this.#entries.clear();
  }
}
