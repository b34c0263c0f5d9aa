import type { ConversationMessage } from "@parley/core/messages";
import type { ConversationStore } from "@parley/core/ports";
import { type ContractCase, check, checkEqual } from "../contract-case.js";
import { everyPart, sampleTurn, text, uniqueId } from "../sample-messages.js";
import { newestFirstCases, parleyStoreCases } from "./parley-store-cases.js";

/** A store for one case. */
export interface ConversationStoreFixture {
  readonly store: ConversationStore;
  /** Makes the store's next "now" later. Without it, cases that compare update times wait for the real clock. */
  readonly tick?: () => void | Promise<void>;
  /** Called after the case. */
  close?(): Promise<void>;
}

/** One case: its calls to a store, with a function that lets time pass. */
export type StoreCase = (store: ConversationStore, tick: () => Promise<void>) => Promise<void>;

/**
 * Returns the guarantees that the engine expects of a `ConversationStore`. Each case gets a store of its own, which
 * may share a database with others: ids are unique and listings are only searched for the case's own conversations.
 *
 * Cases marked `parleyOnly` hold for Parley's stores (idempotent appends, refusals with codes, copies, newest-first
 * paging if the store has `readNewest`); a store of your own needs the others: `baseCases(...)`.
 */
export function conversationStoreContract(
  make: () => ConversationStoreFixture | Promise<ConversationStoreFixture>,
): ContractCase[] {
  const asCase =
    (parleyOnly: boolean) =>
    ([name, body]: [string, StoreCase]): ContractCase => ({
      name,
      ...(parleyOnly ? { parleyOnly } : {}),
      async run() {
        const fixture = await make();
        try {
          await body(fixture.store, async () => (fixture.tick === undefined ? laterTime() : fixture.tick()));
        } finally {
          await fixture.close?.();
        }
      },
    });
  return [
    ...conversationCases.map(asCase(false)),
    ...messageCases.map(asCase(false)),
    ...turnCases.map(asCase(false)),
    ...parleyStoreCases.map(asCase(true)),
    ...newestFirstCases.map(asCase(true)),
  ];
}

const conversationCases: [string, StoreCase][] = [
  [
    "creates a conversation under the given id, with title and metadata",
    async (store) => {
      const id = uniqueId();
      const created = await store.createConversation({ id, title: "Plans", metadata: { topic: ["a", 1] } });
      checkEqual(created.id, id, "the id");
      checkEqual(created.title, "Plans", "the title");
      checkEqual(created.metadata, { topic: ["a", 1] }, "the metadata");
      check(created.createdAt instanceof Date, "createdAt is a Date");
      check(created.updatedAt instanceof Date, "updatedAt is a Date");
      checkEqual(await store.getConversation(id), created, "the conversation read back");
    },
  ],
  [
    "makes an id where none is given, another one each time",
    async (store) => {
      const first = await store.createConversation({});
      const second = await store.createConversation({});
      check(first.id !== "" && first.id !== second.id, "ids are made and differ");
      check((await store.getConversation(first.id)) !== null, "the conversation can be read by its made id");
    },
  ],
  [
    "answers null for a conversation that does not exist",
    async (store) => {
      checkEqual(await store.getConversation(uniqueId()), null, "getConversation");
      checkEqual(await store.updateConversation(uniqueId(), { title: "x" }), null, "updateConversation");
    },
  ],
  [
    "changes the title alone, the metadata alone, or nothing, and returns what is stored",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId(), title: "a", metadata: { n: 1 } });
      const titled = await store.updateConversation(id, { title: "b" });
      checkEqual([titled?.title, titled?.metadata], ["b", { n: 1 }], "after a new title");
      const tagged = await store.updateConversation(id, { metadata: { n: 2 } });
      checkEqual([tagged?.title, tagged?.metadata], ["b", { n: 2 }], "after new metadata");
      const same = await store.updateConversation(id, {});
      checkEqual([same?.title, same?.metadata], ["b", { n: 2 }], "after no change");
      checkEqual(await store.getConversation(id), same, "what is stored");
    },
  ],
  [
    "moves updatedAt with an update and keeps createdAt",
    async (store, tick) => {
      const created = await store.createConversation({ id: uniqueId() });
      await tick();
      const updated = await store.updateConversation(created.id, { title: "later" });
      check(updated !== null && updated.updatedAt > created.updatedAt, "updatedAt moves on");
      checkEqual(updated.createdAt, created.createdAt, "createdAt");
    },
  ],
  [
    "lists conversations with the latest update first, bounded by limit and by before",
    async (store, tick) => {
      const ids: string[] = [];
      for (let index = 0; index < 3; index++) {
        ids.push((await store.createConversation({ id: uniqueId() })).id);
        await tick();
      }
      const [first = "", second = "", third = ""] = ids;
      await store.updateConversation(first, { title: "again" });
      const mine = async (options: { limit?: number; before?: Date }) =>
        (await store.listConversations(options)).map((each) => each.id).filter((id) => ids.includes(id));
      checkEqual(await mine({ limit: 1000 }), [first, third, second], "all");
      checkEqual((await store.listConversations({ limit: 1 })).length, 1, "the length with a limit of 1");
      const before = (await store.getConversation(third))?.updatedAt ?? new Date(0);
      checkEqual(await mine({ limit: 1000, before }), [second], "those updated before");
    },
  ],
];

const messageCases: [string, StoreCase][] = [
  [
    "keeps messages in the order of appending, whatever their dates say",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const messages = [text(id, "one", 3_000), text(id, "two", 1_000), text(id, "three", 2_000)];
      await store.appendMessages(messages.slice(0, 2));
      await store.appendMessages(messages.slice(2));
      checkEqual(await store.listMessages(id, { ascending: true }), messages, "the messages");
    },
  ],
  [
    "returns every kind of part and all metadata as it was given",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const message: ConversationMessage = {
        ...text(id, "all kinds"),
        role: "assistant",
        content: everyPart,
        metadata: { origin: { provider: "p", model: "m" }, nested: { list: [1, null, "a"] } },
        providerMetadata: { p: { id: "opaque" } },
      };
      await store.appendMessages([message]);
      checkEqual(await store.listMessages(id, { ascending: true }), [message], "the message");
    },
  ],
  [
    "keeps odd texts byte for byte",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const texts = ["", " \n\t", "\u{1F600} é é مرحبا 你好", '{"a":1.0,  "b":1e3}', "__proto__"];
      await store.appendMessages(texts.map((each) => text(id, each)));
      const stored = await store.listMessages(id, { ascending: true });
      checkEqual(
        stored.map((message) => message.content),
        texts.map((each) => [{ type: "text", text: each }]),
        "the texts",
      );
    },
  ],
  [
    "bounds a listing by limit, from the oldest when ascending",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const messages = ["a", "b", "c"].map((each) => text(id, each));
      await store.appendMessages(messages);
      checkEqual(await store.listMessages(id, { ascending: true, limit: 2 }), messages.slice(0, 2), "two");
      checkEqual(
        await store.listMessages(id, { ascending: true, limit: 9 }),
        messages,
        "more than there are",
      );
    },
  ],
  [
    "keeps conversations apart, also in one append",
    async (store) => {
      const left = await store.createConversation({ id: uniqueId() });
      const right = await store.createConversation({ id: uniqueId() });
      const messages = [text(left.id, "l1"), text(right.id, "r1"), text(left.id, "l2")];
      await store.appendMessages(messages);
      checkEqual(await store.listMessages(left.id, { ascending: true }), [messages[0], messages[2]], "left");
      checkEqual(await store.listMessages(right.id, { ascending: true }), [messages[1]], "right");
    },
  ],
  [
    "lists nothing of an empty conversation, and takes an empty append",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      await store.appendMessages([]);
      checkEqual(await store.listMessages(id), [], "the messages");
      checkEqual(await store.listTurns(id), [], "the turns");
    },
  ],
];

const turnCases: [string, StoreCase][] = [
  [
    "keeps turns whole and in the order of appending",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const turns = [sampleTurn(id), sampleTurn(id)];
      for (const turn of turns) {
        await store.appendMessages([
          ...turn.userMessages,
          ...turn.assistantMessages,
          ...(turn.toolMessages ?? []),
        ]);
        await store.appendTurn(turn);
      }
      checkEqual(await store.listTurns(id), turns, "the turns");
    },
  ],
];

/** Resolves when the real clock shows a later millisecond. */
async function laterTime(): Promise<void> {
  const start = Date.now();
  while (Date.now() === start) await new Promise((resolve) => setTimeout(resolve, 1));
}
