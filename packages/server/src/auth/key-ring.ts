import { timingSafeEqual } from "node:crypto";
import type { Clock } from "@parley/core";
import type { ApiKeyRecord, KeyStore } from "@parley/core/ports";
import { hashSecret, looksLikeSecret } from "./api-key.js";

const mostRemembered = 10_000;
const touchMs = 60_000;

interface Remembered {
  readonly answer: Promise<ApiKeyRecord | null>;
  readonly until: number;
}

/**
 * The keys of a store, remembered for a moment. So a busy caller costs one look per moment, and a key that another node
 * has revoked works for a moment longer; what this node revokes it forgets at once.
 */
export class KeyRing {
  readonly #keys: KeyStore;
  readonly #clock: Clock;
  readonly #forMs: number;
  readonly #byHash = new Map<string, Remembered>();
  readonly #touched = new Map<string, number>();
  #any: { readonly answer: Promise<boolean>; readonly until: number } | undefined;

  constructor(keys: KeyStore, clock: Clock, forMs: number) {
    this.#keys = keys;
    this.#clock = clock;
    this.#forMs = forMs;
  }

  /** The key with this secret, or null. */
  async find(secret: string): Promise<ApiKeyRecord | null> {
    if (!looksLikeSecret(secret)) return null;
    return this.findByHash(hashSecret(secret));
  }

  /** The key with this hash, or null. */
  async findByHash(hash: string): Promise<ApiKeyRecord | null> {
    const now = this.#clock.monotonic();
    let known = this.#byHash.get(hash);
    if (known === undefined || known.until <= now) {
      known = { answer: this.#look(hash), until: now + this.#forMs };
      if (this.#byHash.size >= mostRemembered) this.#byHash.clear();
      this.#byHash.set(hash, known);
      // A look that failed is not an answer: the next caller looks again.
      known.answer.catch(() => {
        if (this.#byHash.get(hash) === known) this.#byHash.delete(hash);
      });
    }
    const record = await known.answer;
    if (record !== null) this.#touch(record);
    return record;
  }

  /** Whether there is any key at all. */
  async hasAny(): Promise<boolean> {
    const now = this.#clock.monotonic();
    let known = this.#any;
    if (known === undefined || known.until <= now) {
      known = { answer: this.#keys.list().then((all) => all.length > 0), until: now + this.#forMs };
      this.#any = known;
      known.answer.catch(() => {
        if (this.#any === known) this.#any = undefined;
      });
    }
    return known.answer;
  }

  /** Keys were added or removed here: nothing that is remembered holds. */
  forget(): void {
    this.#byHash.clear();
    this.#any = undefined;
  }

  async #look(hash: string): Promise<ApiKeyRecord | null> {
    const record = await this.#keys.find(hash);
    if (record === null) return null;
    // The store compares as it likes; this comparison takes as long for a near miss as for a far one.
    const given = Buffer.from(hash, "hex");
    const kept = Buffer.from(record.hash, "hex");
    return given.length === kept.length && timingSafeEqual(given, kept) ? record : null;
  }

  /** Notes the use, at most once a minute. Losing the note loses nothing else. */
  #touch({ id }: ApiKeyRecord): void {
    const now = this.#clock.now();
    if (now - (this.#touched.get(id) ?? Number.NEGATIVE_INFINITY) < touchMs) return;
    if (this.#touched.size >= mostRemembered) this.#touched.clear();
    this.#touched.set(id, now);
    this.#keys.touch(id, now).catch(() => {});
  }
}
