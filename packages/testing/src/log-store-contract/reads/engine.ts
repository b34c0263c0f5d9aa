import { isParleyError } from "@parley/core/errors";
import { textOf } from "@parley/core/messages";
import type { ConversationTurn } from "@parley/core/ports";
import { check, checkEqual, checkRejects } from "../../contract-case.js";
import {
  callingMessage,
  message,
  providerCall,
  refused,
  resultMessage,
  type TopicCase,
  textsOf,
  turnMetrics,
  uniqueId,
} from "../scenario.js";

/** Cases of the engine's eight methods and the runtime's on the same conversations. */
export const engineCases: readonly TopicCase[] = [
  {
    name: "what an engine appends is sealed at once and read as chunks, pages and forks",
    async run(s) {
      const { id } = await s.store.createConversation({ id: uniqueId(), title: "Plans", metadata: { n: 1 } });
      const messages = [message(id, { text: "a" }), message(id, { role: "assistant", text: "b" })];
      await s.store.appendMessages(messages);
      const record = await s.store.get(id);
      checkEqual(
        [record?.title, record?.metadata, record?.lastSeq, record?.sealedSeq],
        ["Plans", { n: 1 }, 2, 2],
        "the record",
      );
      const { chunks } = await s.store.readChunks({ conversationId: id });
      checkEqual(
        chunks.map(({ seq, turnId }) => [seq, turnId]),
        [
          [1, undefined],
          [2, undefined],
        ],
        "the chunks",
      );
      const { conversation } = await s.store.fork({ conversationId: id, atSeq: 2, newId: uniqueId() });
      checkEqual(await s.texts(conversation.id), ["a", "b"], "a fork's log");
      await s.store.appendMessages(await s.store.listMessages(conversation.id));
      checkEqual((await s.store.get(conversation.id))?.lastSeq, 2, "inherited messages appended again");
      await s.turn(id, "c");
      checkEqual(await s.texts(id), ["a", "b", "c", "Answer to c"], "the log after a turn");
    },
  },
  {
    name: "a conversation without a title gets the first user message that is appended as its title",
    async run(s) {
      const { id } = await s.store.createConversation({ id: uniqueId() });
      await s.store.appendMessages([message(id, { role: "system", text: "Be brief." })]);
      checkEqual((await s.store.get(id))?.title, "", "the title before there is a user message");
      const long = `What   is\n${"very ".repeat(40)}long?`;
      await s.store.appendMessages([
        message(id, { role: "assistant", text: "Hello" }),
        message(id, { text: long }),
        message(id, { text: "Another" }),
      ]);
      const title = (await s.store.get(id))?.title ?? "";
      check(title.startsWith("What is very very") && title.endsWith("…"), `the title "${title}"`);
      checkEqual((await s.store.getConversation(id))?.title, title, "as an engine reads it");
      await s.store.updateConversation(id, { title: "Mine" });
      await s.store.appendMessages([message(id, { text: "More" })]);
      checkEqual((await s.store.get(id))?.title, "Mine", "a title that someone has set");
    },
  },
  {
    name: "nothing is appended beside a running turn",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      await refused(s.store.appendMessages([message(id)]), "turn_active", "messages");
      const appended: ConversationTurn = {
        id: uniqueId(),
        conversationId: id,
        createdAt: new Date(1_700_000_000_000),
        userMessages: [],
        assistantMessages: [],
        providerCalls: [],
      };
      await refused(s.store.appendTurn(appended), "turn_active", "a turn");
      await s.seal(turn);
      await s.store.appendMessages([message(id, { text: "After" })]);
      checkEqual(await s.texts(id), ["Hello", "After"], "the log");
    },
  },
  {
    name: "an engine reads the runtime's turns, inherited ones too",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const answer = message(id, { role: "assistant", text: "Answer" });
      const calls = [providerCall()];
      const metrics = turnMetrics(turn.turnId, { contextSize: 5 });
      const calling = callingMessage(id, "c");
      const result = resultMessage(id, "c");
      await s.commit(turn, [calling, result]);
      await s.seal(turn, [answer], { metrics, providerCalls: calls });
      await s.start(id);
      const used: ConversationTurn = {
        id: turn.turnId,
        conversationId: (await s.turn()).conversationId,
        createdAt: new Date(1_700_000_000_000),
        userMessages: [],
        assistantMessages: [],
        providerCalls: [],
      };
      await refused(s.store.appendTurn(used), "invalid_request", "its id in another conversation");
      const [read, ...others] = await s.store.listTurns(id);
      check(read !== undefined && others.length === 0, "the sealed turn alone");
      checkEqual(
        [read.id, read.conversationId, read.createdAt],
        [turn.turnId, id, new Date(turn.startedAt)],
        "it",
      );
      checkEqual(
        read.userMessages,
        turn.entries.map((entry) => entry.message),
        "its questions",
      );
      checkEqual([read.assistantMessages, read.toolMessages], [[calling, answer], [result]], "its answers");
      checkEqual(read.providerCalls, calls, "its calls");
      const { usage, contextSize, reason, durationMs } = read.metadata ?? {};
      checkEqual([usage, contextSize, reason, durationMs], [metrics.usage, 5, "stop", 33], "its metadata");
      const { conversation } = await s.store.fork({ conversationId: id, atSeq: 5, newId: uniqueId() });
      checkEqual(
        (await s.store.listTurns(conversation.id)).map((each) => each.id),
        [turn.turnId],
        "in a fork",
      );
    },
  },
  {
    name: "a turn that an engine appended can be read with its messages",
    async run(s) {
      const { id } = await s.store.createConversation({ id: uniqueId() });
      const question = message(id, { text: "q" });
      const answer = message(id, { role: "assistant", text: "a" });
      await s.store.appendMessages([question, answer]);
      const call = providerCall();
      const turnId = uniqueId();
      const createdAt = new Date(1_700_000_000_000);
      await s.store.appendTurn({
        id: turnId,
        conversationId: id,
        createdAt,
        userMessages: [question],
        assistantMessages: [answer],
        providerCalls: [call],
        metadata: { reason: "stop" },
      });
      const read = await s.store.readTurn(id, turnId);
      checkEqual(
        [read?.turn.status, read?.turn.reason, read?.turn.firstSeq, read?.turn.lastSeq],
        ["sealed", "stop", 1, 2],
        "the turn",
      );
      checkEqual(
        [read?.turn.providerCalls, textsOf(read?.entries ?? [])],
        [[call], ["q", "a"]],
        "what it has",
      );
      checkEqual(await s.store.lastCall(id), call, "the newest call");
      const next = await s.start(id);
      checkEqual((await s.store.readTurn(id, next.turnId))?.turn.ordinal, 2, "the next turn's ordinal");
    },
  },
  {
    name: "appends at the same time with a message in common leave each message once, without a gap",
    async run(s) {
      const { id } = await s.store.createConversation({ id: uniqueId() });
      const shared = message(id, { text: "shared" });
      const own = Array.from({ length: 6 }, (_, index) => message(id, { text: `own ${index}` }));
      await Promise.all(own.map((each) => s.store.appendMessages([each, shared])));
      const texts = await s.texts(id);
      checkEqual(
        [...texts].sort(),
        ["own 0", "own 1", "own 2", "own 3", "own 4", "own 5", "shared"],
        "the log",
      );
      const { chunks } = await s.store.readChunks({ conversationId: id });
      checkEqual(
        chunks.map(({ seq }) => seq),
        [1, 2, 3, 4, 5, 6, 7],
        "the seqs",
      );
      const { id: other } = await s.store.createConversation({ id: uniqueId() });
      const taken = { ...shared, conversationId: other };
      await refused(
        s.store.appendMessages([message(other), taken]),
        "invalid_request",
        "an id of another one",
      );
      await refused(
        s.store.appendMessages([message(other), message(uniqueId())]),
        "conversation_not_found",
        "an unknown conversation beside a known one",
      );
      checkEqual(await s.store.listMessages(other), [], "what a refused append leaves");
    },
  },
  {
    name: "the ids of a removed conversation's messages are free",
    async run(s) {
      const { id } = await s.store.createConversation({ id: uniqueId() });
      const gone = message(id);
      await s.store.appendMessages([gone]);
      await s.store.remove(id, { cascade: false });
      const { id: other } = await s.store.createConversation({ id: uniqueId() });
      await s.store.appendMessages([{ ...gone, conversationId: other }]);
      checkEqual((await s.texts(other)).length, 1, "the number of rows");
    },
  },
  {
    name: "an engine lists the messages of forks of forks from either end, as many as it asks for",
    async run(s) {
      const [root, middle, last, early] = [uniqueId(), uniqueId(), uniqueId(), uniqueId()];
      await s.turn(root, "one");
      await s.turn(root, "two");
      await s.store.fork({ conversationId: root, atSeq: 4, newId: middle });
      await s.turn(root, "past");
      await s.turn(middle, "three");
      await s.store.fork({ conversationId: middle, atSeq: 6, newId: last });
      await s.turn(last, "four");
      // Forks where its parent has nothing of its own yet.
      await s.store.fork({ conversationId: last, atSeq: 2, newId: early });
      await s.turn(early, "five");
      for (const [id, questions] of [
        [last, ["one", "two", "three", "four"]],
        [early, ["one", "five"]],
      ] as const) {
        const all = questions.flatMap((text) => [text, `Answer to ${text}`]);
        for (let limit = 0; limit <= all.length + 1; limit++) {
          const oldest = await s.store.listMessages(id, { limit });
          checkEqual(oldest.map(textOf), all.slice(0, limit), `the oldest ${limit}`);
          const newest = await s.store.listMessages(id, { limit, ascending: false });
          checkEqual(newest.map(textOf), all.toReversed().slice(0, limit), `the newest ${limit}`);
        }
        checkEqual((await s.store.listMessages(id)).map(textOf), all, "all of them");
      }
    },
  },
  {
    name: "a message whose createdAt is no date is refused by name, and nothing of its list is kept",
    async run(s) {
      const id = uniqueId();
      await s.store.createConversation({ id });
      const broken = message(id, { createdAt: new Date(Number.NaN) });
      const error = await checkRejects(s.store.appendMessages([message(id), broken]), "an append");
      check(isParleyError(error) && error.code === "invalid_request", "it is refused as invalid");
      check(error.message.includes("createdAt"), "the refusal names the field");
      checkEqual(await s.store.listMessages(id), [], "the messages");
      const other = uniqueId();
      const imported = s.store.importConversation({
        conversationId: other,
        createdAt: 1,
        lastActivityAt: 1,
        closed: false,
        settings: {},
        entries: [{ message: { ...broken, conversationId: other }, firstSeq: 1 }],
        turns: [],
      });
      await refused(imported, "invalid_request", "an import");
      checkEqual(await s.store.get(other), null, "what an import leaves behind");
    },
  },
];
