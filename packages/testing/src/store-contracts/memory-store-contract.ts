import { isParleyError } from "@parley/core/errors";
import type { CanonicalMessage } from "@parley/core/messages";
import type { MemoryStore, Thread } from "@parley/core/ports";
import { type ContractCase, check, checkEqual, checkRejects } from "../contract-case.js";
import { uniqueId } from "../sample-messages.js";

/** A store for one case. */
export interface MemoryStoreFixture {
  /** Holds threads of `owner`. May share a database with others: ids are unique. */
  readonly store: MemoryStore;
  readonly owner: string;
  /** Called after the case. */
  close?(): Promise<void>;
}

type MemoryStoreCase = (store: MemoryStore, owner: string) => Promise<void>;

/** Returns the guarantees of Parley's stores of canonical messages. */
export function memoryStoreContract(
  make: () => MemoryStoreFixture | Promise<MemoryStoreFixture>,
): ContractCase[] {
  return cases.map(([name, body]) => ({
    name,
    async run() {
      const { store, owner, ...fixture } = await make();
      try {
        await body(store, owner);
      } finally {
        await fixture.close?.();
      }
    },
  }));
}

const createdAt = new Date(1_700_000_000_123);

function message(threadId: string, given: Partial<CanonicalMessage> = {}): CanonicalMessage {
  const id = given.id ?? uniqueId();
  return {
    id,
    threadId,
    role: "user",
    type: "text",
    content: { format: 2, parts: [{ type: "text", text: `text of ${id}` }] },
    createdAt,
    ...given,
  };
}

/** Returns a message as other writers save it: the call, its result and what came after in one message. */
function merged(threadId: string): CanonicalMessage {
  return message(threadId, {
    role: "assistant",
    content: {
      format: 2,
      content: "It is cold",
      providerMetadata: { acme: { id: "answer-1" } },
      parts: [
        { type: "text", text: "I look it up \u0000" },
        {
          type: "tool-invocation",
          toolCallId: "c1",
          toolName: "weather",
          args: { city: "Oslo" },
          result: { degrees: 4 },
          state: "result",
        },
        { type: "text", text: "It is cold" },
      ],
    },
  });
}

async function checkRefused(refused: Promise<unknown>, what: string): Promise<void> {
  const error = await checkRejects(refused, what);
  checkEqual(isParleyError(error) ? error.code : String(error), "invalid_request", what);
}

const cases: [string, MemoryStoreCase][] = [
  [
    "knows nothing of a thread that was not saved",
    async (store) => {
      checkEqual(await store.getThreadById({ threadId: uniqueId() }), null, "the thread");
      checkEqual(await store.listMessages({ threadId: uniqueId() }), [], "its messages");
    },
  ],
  [
    "gives threads back as they were saved, and saves them again",
    async (store, owner) => {
      const thread: Thread = {
        id: uniqueId(),
        resourceId: owner,
        title: "Plans",
        metadata: { tags: ["a", "\u0000"] },
        createdAt,
        updatedAt: new Date(1_700_000_001_000),
      };
      await store.saveThread({ thread });
      checkEqual(await store.getThreadById({ threadId: thread.id }), thread, "the thread");
      const { title: _, metadata: __, ...bare } = { ...thread, updatedAt: new Date(1_700_000_002_000) };
      await store.saveThread({ thread: bare });
      checkEqual(await store.getThreadById({ threadId: thread.id }), bare, "the thread, saved again");
    },
  ],
  [
    "makes the first user message the title of a thread that has none",
    async (store) => {
      const titleOf = async (threadId: string) => (await store.getThreadById({ threadId }))?.title;
      const [id, named] = [uniqueId(), uniqueId()];
      await store.saveMessages({ messages: [merged(id)] });
      checkEqual(await titleOf(id), undefined, "the title before there is a user message");
      const first = message(id);
      await store.saveMessages({ messages: [first, message(id)] });
      checkEqual(await titleOf(id), `text of ${first.id}`, "the title");
      await store.saveThread({ thread: { id: named, title: "Mine", createdAt, updatedAt: createdAt } });
      await store.saveMessages({ messages: [message(named)] });
      checkEqual(await titleOf(named), "Mine", "a title that was saved");
    },
  ],
  [
    "gives messages back as they were saved, in order, once each",
    async (store, owner) => {
      const id = uniqueId();
      // By the order of saving: the times are all the same.
      const messages = [message(id), merged(id), message(id, { resourceId: owner }), message(id)];
      await store.saveMessages({ messages: messages.slice(0, 2) });
      await store.saveMessages({ messages });
      await store.saveMessages({ messages: [] });
      checkEqual(await store.listMessages({ threadId: id }), messages, "all");
      checkEqual(await store.listMessages({ threadId: id, limit: 2 }), messages.slice(0, 2), "the oldest");
      checkEqual(
        await store.listMessages({ threadId: id, orderBy: "desc", limit: 3 }),
        messages.toReversed().slice(0, 3),
        "the newest",
      );
    },
  ],
  [
    "makes a thread with its first message",
    async (store, owner) => {
      const id = uniqueId();
      await store.saveMessages({ messages: [message(id)] });
      const thread = await store.getThreadById({ threadId: id });
      checkEqual({ id: thread?.id, resourceId: thread?.resourceId }, { id, resourceId: owner }, "the thread");
    },
  ],
  [
    "gives the values of tool parts beside the texts that stand for them",
    async (store) => {
      const id = uniqueId();
      const invocation = { type: "tool-invocation" as const, toolCallId: "c1", toolName: "add" };
      const call = { ...invocation, state: "call" as const, argsText: '{"b":2, "a":1.0}' };
      const result = { ...invocation, state: "result" as const, resultText: '{"sum":3}', isError: false };
      const args = { b: 2, a: 1 };
      const asRead = [
        message(id, {
          role: "assistant",
          type: "tool",
          content: { format: 2, parts: [{ ...call, args }] },
        }),
        message(id, {
          role: "tool",
          type: "tool",
          content: { format: 2, parts: [{ ...result, result: { sum: 3 } }] },
        }),
      ];
      // Saved with and without the values.
      const [called, answered] = asRead;
      check(called !== undefined && answered !== undefined, "two messages");
      await store.saveMessages({
        messages: [called, { ...answered, content: { format: 2, parts: [result] } }],
      });
      checkEqual(await store.listMessages({ threadId: id }), asRead, "the messages");
    },
  ],
  [
    "keeps a file's bytes as base64",
    async (store) => {
      const id = uniqueId();
      const parts = [{ type: "file" as const, data: new Uint8Array([104, 105]), mimeType: "text/plain" }];
      await store.saveMessages({ messages: [message(id, { content: { format: 2, parts } })] });
      const [read] = await store.listMessages({ threadId: id });
      checkEqual(read?.content.parts, [{ type: "file", data: "aGk=", mimeType: "text/plain" }], "the file");
    },
  ],
  [
    "refuses another owner's thread and message, and writes nothing of that call",
    async (store) => {
      const id = uniqueId();
      const resourceId = uniqueId();
      const thread = { id, resourceId, createdAt, updatedAt: createdAt };
      await checkRefused(store.saveThread({ thread }), "saveThread");
      const messages = [message(id), message(id, { resourceId })];
      await checkRefused(store.saveMessages({ messages }), "saveMessages");
      checkEqual(await store.getThreadById({ threadId: id }), null, "the thread");
    },
  ],
  [
    "refuses a message whose createdAt is no date, and writes nothing of that call",
    async (store) => {
      const id = uniqueId();
      const messages = [message(id), message(id, { createdAt: new Date(Number.NaN) })];
      await checkRefused(store.saveMessages({ messages }), "saveMessages");
      checkEqual(await store.getThreadById({ threadId: id }), null, "the thread");
    },
  ],
  [
    "refuses an id that another thread has, and what is not plain data",
    async (store) => {
      const [left, right] = [uniqueId(), uniqueId()];
      const taken = message(left);
      await store.saveMessages({ messages: [taken] });
      const messages = [message(right), { ...taken, threadId: right }];
      await checkRefused(store.saveMessages({ messages }), "an id of another thread");
      const odd = message(right, { content: { format: 2, parts: [{ type: "data", data: { n: 1n } }] } });
      await checkRefused(store.saveMessages({ messages: [odd] }), "a bigint");
      checkEqual(await store.listMessages({ threadId: right }), [], "the messages");
    },
  ],
  [
    "hands out copies",
    async (store) => {
      const id = uniqueId();
      const saved = message(id);
      await store.saveMessages({ messages: [saved] });
      saved.content.parts.length = 0;
      const [read] = await store.listMessages({ threadId: id });
      if (read !== undefined) read.content.parts.length = 0;
      const [again] = await store.listMessages({ threadId: id });
      checkEqual(again?.content.parts.length, 1, "the parts");
    },
  ],
];
