import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { forgetWords, keepWords, takeLostWords } from "./unsent-words.js";

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
const keep = (messageId: string, text: string, conversationId = "a") =>
  keepWords({ conversationId, messageId, text });

it("gives words back in order, once, and only to their conversation", () => {
  keep("m1", "first");
  keep("m2", "second");
  keep("m3", "other", "b");
  expect(takeLostWords("a", nothing)).toEqual(["first", "second"]);
  expect(takeLostWords("a", nothing)).toEqual([]);
  expect(takeLostWords("b", nothing)).toEqual(["other"]);
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
  expect(takeLostWords("a", is)).toEqual(["lost"]);
  expect(takeLostWords("a", nothing)).toEqual(["on its way"]);
});

it("keeps no more than a browser can hold, and the words of a message once", () => {
  keep("huge", "x".repeat(200_000));
  expect(kept.size).toBe(0);
  for (let n = 0; n < 60; n += 1) keep(`m${n}`, `${n}`);
  keep("m59", "59, again");
  const words = takeLostWords("a", nothing);
  expect(words).toHaveLength(50);
  expect(words.at(0)).toBe("10");
  expect(words.at(-1)).toBe("59, again");
});

it("is not confused by what others have put there", () => {
  for (const stored of ["{", "{}", '[1, null, { "text": 3 }]']) {
    kept.set("parley.unsent", stored);
    expect(takeLostWords("a", nothing)).toEqual([]);
  }
  keep("m1", "first");
  expect(takeLostWords("a", nothing)).toEqual(["first"]);
});
