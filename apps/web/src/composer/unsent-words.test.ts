import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { forgetWords, keepWords, takeLostWords, whenTabsAreGone } from "./unsent-words.js";

let kept: Map<string, string>;

beforeEach(() => {
  kept = new Map();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
});
afterEach(() => vi.unstubAllGlobals());

const none = () => false;
const nothing = { onItsWay: none, known: none };
const never = new AbortController().signal;
const lostWords = (conversationId: string, is: Parameters<typeof takeLostWords>[1]) => {
  const words: string[] = [];
  whenTabsAreGone(conversationId, never, (tab) => words.push(...takeLostWords({ conversationId, tab }, is)));
  return words;
};
const keep = (messageId: string, text: string, conversationId = "a") =>
  keepWords({ conversationId, messageId, text });

it("gives words back in order, once, and only to their conversation", () => {
  keep("m1", "first");
  keep("m2", "second");
  keep("m3", "other", "b");
  expect(lostWords("a", nothing)).toEqual(["first", "second"]);
  expect(lostWords("a", nothing)).toEqual([]);
  expect(lostWords("b", nothing)).toEqual(["other"]);
  expect(kept.size).toBe(0);
});

it("forgets words that arrived", () => {
  keep("m1", "first");
  forgetWords("m1");
  forgetWords("never heard of");
  expect(kept.size).toBe(0);
});

it("gives back neither what the server has nor what is still on its way, and keeps the latter", () => {
  keep("m1", "arrived unheard");
  keep("m2", "on its way");
  keep("m3", "lost");
  const is = { onItsWay: (id: string) => id === "m2", known: (id: string) => id === "m1" };
  expect(lostWords("a", is)).toEqual(["lost"]);
  expect(lostWords("a", nothing)).toEqual(["on its way"]);
});

it("keeps no more than a browser can hold, and the words of a message once", () => {
  keep("huge", "x".repeat(200_000));
  expect(kept.size).toBe(0);
  for (let n = 0; n < 60; n += 1) keep(`m${n}`, `${n}`);
  keep("m59", "59, again");
  const words = lostWords("a", nothing);
  expect(words).toHaveLength(50);
  expect(words.at(0)).toBe("10");
  expect(words.at(-1)).toBe("59, again");
});

it("leaves words to the tab that sends them, until it is gone", async () => {
  const kept = { conversationId: "a", messageId: "m1", text: "theirs", tab: "other" };
  localStorage.setItem("parley.unsent", JSON.stringify([kept]));
  const locks: { name: string; signal: AbortSignal; granted: () => void }[] = [];
  const request = (name: string, { signal }: { signal: AbortSignal }, granted: () => void) => {
    locks.push({ name, signal, granted });
    return Promise.resolve();
  };
  vi.stubGlobal("navigator", { locks: { request } });
  const words: string[] = [];
  const unmounted = new AbortController();
  whenTabsAreGone("a", unmounted.signal, (tab) =>
    words.push(...takeLostWords({ conversationId: "a", tab }, nothing)),
  );
  whenTabsAreGone("b", unmounted.signal, () => expect.unreachable());
  expect(locks).toMatchObject([{ name: "parley.tab.other", signal: unmounted.signal }]);
  expect(words).toEqual([]);
  locks[0]?.granted();
  locks[0]?.granted();
  expect(words).toEqual(["theirs"]);
});

it("is not confused by what others have put there", () => {
  for (const stored of ["{", "{}", '[1, null, { "text": 3 }]']) {
    kept.set("parley.unsent", stored);
    expect(lostWords("a", nothing)).toEqual([]);
  }
  keep("m1", "first");
  expect(lostWords("a", nothing)).toEqual(["first"]);
});
