import { isParleyError } from "@parley/core/errors";
import type { ConversationMessage } from "@parley/core/messages";
import type { ConversationStore, NewestFirstReader } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import { check, checkEqual, checkRejects } from "../contract-case.js";
import { everyPart, sampleTurn, text, uniqueId } from "../sample-messages.js";
import type { StoreCase } from "./conversation-store-contract.js";

/** Guarantees of Parley's stores beyond the eight methods. */
export const parleyStoreCases: [string, StoreCase][] = [
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
      const turn = store.appendTurn(sampleTurn(unknown));
      checkCode(await checkRejects(turn, "appendTurn"), "conversation_not_found");
      checkEqual(await store.listMessages(unknown), [], "messages of the unknown one");
      checkEqual(await store.listTurns(unknown), [], "turns of the unknown one");
    },
  ],
  [
    "refuses a message that names no conversation, and says so",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const message = text(id, "lost");
      const { conversationId: _, ...without } = message;
      for (const lost of [without as ConversationMessage, { ...message, conversationId: "" }]) {
        const error = await checkRejects(store.appendMessages([text(id, "known"), lost]), "the append");
        checkCode(error, "invalid_request");
        check(isParleyError(error) && error.message.includes("conversationId"), "the field is named");
        check(isParleyError(error) && error.message.includes(message.id), "the message is named");
      }
      checkEqual(await store.listMessages(id), [], "the conversation");
    },
  ],
  [
    "writes a turn once, however often its id is appended",
    async (store) => {
      const { id } = await store.createConversation({ id: uniqueId() });
      const turn = sampleTurn(id);
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
    "hands out and takes in copies, so that no caller can change what is stored",
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

/** Cases that do not apply to a store without `readNewest`. */
export const newestFirstCases: [string, StoreCase][] = [
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
          ...omitUndefined({ before }),
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

function readsNewestFirst(store: ConversationStore): store is ConversationStore & NewestFirstReader {
  return "readNewest" in store && typeof store.readNewest === "function";
}

function checkCode(error: unknown, code: string): void {
  check(isParleyError(error), `expected a ParleyError, got ${String(error)}`);
  checkEqual(error.code, code, "the error's code");
}
