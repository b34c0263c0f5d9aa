import { check, checkEqual } from "../../contract-case.js";
import { message, type Scenario, type TopicCase, turnMetrics, uniqueId } from "../scenario.js";

/** Runs a whole turn, opened with these choices. Returns the model it was opened for. */
async function turnWith(
  s: Scenario,
  id: string,
  sending: Parameters<Scenario["start"]>[1] = {},
): Promise<string | undefined> {
  const turn = await s.start(id, sending);
  await s.seal(turn, [message(id, { role: "assistant" })]);
  return turn.choices.model;
}

/** Cases of models: a turn's model is fixed when it opens, and a conversation continues with it. */
export const modelCases: readonly TopicCase[] = [
  {
    name: "a record has the reason why the newest turn ended, unless one is open",
    async run(s) {
      const id = uniqueId();
      const reasons = async () => {
        const listed = (await s.store.list({ limit: 100 })).conversations.find((each) => each.id === id);
        return [(await s.store.get(id))?.lastReason, listed?.lastReason];
      };
      const failed = await s.start(id);
      checkEqual(await reasons(), [undefined, undefined], "while the first one is open");
      await s.seal(failed, [], { reason: "error" });
      checkEqual(await reasons(), ["error", "error"], "when it has failed");
      const next = await s.start(id);
      checkEqual(await reasons(), [undefined, undefined], "while the next one is open");
      await s.seal(next, [message(id, { role: "assistant" })]);
      checkEqual(await reasons(), ["stop", "stop"], "when that has answered");
    },
  },
  {
    name: "a turn has its own model, else the conversation's, else that of the last turn, else the default",
    async run(s) {
      const id = uniqueId();
      const send = (choices = {}) => turnWith(s, id, { choices, defaultModel: "default/model" });
      checkEqual(await send(), "default/model", "the first turn");
      checkEqual(await send({ model: "a/one" }), "a/one", "a turn with its own model");
      checkEqual(await turnWith(s, id, { defaultModel: "other/default" }), "a/one", "the turn behind it");
      await s.store.set(id, { model: "b/two" });
      checkEqual(await send(), "b/two", "a turn behind a setting");
      checkEqual(await send({ model: "a/one" }), "a/one", "a turn with its own model beside a setting");
      checkEqual(await send(), "b/two", "the setting still holds");
      await s.store.set(id, { model: null });
      checkEqual((await s.store.get(id))?.lastModel, "b/two", "the model of the last turn");
      checkEqual(await send(), "b/two", "a turn behind a setting that was taken back");
      checkEqual(await turnWith(s, uniqueId()), undefined, "a first turn without a default");
    },
  },
  {
    name: "the model of an open turn is durable, and a repeated send changes nothing of it",
    async run(s) {
      const id = uniqueId();
      const turn = await s.start(id, { defaultModel: "default/model" });
      checkEqual(
        (await s.store.readOpenTurn({ conversationId: id }))?.choices.model,
        "default/model",
        "open",
      );
      const record = await s.store.get(id);
      checkEqual(
        [record?.active?.model, record?.lastModel],
        ["default/model", "default/model"],
        "the record",
      );
      // Created and opened in one transaction, which uses another path in a store.
      const sent = { messageId: uniqueId(), defaultModel: "default/model" };
      const made = await s.start(uniqueId(), sent);
      const again = await s.send(made.conversationId, { ...sent, defaultModel: "other/default" });
      checkEqual(again.kind, "known", "the same message again");
      const open = await s.store.readOpenTurn({ conversationId: made.conversationId });
      checkEqual(open?.choices.model, "default/model", "its turn");
      const sealed = await s.seal(turn, [message(id, { role: "assistant" })]);
      checkEqual(sealed.status, "idle", "the status");
      const read = await s.store.readTurn(id, turn.turnId);
      checkEqual(read?.turn.choices.model, "default/model", "the sealed turn");
    },
  },
  {
    name: "a turn that the queue opens follows the same order, whatever ended before it",
    async run(s) {
      const turn = await s.start(undefined, { choices: { model: "a/one" } });
      const id = turn.conversationId;
      await s.enqueue(id, { text: "first", mode: "queue" });
      await s.enqueue(id, { text: "second", mode: "queue", choices: { model: "b/two" } });
      await s.enqueue(id, { text: "third", mode: "queue" });
      const next = { defaultModel: "default/model" };
      const first = (await s.seal(turn, [], { next })).next;
      check(first !== undefined, "the queue opens a turn");
      checkEqual(first.choices.model, "a/one", "an entry without a choice");
      const second = (await s.seal({ conversationId: id, ...first }, [], { next })).next;
      check(second !== undefined, "the queue opens another turn");
      checkEqual(second.choices.model, "b/two", "an entry with a choice");
      await s.store.set(id, { model: "c/three" });
      await s.seal({ conversationId: id, ...second }, [], { next: { ...next, pauseQueue: true } });
      const resumed = await s.store.queue(id, {
        op: "resume",
        node: s.node,
        turnId: uniqueId(),
        defaultModel: "default/model",
      });
      check(resumed.started !== undefined, "the queue goes on");
      checkEqual(resumed.started.choices.model, "c/three", "an entry behind a setting");
      await s.seal({ conversationId: id, ...resumed.started });

      const fresh = uniqueId();
      await s.store.create({ id: fresh, settings: {} });
      const lease = await s.store.lease({ conversationId: fresh, node: s.node, turnId: uniqueId() });
      await s.enqueue(fresh, { text: "waits", mode: "queue" });
      const { turnId, fence } = lease;
      const ended = await s.store.endLease({ conversationId: fresh, turnId, fence, next: s.next(next) });
      checkEqual(ended.next?.choices.model, "default/model", "a first turn out of the queue");
    },
  },
  {
    name: "a fork continues with the model of the last turn that it shares, or else of its origin",
    async run(s) {
      const id = uniqueId();
      await turnWith(s, id, { choices: { model: "a/one" } });
      await turnWith(s, id, { choices: { model: "b/two" } });
      const forkAt = async (atSeq: number, from = id) => {
        const newId = uniqueId();
        const { conversation } = await s.store.fork({ conversationId: from, atSeq, newId });
        return conversation;
      };
      const early = await forkAt(2);
      checkEqual([early.lastModel, (await forkAt(4)).lastModel], ["a/one", "b/two"], "forks of a log");
      checkEqual((await forkAt(2, early.id)).lastModel, "a/one", "a fork of a fork without turns of its own");
      checkEqual((await forkAt(0)).lastModel, "b/two", "a fork that shares no turn");
      checkEqual(await turnWith(s, early.id, { defaultModel: "default/model" }), "a/one", "its first turn");
      checkEqual((await s.store.get(id))?.lastModel, "b/two", "the origin's");
      const newId = uniqueId();
      const { conversationId: _, ...admit } = s.admission(newId, { defaultModel: "default/model" });
      const regenerated = await s.store.fork({ conversationId: id, atSeq: 0, newId, admit });
      checkEqual(regenerated.turn?.choices.model, "b/two", "a turn that the fork begins with");
    },
  },
  {
    name: "an imported conversation continues with the model of its last turn that names one",
    async run(s) {
      const id = uniqueId();
      const turns = ["a/one", "b/two", undefined].map((model, index) => {
        const turnId = uniqueId();
        const firstSeq = index + 1;
        return {
          turnId,
          firstSeq,
          lastSeq: firstSeq,
          startedAt: 1_600_000_000_000,
          sealedAt: 1_600_000_000_001,
          metrics: turnMetrics(turnId, model === undefined ? {} : { model }),
          providerCalls: [],
        };
      });
      const entries = turns.map(({ turnId, firstSeq }) => ({ message: message(id), firstSeq, turnId }));
      const { conversation } = await s.store.importConversation({
        conversationId: id,
        settings: {},
        closed: false,
        createdAt: 1_600_000_000_000,
        lastActivityAt: 1_600_000_000_001,
        entries,
        turns,
      });
      checkEqual(conversation.lastModel, "b/two", "the model of the last turn");
      const { conversation: fork } = await s.store.fork({ conversationId: id, atSeq: 1, newId: uniqueId() });
      checkEqual(fork.lastModel, "a/one", "that of a fork");
      checkEqual(await turnWith(s, id, { defaultModel: "default/model" }), "b/two", "the next turn");
    },
  },
];
