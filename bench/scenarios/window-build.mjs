// Building what the model is shown, from conversations of very different lengths.

const MESSAGES = 93;

const message = (conversationId, n) => ({
  id: `m${n}`,
  conversationId,
  role: n % 2 === 0 ? "user" : "assistant",
  createdAt: new Date(1_700_000_000_000 + n * 1_000),
  content: [{ type: "text", text: `Message ${n}: ${"a few words about nothing in particular, ".repeat(8)}` }],
});

async function fill(core, count) {
  const store = new core.InMemoryConversationStore();
  const { id } = await store.createConversation({ id: "c1" });
  for (let n = 0; n < count; n += 1_000) {
    await store.appendMessages(
      Array.from({ length: Math.min(1_000, count - n) }, (_, k) => message(id, n + k)),
    );
  }
  return store;
}

const build = (count) => ({
  name: `${count.toLocaleString("en")} messages`,
  kind: count === 1_000 ? "limit" : "ours",
  load: () => import("@parley/core"),
  open: async ({ lib }) => {
    const store = await fill(lib, count);
    const conversation = await store.getConversation("c1");
    const builder = new lib.BudgetedHistoryBuilder();
    return async (units) => {
      let messages = 0;
      for (let n = 0; n < units; n += 1) {
        const built = await builder.buildHistory({
          conversation,
          store,
          newUserMessages: [{ ...message("c1", count + n), id: `new${n}`, role: "user" }],
          budget: { maxTokens: 8_000 },
        });
        if (!built.truncated) throw new Error("the window should not hold everything");
        messages += built.messages.length;
      }
      return { messages };
    };
  },
});

export const scenario = {
  name: "window-build",
  title: "a window of the newest 8,000 tokens, from an in-memory conversation; the limit is the shortest one",
  unit: "window",
  cases: [{ name: "8,000 tokens", units: 200, quickUnits: 50, rounds: 9, warmUpRounds: 3, options: {} }],
  contestants: [build(1_000), build(10_000), build(100_000)],
  check({ messages }, units) {
    const each = messages / units;
    if (each < MESSAGES / 3 || each > MESSAGES * 3) throw new Error(`${each} messages in a window`);
  },
  targets: [{ ours: "100,000 messages", against: "1,000 messages", atMost: 1.2 }],
};
