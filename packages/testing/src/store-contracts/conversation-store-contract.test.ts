import { InMemoryConversationStore } from "@parley/core";
import type { ConversationMessage } from "@parley/core/messages";
import type { ConversationStore, ListMessagesOptions } from "@parley/core/ports";
import { describe, expect, it } from "vitest";
import { baseCases, ContractViolation, checkEqual, deepEqual, runCases } from "../contract-case.js";
import { conversationStoreContract } from "./conversation-store-contract.js";

/** A store as an application may write it: eight methods, arrays, no guarantees beyond them. */
class PlainStore extends InMemoryConversationStore {
  readonly #rows: ConversationMessage[] = [];
  override async appendMessages(messages: ConversationMessage[]): Promise<void> {
    this.#rows.push(...messages);
  }
  override async listMessages(id: string, options: ListMessagesOptions = {}): Promise<ConversationMessage[]> {
    return this.#rows.filter((row) => row.conversationId === id).slice(0, options.limit);
  }
}

async function failuresOf(make: () => ConversationStore): Promise<string[]> {
  const { failed } = await runCases(conversationStoreContract(() => ({ store: make() })));
  return failed.map((failure) => failure.name);
}

describe("conversationStoreContract", () => {
  it("has cases that a plain store of one's own passes, and cases that only Parley's stores pass", async () => {
    const cases = conversationStoreContract(() => ({ store: new PlainStore() }));
    expect((await runCases(baseCases(cases))).failed).toEqual([]);
    expect((await runCases(cases)).failed.length).toBeGreaterThan(0);
  });

  const faults: [string, () => ConversationStore, RegExp][] = [
    [
      "loses the order",
      () =>
        new (class extends InMemoryConversationStore {
          override async listMessages(id: string, options?: ListMessagesOptions) {
            const messages = await super.listMessages(id, options);
            return messages.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
          }
        })(),
      /order of appending/,
    ],
    [
      "writes half an append",
      () =>
        new (class extends InMemoryConversationStore {
          override async appendMessages(messages: ConversationMessage[]) {
            for (const message of messages) await super.appendMessages([message]);
          }
        })(),
      /writes nothing of that append/,
    ],
    [
      "keeps turns twice",
      () =>
        new (class extends InMemoryConversationStore {
          override async listTurns(id: string) {
            return [...(await super.listTurns(id)), ...(await super.listTurns(id))];
          }
        })(),
      /turn/,
    ],
    [
      "pages wrongly",
      () =>
        new (class extends InMemoryConversationStore {
          override async readNewest(request: { conversationId: string; limit: number; before?: number }) {
            const page = await super.readNewest(request);
            return page.before === undefined ? page : { ...page, before: page.before + 1 };
          }
        })(),
      /pages from the newest end/,
    ],
  ];
  for (const [what, make, name] of faults) {
    it(`notices a store that ${what}`, async () => {
      expect((await failuresOf(make)).join("\n")).toMatch(name);
    });
  }
});

describe("deepEqual", () => {
  it("compares plain data", () => {
    expect(deepEqual({ a: [1, { b: new Date(5) }] }, { a: [1, { b: new Date(5) }] })).toBe(true);
    expect(deepEqual({ a: undefined }, {})).toBe(true);
    expect(deepEqual(new Uint8Array([1, 2]), new Uint8Array([1, 2]))).toBe(true);
    const unequal: [unknown, unknown][] = [
      [1, "1"],
      [new Date(1), new Date(2)],
      [new Date(1), {}],
      [[1], { 0: 1 }],
      [[undefined], []],
      [{ a: 1 }, { a: 1, b: 2 }],
      [null, {}],
      [new Uint8Array([1]), [1]],
    ];
    for (const [left, right] of unequal)
      expect([left, right, deepEqual(left, right)]).toEqual([left, right, false]);
  });

  it("shows both values when they differ", () => {
    expect(() => checkEqual({ a: 1 }, { a: 2 }, "the thing")).toThrow(ContractViolation);
    expect(() => checkEqual({ a: 1 }, { a: 2 }, "the thing")).toThrow(
      'the thing: expected {"a":2}, got {"a":1}',
    );
  });
});
