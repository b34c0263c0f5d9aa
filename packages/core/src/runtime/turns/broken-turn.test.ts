import {
  createManualClock,
  createMemoryLogStore,
  createScriptedProvider,
  text,
  toolCall,
  transcript,
  usage,
} from "@parley/testing";
import { describe, expect, it } from "vitest";
import { ParleyError } from "../../errors.js";
import { createTokenCounter } from "../../messages/tokens/token-counter.js";
import type { LogStore, LogStoreRoot } from "../../ports/log-store.js";
import { createModelCatalog, createRuntime, type RuntimeOptions } from "../index.js";

/** Returns a store one of whose methods fails permanently, the first times it is called. */
function failingStore(
  root: LogStoreRoot,
  method: "seal" | "commitStep" | "flushJournal",
  times: number,
): LogStoreRoot {
  let left = times;
  const failing = <T extends LogStoreRoot | LogStore>(target: T): T =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name);
        if (name === "forOwner") return (owner: string) => failing((of as LogStoreRoot).forOwner(owner));
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (name !== method || left <= 0) return Reflect.apply(value, of, args) as unknown;
          left -= 1;
          return Promise.reject(new ParleyError("internal", "The disk is on fire"));
        };
      },
    });
  return failing(root);
}

async function turnOn(options: Partial<RuntimeOptions>, store?: (root: LogStoreRoot) => LogStoreRoot) {
  const clock = createManualClock();
  const root = createMemoryLogStore({ clock });
  const errors: string[] = [];
  const runtime = await createRuntime({
    store: store?.(root) ?? root,
    clock,
    models: createModelCatalog([
      {
        name: "test/one",
        provider: createScriptedProvider((_, index) =>
          index === 0 ? [text("Working. "), toolCall("work"), usage(5, 2)] : [text("Done."), usage(6, 2)],
        ),
        providerName: "test",
        model: "one",
        contextWindow: 10_000,
      },
    ]),
    tools: [{ name: "work", execute: () => "worked" }],
    hooks: { onError: ({ code }, { where }) => errors.push(`${where}: ${code}`) },
    ...options,
  });
  const me = runtime.forOwner("o");
  const { turnId = "" } = await me.send({ conversationId: "c", message: "Hi" });
  await clock.advance(2_000);
  const turn = await me.turn("c", turnId);
  const { chunks } = await me.history({ conversationId: "c" });
  const again = await me.send({ conversationId: "c", message: "Again" });
  await clock.advance(2_000);
  const next = await me.turn("c", again.turnId ?? "");
  const closed = runtime.close();
  await clock.advance(100);
  await closed;
  expect(clock.pending).toBe(0);
  return { turn, next, errors, log: transcript(chunks) };
}

describe("a turn in which something breaks that must not", () => {
  it("is ended from what the store has of it, and its conversation continues", async () => {
    const tokens = createTokenCounter();
    let observed = 0;
    const broken = {
      countText: tokens.countText.bind(tokens),
      observe() {
        observed += 1;
        if (observed === 1) throw new Error("cannot learn");
      },
    };
    const { turn, next, errors, log } = await turnOn({ tokens: broken });
    expect([turn.status, turn.reason]).toEqual(["sealed", "interrupted"]);
    expect(log.slice(0, 3)).toEqual(["user: Hi", "assistant: Working.  [work {}]", "tool: [worked]"]);
    expect(errors).toContain("turn: internal");
    expect([next.status, next.reason]).toEqual(["sealed", "stop"]);
  });

  it("keeps its whole answer where the store refuses its seal", async () => {
    for (const times of [1, 2]) {
      const { turn, next, errors, log } = await turnOn({}, (root) => failingStore(root, "seal", times));
      expect([turn.status, turn.reason]).toEqual(["sealed", "stop"]);
      expect(log.slice(-2)).toEqual(["tool: [worked]", "assistant: Done."]);
      expect(errors).toEqual(["turn: internal"]);
      expect(next.reason).toBe("stop");
    }
  });

  it("is ended without what it has not committed where the store keeps refusing", async () => {
    const { turn, next, log } = await turnOn({}, (root) => failingStore(root, "seal", 3));
    expect([turn.status, turn.reason]).toEqual(["sealed", "error"]);
    expect(log.slice(-2)).toEqual(["tool: [worked]", "assistant: [error internal]"]);
    expect(next.reason).toBe("stop");
  });

  it("fails with the store's own error where a commit is refused", async () => {
    const { turn, log, next } = await turnOn({}, (root) => failingStore(root, "commitStep", 1));
    expect([turn.status, turn.reason]).toEqual(["sealed", "error"]);
    expect(log.at(-1)).toBe("assistant: [error internal]");
    expect(log.at(-2)).toContain("interrupted");
    expect(next.reason).toBe("stop");
  });

  it("fails with the store's own error where its journal cannot be written", async () => {
    const { turn, log, next } = await turnOn({}, (root) => failingStore(root, "flushJournal", 1));
    expect([turn.status, turn.reason]).toEqual(["sealed", "error"]);
    expect(log).toEqual([
      "user: Hi",
      "assistant: Working.  [work {}]",
      "tool: [worked]",
      "assistant: [error internal]",
    ]);
    expect(next.reason).toBe("stop");
  });
});
