import { afterEach, beforeEach, expect, it, vi } from "vitest";

class FakeStorage {
  readonly kept = new Map<string, string>();
  getItem(key: string) {
    return this.kept.get(key) ?? null;
  }
  setItem(key: string, value: string) {
    this.kept.set(key, value);
  }
  removeItem(key: string) {
    this.kept.delete(key);
  }
}

let storage: FakeStorage;

/** Simulates a reload: the modules are new, the storage is not. */
async function reload() {
  vi.resetModules();
  return import("./drafts.js");
}

beforeEach(() => {
  storage = new FakeStorage();
  vi.stubGlobal("localStorage", storage);
});
afterEach(() => vi.unstubAllGlobals());

it("keeps a draft per conversation across a reload", async () => {
  const { writeDraft } = await reload();
  writeDraft("a", "hello");
  writeDraft("b", "other");
  const { readDraft } = await reload();
  expect(readDraft("a")).toBe("hello");
  expect(readDraft("b")).toBe("other");
  expect(readDraft("c")).toBe("");
});

it("stores nothing any more once a draft is sent", async () => {
  const { readDraft, writeDraft } = await reload();
  writeDraft("a", "hello");
  writeDraft("a", "");
  expect(readDraft("a")).toBe("");
  expect(storage.kept.size).toBe(0);
});

it("drops the oldest when there are very many", async () => {
  const { writeDraft } = await reload();
  for (let n = 0; n < 60; n += 1) writeDraft(`c${n}`, "x");
  const { readDraft } = await reload();
  expect(readDraft("c9")).toBe("");
  expect(readDraft("c10")).toBe("x");
  expect(storage.kept.size).toBe(51);
});

it("keeps a huge draft in the tab without filling the storage", async () => {
  const { readDraft, writeDraft } = await reload();
  const huge = "x".repeat(200_000);
  writeDraft("a", huge);
  expect(readDraft("a")).toBe(huge);
  expect(storage.kept.size).toBe(0);
});

it("works where storage is switched off", async () => {
  vi.stubGlobal("localStorage", {
    getItem() {
      throw new Error("denied");
    },
    setItem() {
      throw new Error("denied");
    },
    removeItem() {
      throw new Error("denied");
    },
  });
  const { readDraft, writeDraft } = await reload();
  writeDraft("a", "hello");
  expect(readDraft("a")).toBe("hello");
});

it("puts text back in front of what was typed since, in the field that shows the draft or without one", async () => {
  const { putBack, readDraft, showDraft, writeDraft } = await reload();
  putBack("a", "sent");
  expect(readDraft("a")).toBe("sent");
  writeDraft("a", "typed since");
  putBack("a", "sent");
  expect(readDraft("a")).toBe("sent\ntyped since");
  const shown: string[] = [];
  const end = showDraft("b", (text) => shown.push(text));
  putBack("b", "sent");
  expect(shown).toEqual(["sent"]);
  end();
  putBack("b", "sent");
  expect(readDraft("b")).toBe("sent");
});
