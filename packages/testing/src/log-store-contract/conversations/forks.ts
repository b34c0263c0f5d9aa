import { check, checkEqual } from "../../contract-case.js";
import {
  message,
  providerCall,
  refused,
  type Scenario,
  type Sending,
  type TopicCase,
  textsOf,
  uniqueId,
} from "../scenario.js";

/** Creates a conversation with `count` turns of two seqs each, named by their texts. */
async function turns(s: Scenario, ...texts: readonly string[]) {
  const id = uniqueId();
  for (const text of texts) await s.turn(id, text);
  return id;
}

function admitted(s: Scenario, newId: string, sending: Sending) {
  const { conversationId: _, ...admit } = s.admission(newId, sending);
  return admit;
}

/** Cases of logs that share a beginning: by reference, from where a turn was sealed. */
export const forkCases: readonly TopicCase[] = [
  {
    name: "a fork has the log up to its point, and both continue by themselves",
    async run(s) {
      const id = await turns(s, "a", "b");
      const newId = uniqueId();
      const { conversation, created, turn } = await s.store.fork({ conversationId: id, atSeq: 2, newId });
      checkEqual([created, turn], [true, undefined], "what is new");
      checkEqual(
        [conversation.id, conversation.parentId, conversation.parentSeq, conversation.status],
        [newId, id, 2, "idle"],
        "the fork",
      );
      checkEqual([conversation.lastSeq, conversation.sealedSeq], [2, 2], "its seqs");
      checkEqual(await s.store.get(newId), conversation, "the fork read again");
      checkEqual(await s.texts(newId), ["a", "Answer to a"], "its log");
      await s.turn(newId, "x");
      await s.turn(id, "c");
      checkEqual(await s.texts(newId), ["a", "Answer to a", "x", "Answer to x"], "the fork's log");
      const origin = ["a", "Answer to a", "b", "Answer to b", "c", "Answer to c"];
      checkEqual(await s.texts(id), origin, "the origin's log");
      const { chunks } = await s.store.readChunks({ conversationId: newId });
      checkEqual(
        chunks.map(({ seq }) => seq),
        [1, 2, 3, 4],
        "the fork's chunks",
      );
      const [inherited] = await s.log(newId);
      checkEqual(inherited?.message.conversationId, newId, "an inherited message reads as the fork's own");
    },
  },
  {
    name: "a fork at 0 shares nothing but the settings",
    async run(s) {
      const id = uniqueId();
      await s.store.create({ id, settings: { title: "Plans", model: "a/one", metadata: { tag: 1 } } });
      await s.turn(id);
      const newId = uniqueId();
      const { conversation } = await s.store.fork({ conversationId: id, atSeq: 0, newId });
      checkEqual(
        [conversation.parentSeq, conversation.lastSeq, conversation.title, conversation.model],
        [0, 0, "Plans", "a/one"],
        "the fork",
      );
      checkEqual(conversation.metadata, { tag: 1 }, "its metadata");
      await s.turn(newId, "x");
      checkEqual(await s.texts(newId), ["x", "Answer to x"], "its log");
      await s.store.set(newId, { model: "b/two", metadata: { tag: 2 } });
      const origin = await s.store.get(id);
      checkEqual([origin?.model, origin?.metadata], ["a/one", { tag: 1 }], "the origin's settings");
      const titled = await s.store.fork({ conversationId: id, atSeq: 0, newId: uniqueId(), title: "Other" });
      checkEqual(titled.conversation.title, "Other", "a title of its own");
    },
  },
  {
    name: "a fork leaves where a sealed turn ends, and nowhere else",
    async run(s) {
      const id = await turns(s, "a", "b");
      const open = await s.start(id);
      await s.commit(open, [message(id, { role: "assistant" })]);
      for (const atSeq of [1, 3, 5, 6, 7, -1, 1.5, Number.NaN]) {
        const newId = uniqueId();
        const forked = s.store.fork({ conversationId: id, atSeq, newId, admit: admitted(s, newId, {}) });
        await refused(forked, "invalid_request", `a fork at ${atSeq}`);
        checkEqual(await s.store.get(newId), null, "the refused fork");
      }
      const { conversation } = await s.store.fork({ conversationId: id, atSeq: 4, newId: uniqueId() });
      checkEqual([conversation.status, conversation.lastSeq], ["idle", 4], "a fork while a turn is open");
      const unknown = s.store.fork({ conversationId: uniqueId(), atSeq: 0, newId: uniqueId() });
      await refused(unknown, "conversation_not_found", "a fork of an unknown conversation");
      const impossible = s.store.fork({ conversationId: id, atSeq: 0, newId: "a b" });
      await refused(impossible, "invalid_request", "a fork with an impossible id");
    },
  },
  {
    name: "the same fork again is there already; its id at another place is refused",
    async run(s) {
      const id = await turns(s, "a", "b");
      const newId = uniqueId();
      const first = await s.store.fork({ conversationId: id, atSeq: 2, newId });
      const again = await s.store.fork({ conversationId: id, atSeq: 2, newId });
      checkEqual(again, { ...first, created: false }, "the second answer");
      const moved = s.store.fork({ conversationId: id, atSeq: 4, newId });
      await refused(moved, "invalid_request", "the same id at another seq");
      const taken = s.store.fork({ conversationId: newId, atSeq: 0, newId: id });
      await refused(taken, "invalid_request", "the id of another conversation");
      checkEqual((await s.store.get(newId))?.parentSeq, 2, "the fork");
    },
  },
  {
    name: "a fork with a message opens its turn in the same transaction: edit and regenerate",
    async run(s) {
      const id = await turns(s, "a", "b");
      const newId = uniqueId();
      const admit = admitted(s, newId, { text: "b, better", choices: { model: "a/one" } });
      const input = { conversationId: id, atSeq: 2, newId, admit };
      const first = await s.store.fork(input);
      checkEqual([first.created, first.turn?.turnId], [true, admit.turnId], "the fork and its turn");
      checkEqual(textsOf(first.turn?.entries ?? []), ["b, better"], "the turn's message");
      checkEqual(
        [first.turn?.entries[0]?.firstSeq, first.turn?.choices],
        [3, { model: "a/one" }],
        "its place",
      );
      checkEqual([first.conversation.status, first.conversation.lastSeq], ["active", 3], "the fork's state");
      checkEqual(first.conversation.active?.node, s.node, "who holds the turn");
      const again = await s.store.fork(input);
      checkEqual(again, { ...first, created: false }, "the same call again");
      check(first.turn !== undefined, "a turn opened");
      await s.seal({ conversationId: newId, ...first.turn });
      checkEqual((await s.store.fork(input)).turn, undefined, "the call again when the turn is sealed");
      checkEqual(await s.texts(newId), ["a", "Answer to a", "b, better"], "the fork's log");
      const receipt = await s.store.findReceipt(newId, admit.message.id);
      checkEqual(receipt, { outcome: "started", turnId: admit.turnId }, "the message's receipt");
      checkEqual((await s.texts(id)).length, 4, "the origin's rows");
    },
  },
  {
    name: "a fork whose message names another conversation makes nothing",
    async run(s) {
      const id = await turns(s, "a");
      const newId = uniqueId();
      const admit = admitted(s, newId, { message: message(id) });
      await refused(
        s.store.fork({ conversationId: id, atSeq: 2, newId, admit }),
        "invalid_request",
        "the fork",
      );
      checkEqual(await s.store.get(newId), null, "the fork");
    },
  },
  {
    name: "a fork of a fork may leave within what it inherited",
    async run(s) {
      const id = await turns(s, "a", "b", "c");
      const child = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: 4, newId: child });
      await s.turn(child, "x");
      const early = uniqueId();
      const { conversation } = await s.store.fork({ conversationId: child, atSeq: 2, newId: early });
      checkEqual([conversation.parentId, conversation.parentSeq], [child, 2], "the grandchild");
      await s.turn(early, "y");
      checkEqual(await s.texts(early), ["a", "Answer to a", "y", "Answer to y"], "its log");
      const inside = s.store.fork({ conversationId: child, atSeq: 3, newId: uniqueId() });
      await refused(inside, "invalid_request", "a fork inside an inherited turn");
      const beyond = s.store.fork({ conversationId: early, atSeq: 6, newId: uniqueId() });
      await refused(beyond, "invalid_request", "a fork where only an ancestor has something");
    },
  },
  {
    name: "forty forks in a row read as one log from every place, wherever each of them leaves",
    async run(s) {
      let id = await turns(s, "0");
      let texts = ["0", "Answer to 0"];
      for (let depth = 1; depth <= 40; depth++) {
        // Mostly at the end; sometimes before the last turn, or somewhere in the inherited part.
        const back = [0, 0, 2, 0, 0, 4 * (depth % 4)][depth % 6] ?? 0;
        const atSeq = depth === 20 ? 4 : Math.max(4, texts.length - back);
        const newId = uniqueId();
        await s.store.fork({ conversationId: id, atSeq: Math.min(atSeq, texts.length), newId });
        id = newId;
        texts = texts.slice(0, atSeq);
        if (depth % 5 === 0) continue;
        await s.turn(id, `${depth}`);
        texts.push(`${depth}`, `Answer to ${depth}`);
        if (depth % 3 !== 0) continue;
        await s.turn(id, `${depth}b`);
        texts.push(`${depth}b`, `Answer to ${depth}b`);
      }
      checkEqual(await s.texts(id), texts, "the log");
      for (let before = 1; before <= texts.length + 1; before++) {
        const { entries } = await s.store.readNewest({ conversationId: id, limit: 3, before });
        const expected = texts.slice(Math.max(0, before - 4), before - 1).reverse();
        checkEqual(textsOf(entries), expected, `the page before ${before}`);
        const { chunks } = await s.store.readChunks({
          conversationId: id,
          sinceSeq: before - 1,
          beforeSeq: before + 3,
        });
        checkEqual(
          chunks.map(({ seq }) => seq),
          [before, before + 1, before + 2].filter((seq) => seq <= texts.length),
          `the window behind ${before - 1}`,
        );
      }
      const metrics = await s.store.metrics(id);
      checkEqual(metrics.length, texts.length / 2, "the turns");
      const middle = metrics[2];
      check(middle !== undefined, "there is a third turn");
      checkEqual(
        await s.store.metrics(id, { limit: 2, before: middle.turnId }),
        metrics.slice(0, 2),
        "the turns before the third",
      );
    },
  },
  {
    name: "ten ancestors read as one log",
    async run(s) {
      let id = await turns(s, "turn 0");
      const texts = ["turn 0", "Answer to turn 0"];
      for (let depth = 1; depth <= 10; depth++) {
        const newId = uniqueId();
        await s.store.fork({ conversationId: id, atSeq: depth * 2, newId });
        await s.turn(id, "not inherited");
        id = newId;
        await s.turn(id, `turn ${depth}`);
        texts.push(`turn ${depth}`, `Answer to turn ${depth}`);
      }
      checkEqual(await s.texts(id), texts, "the log by pages");
      const { chunks, latestSeq } = await s.store.readChunks({
        conversationId: id,
        sinceSeq: 3,
        beforeSeq: 20,
      });
      checkEqual(
        chunks.map(({ seq }) => seq),
        Array.from({ length: 16 }, (_, index) => index + 4),
        "a window across ancestors",
      );
      checkEqual(latestSeq, 19, "its end");
      const newest = await s.store.readChunks({ conversationId: id, limit: 5 });
      checkEqual(
        newest.chunks.map(({ seq }) => seq),
        [18, 19, 20, 21, 22],
        "the newest five",
      );
      checkEqual((await s.store.metrics(id)).length, 11, "the turns with metrics");
      checkEqual((await s.store.listMessages(id)).length, 22, "the messages");
    },
  },
  {
    name: "turns, metrics, calls and the context size come down from ancestors, up to the fork's point",
    async run(s) {
      const id = uniqueId();
      const calls = [providerCall(), providerCall()];
      const first = await s.start(id);
      await s.seal(first, [], { metrics: { contextSize: 11 }, providerCalls: calls.slice(0, 1) });
      const second = await s.start(id);
      await s.seal(second, [], { metrics: { contextSize: 22 }, providerCalls: calls.slice(1) });
      const newId = uniqueId();
      const { conversation } = await s.store.fork({ conversationId: id, atSeq: 1, newId });
      checkEqual(conversation.contextSize, 11, "the context size");
      checkEqual(
        (await s.store.metrics(newId)).map(({ turnId }) => turnId),
        [first.turnId],
        "the metrics",
      );
      checkEqual(await s.store.lastCall(newId), calls[0], "the newest call");
      const inherited = await s.store.readTurn(newId, first.turnId);
      checkEqual([inherited?.turn.status, inherited?.entries.length], ["sealed", 1], "an inherited turn");
      checkEqual(await s.store.readTurn(newId, second.turnId), null, "a turn past the fork's point");
      const own = await s.turn(newId);
      checkEqual(
        (await s.store.metrics(newId)).map(({ turnId }) => turnId),
        [first.turnId, own.turnId],
        "the metrics after a turn of its own",
      );
      const page = async (query: { limit?: number; before?: string }) =>
        (await s.store.metrics(newId, query)).map(({ turnId }) => turnId);
      checkEqual(await page({ limit: 1 }), [own.turnId], "the newest page");
      checkEqual(
        await page({ limit: 1, before: own.turnId }),
        [first.turnId],
        "the page before, of an ancestor",
      );
      checkEqual(await page({ before: own.turnId }), [first.turnId], "all before a turn");
      checkEqual(await page({ limit: 0 }), [], "an empty page");
      checkEqual(await page({ limit: 5, before: first.turnId }), [], "nothing before the first");
      await refused(page({ before: second.turnId }), "invalid_request", "a turn past the fork's point");
    },
  },
  {
    name: "two that make the same fork at once make one",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 10; round++) {
        const id = await turns(s, "a");
        const newId = uniqueId();
        const input = { conversationId: id, atSeq: 2, newId, admit: admitted(s, newId, { text: "x" }) };
        const answers = await Promise.all([s.store.fork(input), s.otherStore.fork(input)]);
        checkEqual(answers.filter(({ created }) => created).length, 1, "how many made it");
        checkEqual(answers[0]?.turn, answers[1]?.turn, "the turns they name");
        checkEqual(await s.texts(newId), ["a", "Answer to a", "x"], "its log");
      }
    },
  },
  {
    name: "a chat is at the fork that named it last, until that fork is deleted",
    async run(s) {
      const id = await turns(s, "a", "b");
      const chatId = uniqueId();
      checkEqual(await s.store.branchOf(chatId), null, "a chat that no fork named");
      checkEqual(await s.store.branchOf(id), null, "a conversation that was not forked");
      const [first, second, other] = [uniqueId(), uniqueId(), uniqueId()];
      await s.store.fork({ conversationId: id, atSeq: 2, newId: first, chatId });
      checkEqual(await s.store.branchOf(chatId), first, "after one fork");
      await s.store.fork({ conversationId: first, atSeq: 0, newId: second, chatId });
      await s.store.fork({ conversationId: first, atSeq: 0, newId: other });
      checkEqual(await s.store.branchOf(chatId), second, "after another, and one without a chat");
      await s.store.fork({ conversationId: id, atSeq: 2, newId: first, chatId });
      checkEqual(await s.store.branchOf(chatId), first, "after the same fork again");
      const bad = s.store.fork({ conversationId: id, atSeq: 1, newId: uniqueId(), chatId });
      await refused(bad, "invalid_request", "a fork in the middle of a turn");
      checkEqual(await s.store.branchOf(chatId), first, "after a refused fork");
      checkEqual(await s.root.forOwner(uniqueId()).branchOf(chatId), null, "for another owner");
      await s.store.remove(first, { cascade: false });
      checkEqual(await s.store.branchOf(chatId), null, "after the fork was deleted");
      await s.store.fork({ conversationId: id, atSeq: 2, newId: first, chatId });
      checkEqual(await s.store.branchOf(chatId), first, "after it was created again");
    },
  },
  {
    name: "a message is found by its id, own or inherited, as far as the fork sees",
    async run(s) {
      const id = uniqueId();
      for (const [text, messageId] of [
        ["a", "m1"],
        ["b", "m2"],
      ] as const) {
        const turn = await s.start(id, { text, messageId });
        await s.seal(turn, [message(id, { role: "assistant", text: "fine" })]);
      }
      const newId = uniqueId();
      const admit = admitted(s, newId, { text: "c", messageId: "m2" });
      await s.store.fork({ conversationId: id, atSeq: 2, newId, admit });
      const [one, two] = [await s.store.findMessage(id, "m1"), await s.store.findMessage(id, "m2")];
      checkEqual([one?.firstSeq, two?.firstSeq], [1, 3], "in the origin");
      check(one?.turnId !== undefined && one.turnId !== two?.turnId, "each is in its own turn");
      checkEqual(await s.store.findMessage(newId, "m1"), one, "inherited");
      const own = await s.store.findMessage(newId, "m2");
      checkEqual([own?.firstSeq, own?.turnId], [3, admit.turnId], "the fork's own under the same id");
      checkEqual(await s.store.findMessage(newId, "m3"), null, "an unknown message");
      checkEqual(await s.store.findMessage(uniqueId(), "m1"), null, "an unknown conversation");
      const early = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: 2, newId: early });
      checkEqual(await s.store.findMessage(early, "m2"), null, "behind the fork");
    },
  },
];
