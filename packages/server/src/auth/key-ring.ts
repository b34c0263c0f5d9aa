import { timingSafeEqual } from "node:crypto";
import type { Clock } from "@parley/core";
import type { ApiKeyRecord, KeyStore, KeysInUse, LoginRecord } from "@parley/core/ports";
import type { ServerPace } from "../limits/server-limits.js";
import { hashSecret, looksLikeSecret } from "./api-key.js";
import { looksLikeToken } from "./login.js";

const mostRemembered = 10_000;
const touchMs = 60_000;

/** Interval at which an open connection counts as a use of its key or login. Far below the lifetime of a login. */
const inUseMs = 60 * 60_000;

/** A login and its key. */
export interface FoundLogin {
  readonly login: LoginRecord;
  readonly key: ApiKeyRecord;
}

/**
 * The keys and logins of a store, cached for a moment. So a busy caller costs one lookup per moment, and a key that
 * another node has revoked works for a moment longer; what this node revokes it forgets at once.
 */
export class KeyRing {
  readonly #keys: KeyStore;
  readonly #clock: Clock;
  readonly #pace: Pick<ServerPace, "keyMs" | "loginMs">;
  readonly #byHash: Remembered<ApiKeyRecord | null>;
  readonly #byToken: Remembered<FoundLogin | null>;
  readonly #hashes: Remembered<ReadonlySet<string>>;
  readonly #touched = new Map<string, number>();
  /**
   * The keys and logins of open connections, by their hashes, with the time since when their use has not been
   * recorded.
   */
  #inUse: ReadonlyMap<string, number> = new Map();
  #usedAt = Number.NEGATIVE_INFINITY;
  /** Logins that were valid here, the latest last. */
  readonly #seen = new Set<string>();

  constructor(keys: KeyStore, clock: Clock, pace: Pick<ServerPace, "keyMs" | "loginMs">) {
    this.#keys = keys;
    this.#clock = clock;
    this.#pace = pace;
    this.#byHash = new Remembered(clock, pace.keyMs);
    this.#byToken = new Remembered(clock, pace.keyMs);
    this.#hashes = new Remembered(clock, pace.keyMs);
  }

  /** Returns the key with this secret, or null. */
  async find(secret: string): Promise<ApiKeyRecord | null> {
    return looksLikeSecret(secret) ? this.findByHash(hashSecret(secret)) : null;
  }

  /** Returns the key with this hash, or null. */
  async findByHash(hash: string): Promise<ApiKeyRecord | null> {
    const record = await this.#byHash.get(hash, async () => {
      const found = await this.#keys.find(hash);
      return found !== null && isEqual(hash, found.hash) ? found : null;
    });
    if (record !== null) this.#touch(record.id, (at) => this.#keys.touch(record.id, at));
    return record;
  }

  /** Returns the login with this token and its current key, or null. */
  async findLogin(token: string): Promise<FoundLogin | null> {
    return looksLikeToken(token) ? this.findLoginByHash(hashSecret(token)) : null;
  }

  /** Returns the login whose token has this hash, or null. */
  async findLoginByHash(hash: string): Promise<FoundLogin | null> {
    const found = await this.#byToken.get(hash, async () => {
      const known = await this.#keys.findLogin(hash, this.#clock.now());
      return known !== null && isEqual(hash, known.login.hash) ? known : null;
    });
    this.#seen.delete(hash);
    if (found === null || found.login.expiresAt <= this.#clock.now()) return null;
    if (this.#seen.size >= mostRemembered) this.#seen.clear();
    this.#seen.add(hash);
    const { login, key } = found;
    this.#touch(key.id, (at) => this.#keys.touch(key.id, at));
    this.#touch(login.id, (at) =>
      this.#keys.touchLogin(login.id, { lastUsedAt: at, expiresAt: at + this.#pace.loginMs }),
    );
    return found;
  }

  /**
   * Finds the keys and logins of open connections that are gone, by their hashes. One lookup for all: with a
   * connection for each of many keys, a lookup per key would cost more than everything else that idle connections do.
   */
  async findGone(query: KeysInUse): Promise<{
    readonly keys: ReadonlySet<string>;
    readonly logins: ReadonlySet<string>;
  }> {
    const { keys, logins } = query;
    if (keys.length === 0 && logins.length === 0) return { keys: new Set(), logins: new Set() };
    const found = await this.#keys.findGone({ keys, logins, at: this.#clock.now() });
    const gone = { keys: new Set(found.keys), logins: new Set(found.logins) };
    this.#noteUse(query, gone);
    return gone;
  }

  /** Checks at most once a minute whose use has to be recorded: with thousands of them, each check takes time. */
  #noteUse(
    { keys, logins }: KeysInUse,
    gone: { readonly keys: ReadonlySet<string>; readonly logins: ReadonlySet<string> },
  ): void {
    const now = this.#clock.now();
    const dueMs = Math.min(inUseMs, this.#pace.loginMs / 4);
    if (now - this.#usedAt < Math.min(touchMs, dueMs)) return;
    this.#usedAt = now;
    const inUse = new Map<string, number>();
    const use = (hash: string, look: () => Promise<unknown>) => {
      const since = this.#inUse.get(hash) ?? now;
      const isDue = now - since >= dueMs;
      inUse.set(hash, isDue ? now : since);
      if (isDue) look().catch(() => {});
    };
    for (const hash of keys) if (!gone.keys.has(hash)) use(hash, () => this.findByHash(hash));
    for (const hash of logins) if (!gone.logins.has(hash)) use(hash, () => this.findLoginByHash(hash));
    this.#inUse = inUse;
  }

  /** Returns true if there is any key at all. */
  async hasAny(): Promise<boolean> {
    return (await this.#all()).size > 0;
  }

  /**
   * Returns true if a key is among those of the store, or a login was valid here, without a lookup for this one: for
   * any number of calls, the store lists its keys once per moment.
   */
  async isKnown(secret: { readonly key: string } | { readonly token: string }): Promise<boolean> {
    if ("token" in secret) return this.#seen.has(hashSecret(secret.token));
    return looksLikeSecret(secret.key) && (await this.#all()).has(hashSecret(secret.key));
  }

  /** Clears the cache after keys or logins were added or removed here. */
  forget(): void {
    this.#byHash.clear();
    this.#byToken.clear();
    this.#hashes.clear();
  }

  #all(): Promise<ReadonlySet<string>> {
    return this.#hashes.get("", async () => new Set((await this.#keys.list()).map(({ hash }) => hash)));
  }

  /** Records a use, at most once a minute. A lost record loses nothing else. */
  #touch(id: string, note: (at: number) => Promise<void>): void {
    const now = this.#clock.now();
    if (now - (this.#touched.get(id) ?? Number.NEGATIVE_INFINITY) < touchMs) return;
    if (this.#touched.size >= mostRemembered) this.#touched.clear();
    this.#touched.set(id, now);
    note(now).catch(() => {});
  }
}

/** Answers that are cached for a moment. */
class Remembered<T> {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #forMs: number;
  readonly #answers = new Map<string, { readonly answer: Promise<T>; readonly until: number }>();

  constructor(clock: Pick<Clock, "monotonic">, forMs: number) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  get(name: string, look: () => Promise<T>): Promise<T> {
    const now = this.#clock.monotonic();
    const known = this.#answers.get(name);
    if (known !== undefined && known.until > now) return known.answer;
    const made = { answer: look(), until: now + this.#forMs };
    if (this.#answers.size >= mostRemembered) this.#answers.clear();
    this.#answers.set(name, made);
    // A failed lookup is not cached: the next caller looks up again.
    made.answer.catch(() => {
      if (this.#answers.get(name) === made) this.#answers.delete(name);
    });
    return made.answer;
  }

  clear(): void {
    this.#answers.clear();
  }
}

/** Compares in constant time; the store's own comparison may not. */
function isEqual(hash: string, kept: string): boolean {
  const [one, other] = [Buffer.from(hash, "hex"), Buffer.from(kept, "hex")];
  return one.length === other.length && timingSafeEqual(one, other);
}
