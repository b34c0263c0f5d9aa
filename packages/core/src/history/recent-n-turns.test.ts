import { describe, expect, it } from "vitest";
import { InMemoryConversationStore } from "../engine/in-memory-conversation-store.js";
import type { ConversationMessage } from "../messages/message.js";
import type { ConversationStore, HistoryEntry } from "../ports.js";
import { call, idsOf, message, numbered, result } from "./history.test-support.js";
import type { HistoryBudget } from "./history-builder.js";
import { withoutReader } from "./history-store.test-support.js";
import { RecentNTurnsHistoryBuilder } from "./recent-n-turns.js";

const older = [
  message("u1", "user", "one"),
  message("a1", "assistant", [call("k")]),
  message("r1", "tool", [result("k")]),
  message("b1", "assistant", "first"),
  message("u2", "user", "two"),
  message("a2", "assistant", "second"),
  message("u3", "user", "three"),
  message("v3", "user", "and more"),
  message("a3", "assistant", "third"),
];

async function build(
  maxTurns: number,
  stored: readonly ConversationMessage[],
  newUserMessages: ConversationMessage[],
  wrap: (store: ConversationStore) => ConversationStore = (store) => store,
  budget?: HistoryBudget,
) {
  const store = new InMemoryConversationStore();
  const conversation = await store.createConversation({ id: "c1" });
  await store.appendMessages([...stored]);
  const builder = new RecentNTurnsHistoryBuilder({ maxTurns });
  const built = await builder.buildHistory({
    conversation,
    store: wrap(store),
    newUserMessages,
    ...(budget === undefined ? {} : { budget }),
  });
  return { ids: idsOf(built.messages), truncated: built.truncated };
}

describe.each([
  ["a store that reads from the newest end", (store: ConversationStore) => store],
  ["a store with eight methods", withoutReader],
])("the newest turns of %s", (_, wrap) => {
  const input = message("u4", "user", "four");

  it("come in order before the new messages", async () => {
    expect(await build(2, older, [input], wrap)).toEqual({
      ids: ["u2", "a2", "u3", "v3", "a3", "u4"],
      truncated: true,
    });
  });

  it("hold tool messages with the turn that made them", async () => {
    expect(await build(3, older, [input], wrap)).toEqual({
      ids: [...idsOf(older), "u4"],
      truncated: false,
    });
  });

  it("do not hold the new messages twice if they are stored already", async () => {
    expect(await build(1, [...older, input], [input], wrap)).toEqual({
      ids: ["u3", "v3", "a3", "u4"],
      truncated: true,
    });
  });

  it("are none where none are wanted", async () => {
    expect(await build(0, older, [input], wrap)).toEqual({ ids: ["u4"], truncated: true });
    expect(await build(0, [], [input], wrap)).toEqual({ ids: ["u4"], truncated: false });
  });

  it.each<[string, HistoryBudget]>([
    ["messages", { maxMessages: 5 }],
    ["characters", { maxChars: "three and more third four".replaceAll(" ", "").length + 2 }],
    ["tokens", { maxTokens: 24 }],
  ])("are fewer where not as many %s fit the budget", async (_unit, budget) => {
    expect(await build(3, older, [input], wrap, budget)).toEqual({
      ids: ["u3", "v3", "a3", "u4"],
      truncated: true,
    });
  });

  it("are as many as are wanted where more would fit the budget", async () => {
    expect(await build(1, older, [input], wrap, { maxMessages: 100, maxTokens: 10_000 })).toEqual({
      ids: ["u3", "v3", "a3", "u4"],
      truncated: true,
    });
  });

  it("are refused where the new messages alone exceed the budget", async () => {
    const refused = build(3, older, [input], wrap, { maxChars: 3 });
    await expect(refused).rejects.toMatchObject({ code: "context_overflow" });
  });

  it("keep a call with the result that opens the new turn", async () => {
    const asked = [...older, message("u4", "user", "four"), message("a4", "assistant", [call("z")])];
    const { ids } = await build(0, asked, [message("r4", "tool", [result("z")])], wrap);
    expect(ids).toEqual(["u4", "a4", "r4"]);
  });
});

describe("the newest turns of a compacted conversation", () => {
  it("have the summary in front and nothing that it covers", async () => {
    const store = new InMemoryConversationStore();
    const conversation = await store.createConversation({ id: "c1" });
    const entries: HistoryEntry[] = numbered([
      ...older.slice(0, 6).map((each) => ({ message: each })),
      { message: message("s", "system", "so far"), covers: { fromSeq: 1, toSeq: 4 } },
      ...older.slice(6).map((each) => ({ message: each })),
    ]);
    const reading = Object.assign(store, {
      readNewest: async () => ({ entries: entries.toReversed() }),
    });
    const builder = new RecentNTurnsHistoryBuilder({ maxTurns: 5 });
    const built = await builder.buildHistory({
      conversation,
      store: reading,
      newUserMessages: [message("u4", "user", "four")],
    });
    expect(idsOf(built.messages)).toEqual(["s", "u2", "a2", "u3", "v3", "a3", "u4"]);
    expect(built.truncated).toBe(false);
  });
});
