import { isParleyError } from "../errors.js";
import type { ConversationMessage } from "../messages/message.js";
import type { MessageContentPart } from "../messages/part.js";
import type { ConversationStore, ConversationTurn, NewestFirstReader } from "../ports.js";
import { type ContractCase, check, checkEqual, checkRejects } from "./contract-case.js";

/** Makes a store for one case. */
export interface ConversationStoreFixture {
  readonly store: ConversationStore;
  /** Makes the store's next "now" later. Without it, cases that compare update times wait for the real clock. */
  readonly tick?: () => void | Promise<void>;
  /** Called after the case. */
  close?(): Promise<void>;
}

type Body = (store: ConversationStore, tick: () => Promise<void>) => Promise<void>;

/**
 * What the engine expects of a `ConversationStore`. Each case gets a store of its own, which may share a database
 * with others: ids are unique and listings are only searched for the case's own conversations.
 *
 * Cases marked `parleyOnly` hold for Parley's stores (idempotent appends, refusals with codes, copies, newest-first
 * paging where the store has `readNewest`); a store of your own needs the others: `baseCases(...)`.
 */
export function conversationStoreContract(
  make: () => ConversationStoreFixture | Promise<ConversationStoreFixture>,
): ContractCase[] {
  const asCase =
    (parleyOnly: boolean) =>
    ([name, body]: [string, Body]): ContractCase => ({
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
    ...parleyCases.map(asCase(true)),
    ...newestFirstCases.map(asCase(true)),
  ];
}

const conversationCases: [string, Body][] = [
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

const messageCases: [string, Body][] = [
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

const turnCases: [string, Body][] = [
  [
    "keeps turns whole and in the order of appending",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const turns = [turnOf(id), turnOf(id)];
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

const parleyCases: [string, Body][] = [
  [
    "returns the existing conversation when its id is created again",
    async (store) => {
      const first = await store.createConversation({ id: uniqueId(), title: "first" });
      checkEqual(
        await store.createConversation({ id: first.id, title: "second" }),
        first,
        "the second answer",
      );
    },
  ],
  [
    "writes a message once, however often its id is appended",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const message = text(id, "once");
      const other = text(id, "other");
      await store.appendMessages([message, message]);
      await store.appendMessages([message, other]);
      await store.appendMessages([{ ...message, content: [{ type: "text", text: "changed" }] }]);
      checkEqual(await store.listMessages(id, { ascending: true }), [message, other], "the messages");
    },
  ],
  [
    "refuses a message id of another conversation, and writes nothing of that append",
    async (store) => {
      const left = await store.createConversation({ id: uniqueId() });
      const right = await store.createConversation({ id: uniqueId() });
      const message = text(left.id, "mine");
      await store.appendMessages([message]);
      const foreign = { ...message, conversationId: right.id };
      const error = await checkRejects(store.appendMessages([text(right.id, "new"), foreign]), "the append");
      checkCode(error, "invalid_request");
      checkEqual(await store.listMessages(right.id), [], "the other conversation");
    },
  ],
  [
    "refuses a message and a turn of a conversation that does not exist",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const unknown = uniqueId();
      const append = store.appendMessages([text(id, "known"), text(unknown, "unknown")]);
      checkCode(await checkRejects(append, "appendMessages"), "conversation_not_found");
      checkEqual(await store.listMessages(id), [], "the known conversation");
      const turn = store.appendTurn(turnOf(unknown));
      checkCode(await checkRejects(turn, "appendTurn"), "conversation_not_found");
      checkEqual(await store.listMessages(unknown), [], "messages of the unknown one");
      checkEqual(await store.listTurns(unknown), [], "turns of the unknown one");
    },
  ],
  [
    "writes a turn once, however often its id is appended",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const turn = turnOf(id);
      await store.appendMessages([
        ...turn.userMessages,
        ...turn.assistantMessages,
        ...(turn.toolMessages ?? []),
      ]);
      await store.appendTurn(turn);
      await store.appendTurn(turn);
      checkEqual((await store.listTurns(id)).length, 1, "the number of turns");
    },
  ],
  [
    "hands out and takes in copies, so that nobody can change what is stored",
    async (store) => {
      const metadata = { tag: "a" };
      const { id } = await store.createConversation({ id: uniqueId(), metadata });
      const message = text(id, "original");
      await store.appendMessages([message]);
      metadata.tag = "b";
      message.content.push({ type: "text", text: "added" });
      for (const read of await store.listMessages(id)) read.content.length = 0;
      const conversation = await store.getConversation(id);
      conversation?.updatedAt.setTime(0);
      if (conversation?.metadata !== undefined) conversation.metadata.tag = "c";
      const [stored] = await store.listMessages(id);
      checkEqual(stored?.content, [{ type: "text", text: "original" }], "the stored content");
      const again = await store.getConversation(id);
      checkEqual(again?.metadata, { tag: "a" }, "the stored metadata");
      check((again?.updatedAt.getTime() ?? 0) > 0, "the stored date is untouched");
    },
  ],
  [
    "moves updatedAt with an append, and lists the conversation first",
    async (store, tick) => {
      const first = await store.createConversation({ id: uniqueId() });
      await tick();
      const second = await store.createConversation({ id: uniqueId() });
      await tick();
      await store.appendMessages([text(first.id, "news")]);
      const updated = await store.getConversation(first.id);
      check(updated !== null && updated.updatedAt > first.updatedAt, "updatedAt moves on");
      const listed = (await store.listConversations({ limit: 1000 })).map((each) => each.id);
      check(listed.indexOf(first.id) < listed.indexOf(second.id), "the updated conversation comes first");
      await tick();
      await store.appendMessages(await store.listMessages(first.id));
      checkEqual(
        (await store.getConversation(first.id))?.updatedAt,
        updated.updatedAt,
        "after a repeated append",
      );
    },
  ],
  [
    "lists oldest first by default, and newest first when not ascending",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const messages = ["a", "b", "c"].map((each) => text(id, each));
      await store.appendMessages(messages);
      checkEqual(await store.listMessages(id), messages, "the default");
      checkEqual(await store.listMessages(id, { ascending: false }), messages.toReversed(), "newest first");
      const newest = await store.listMessages(id, { ascending: false, limit: 2 });
      checkEqual(newest, [messages[2], messages[1]], "the newest two");
    },
  ],
];

/** These say nothing about a store without `readNewest`. */
const newestFirstCases: [string, Body][] = [
  [
    "pages from the newest end without a gap or a repeat, and says where the beginning is",
    async (store) => {
      if (!readsNewestFirst(store)) return;
      const { id } = await store.createConversation({ id: uniqueId() });
      const messages = ["a", "b", "c", "d", "e"].map((each) => text(id, each));
      await store.appendMessages(messages);
      const read: ConversationMessage[] = [];
      let before: number | undefined;
      let pages = 0;
      do {
        const page = await store.readNewest({
          conversationId: id,
          limit: 2,
          ...(before === undefined ? {} : { before }),
        });
        read.push(...page.entries.map((entry) => entry.message));
        before = page.before;
        pages += 1;
      } while (before !== undefined && pages < 10);
      checkEqual(pages, 3, "the number of pages");
      checkEqual(read, messages.toReversed(), "the messages");
    },
  ],
  [
    "goes on with older messages although newer ones were appended between two pages",
    async (store) => {
      if (!readsNewestFirst(store)) return;
      const { id } = await store.createConversation({ id: uniqueId() });
      const messages = ["a", "b", "c"].map((each) => text(id, each));
      await store.appendMessages(messages);
      const first = await store.readNewest({ conversationId: id, limit: 2 });
      await store.appendMessages([text(id, "late")]);
      check(first.before !== undefined, "there is another page");
      const second = await store.readNewest({ conversationId: id, limit: 2, before: first.before });
      checkEqual(
        second.entries.map((entry) => entry.message),
        messages.slice(0, 1),
        "the second page",
      );
      checkEqual(second.before, undefined, "the end");
    },
  ],
  [
    "numbers parts from 1 without a gap, one for a message without parts",
    async (store) => {
      if (!readsNewestFirst(store)) return;
      const { id } = await store.createConversation({ id: uniqueId() });
      const two: ConversationMessage = { ...text(id, ""), content: everyPart.slice(0, 2) };
      const none: ConversationMessage = { ...text(id, ""), content: [] };
      await store.appendMessages([text(id, "first"), two, none, text(id, "last")]);
      const { entries } = await store.readNewest({ conversationId: id, limit: 10 });
      const ranges = entries.toReversed().map((entry) => [entry.firstSeq, entry.lastSeq]);
      checkEqual(
        ranges,
        [
          [1, 1],
          [2, 3],
          [4, 4],
          [5, 5],
        ],
        "the ranges",
      );
    },
  ],
  [
    "reads nothing of a conversation that is empty or does not exist",
    async (store) => {
      if (!readsNewestFirst(store)) return;
      const { id } = await store.createConversation({ id: uniqueId() });
      checkEqual(await store.readNewest({ conversationId: id, limit: 5 }), { entries: [] }, "empty");
      checkEqual(
        await store.readNewest({ conversationId: uniqueId(), limit: 5 }),
        { entries: [] },
        "unknown",
      );
    },
  ],
];

const everyPart: MessageContentPart[] = [
  { type: "reasoning", text: "hm", providerMetadata: { p: { signature: "s" } } },
  { type: "text", text: "Hello", providerMetadata: { p: { id: 1 } } },
  {
    type: "tool-call",
    name: "weather",
    arguments: { city: "Oslo" },
    argumentsText: '{"city": "Oslo"}',
    toolCallId: "call-1",
    stepId: "turn.0",
  },
  {
    type: "tool-result",
    name: "weather",
    result: { degrees: 4 },
    resultText: '{"degrees": 4}',
    toolCallId: "call-1",
    isError: false,
    stepId: "turn.0",
    durationMs: 12,
  },
  { type: "metadata", data: { any: [1, "a", null] } },
  { type: "file", mediaType: "text/plain", data: "aGk=", filename: "hi.txt" },
  { type: "source", id: "s1", title: "A page", url: "https://example.com/" },
  { type: "error", message: "The connection failed", code: "network" },
];

function readsNewestFirst(store: ConversationStore): store is ConversationStore & NewestFirstReader {
  return "readNewest" in store && typeof store.readNewest === "function";
}

function uniqueId(): string {
  return crypto.randomUUID();
}

function text(conversationId: string, content: string, createdAt = 1_700_000_000_000): ConversationMessage {
  return {
    id: uniqueId(),
    conversationId,
    role: "user",
    createdAt: new Date(createdAt),
    content: [{ type: "text", text: content }],
  };
}

function turnOf(conversationId: string): ConversationTurn {
  const createdAt = new Date(1_700_000_000_000);
  return {
    id: uniqueId(),
    conversationId,
    createdAt,
    userMessages: [text(conversationId, "question")],
    assistantMessages: [{ ...text(conversationId, "answer"), role: "assistant" }],
    toolMessages: [{ ...text(conversationId, ""), role: "tool", content: everyPart.slice(3, 4) }],
    providerCalls: [
      {
        id: uniqueId(),
        createdAt,
        metadata: { provider: "p", model: "m" },
        usage: { inputTokens: 10, outputTokens: 5 },
      },
    ],
    metadata: { reason: "stop", usage: { inputTokens: 10, outputTokens: 5 } },
  };
}

function checkCode(error: unknown, code: string): void {
  check(isParleyError(error), `expected a ParleyError, got ${String(error)}`);
  checkEqual(error.code, code, "the error's code");
}

/** Resolves when the real clock shows a later millisecond. */
async function laterTime(): Promise<void> {
  const start = Date.now();
  while (Date.now() === start) await new Promise((resolve) => setTimeout(resolve, 1));
}
