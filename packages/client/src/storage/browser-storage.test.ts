import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { StoredMessage } from "../outbox/outbox-storage.js";
import { browserStorage } from "./browser-storage.js";

let kept: Map<string, string>;

/** A fake of Web Locks: the holder of each lock, and those that wait for it. */
class Locks {
  readonly #held = new Set<string>();
  readonly #waiting = new Map<string, (() => void)[]>();

  request(name: string, ...rest: unknown[]): Promise<unknown> {
    const granted = rest.at(-1) as () => unknown;
    const { signal } = (rest.length > 1 ? rest[0] : {}) as { readonly signal?: AbortSignal };
    return new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      const run = () => {
        if (signal?.aborted) return;
        this.#held.add(name);
        resolve(granted());
        // Only a page holds its lock; one that waited for it does its work and lets go.
        if (rest.length > 1) this.#held.delete(name);
      };
      if (this.#held.has(name)) this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), run]);
      else run();
    });
  }

  /** Closes a page, which releases the locks it held. */
  close(name: string): void {
    this.#held.delete(name);
    for (const run of this.#waiting.get(name) ?? []) run();
    this.#waiting.delete(name);
  }

  get names(): readonly string[] {
    return [...this.#held];
  }
}

beforeEach(() => {
  kept = new Map();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
  vi.stubGlobal("navigator", {});
});
afterEach(() => vi.unstubAllGlobals());

const never = new AbortController().signal;
const message = (messageId: string, text: string, conversationId = "a"): StoredMessage => ({
  conversationId,
  messageId,
  message: text,
  ifBusy: "queue",
  createdAt: 1,
});
const idsIn = (storage: ReturnType<typeof browserStorage>, conversationId: string) => {
  const ids: string[] = [];
  storage.adopt(conversationId, never, (taken) => ids.push(...taken.map(({ messageId }) => messageId)));
  return ids;
};

it("gives messages back in order, whole, and only to their conversation", () => {
  const storage = browserStorage();
  storage.save(message("m1", "first"));
  storage.save(message("m2", "second"));
  storage.save(message("m3", "other", "b"));
  const taken: StoredMessage[] = [];
  browserStorage().adopt("a", never, (messages) => taken.push(...messages));
  expect(taken).toEqual([message("m1", "first"), message("m2", "second")]);
  expect(idsIn(storage, "b")).toEqual(["m3"]);
});

it("forgets what is removed, and nothing else", () => {
  const storage = browserStorage();
  storage.save(message("m1", "first"));
  storage.remove("unknown");
  expect(idsIn(storage, "a")).toEqual(["m1"]);
  storage.remove("m1");
  expect(kept.size).toBe(0);
});

it("keeps no more than a browser can hold, and a message once", () => {
  const storage = browserStorage();
  storage.save(message("huge", "x".repeat(200_000)));
  expect(kept.size).toBe(0);
  for (let n = 0; n < 60; n += 1) storage.save(message(`m${n}`, `${n}`));
  storage.save(message("m59", "59, again"));
  const ids = idsIn(storage, "a");
  expect([ids.length, ids.at(0), ids.at(-1)]).toEqual([50, "m10", "m59"]);
});

it("leaves messages to the page that sends them, until it is gone", () => {
  const locks = new Locks();
  vi.stubGlobal("navigator", { locks });
  browserStorage().save(message("m1", "theirs"));
  const [theirs = ""] = locks.names;
  const here = browserStorage();
  const unmounted = new AbortController();
  const taken: string[] = [];
  const take = (messages: readonly StoredMessage[]) =>
    taken.push(...messages.map(({ messageId }) => messageId));
  here.adopt("a", never, take);
  here.adopt("a", unmounted.signal, take);
  here.adopt("b", never, () => expect.unreachable());
  unmounted.abort();
  expect(taken).toEqual([]);
  locks.close(theirs);
  expect(taken).toEqual(["m1"]);
  // They belong to this page now: others wait for it to close.
  expect(idsIn(browserStorage(), "a")).toEqual([]);
  expect(idsIn(here, "a")).toEqual(["m1"]);
});

it("counts every other page as gone where the browser has no locks", () => {
  browserStorage().save(message("m1", "theirs"));
  expect(idsIn(browserStorage(), "a")).toEqual(["m1"]);
});

it("is not confused by what others have put there, nor by a browser that stores nothing", () => {
  const storage = browserStorage();
  for (const stored of [
    "{",
    "{}",
    '[1, null, { "page": "p", "message": { "message": 3 } }, { "page": "p" }]',
  ]) {
    kept.set("parley.unsent", stored);
    expect(idsIn(storage, "a")).toEqual([]);
  }
  storage.save(message("m1", "first"));
  expect(idsIn(storage, "a")).toEqual(["m1"]);
  vi.stubGlobal("localStorage", undefined);
  storage.save(message("m2", "second"));
  storage.remove("m1");
  expect(idsIn(storage, "a")).toEqual([]);
});
