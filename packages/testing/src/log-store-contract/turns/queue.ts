import { check, checkEqual } from "../../contract-case.js";
import {
  callingMessage,
  message,
  outcomeOf,
  refused,
  resultMessage,
  type Scenario,
  type TopicCase,
  textsOf,
  uniqueId,
} from "../scenario.js";

/** Starts a turn with messages waiting after it, named by their texts. */
async function waiting(s: Scenario, ...entries: readonly (readonly [string, "steer" | "queue"])[]) {
  const turn = await s.start();
  const ids = [];
  for (const [text, mode] of entries) ids.push(await s.enqueue(turn.conversationId, { text, mode }));
  return { turn, id: turn.conversationId, ids };
}

async function listed(s: Scenario, id: string): Promise<string[]> {
  return textsOf((await s.store.queue(id, { op: "list" })).entries);
}

/** Cases of waiting messages: changed until they are delivered, delivered once, kept through stops. */
export const queueCases: readonly TopicCase[] = [
  {
    name: "a waiting message can be edited: text, mode, model and effort, each alone",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const file = { type: "file" as const, mediaType: "text/plain", data: "aGk=" };
      const sent = message(id, { content: [{ type: "text", text: "Old" }, file] });
      await s.send(id, { message: sent, choices: { model: "a/one", instructions: "Be brief" } });
      const edit = async (change: object) => {
        const { entries } = await s.store.queue(id, { op: "edit", id: sent.id, ...change });
        checkEqual(entries, (await s.store.queue(id, { op: "list" })).entries, "the answer of an edit");
        return entries[0];
      };
      const edited = await edit({ text: "New" });
      checkEqual(edited?.message.content, [{ type: "text", text: "New" }, file], "text, files kept");
      checkEqual([edited?.message.id, edited?.id], [sent.id, sent.id], "the ids");
      checkEqual(edited?.choices, { model: "a/one", instructions: "Be brief" }, "the choices so far");
      checkEqual((await edit({ mode: "queue" }))?.mode, "queue", "the mode");
      const chosen = await edit({ model: null, reasoningEffort: "low" });
      checkEqual(chosen?.choices, { instructions: "Be brief", reasoningEffort: "low" }, "new choices");
      const reset = await edit({ model: "b/two", reasoningEffort: null });
      checkEqual(reset?.choices, { instructions: "Be brief", model: "b/two" }, "other choices");
      checkEqual(reset?.mode, "queue", "the mode still");
      const again = await s.send(id, { messageId: sent.id });
      checkEqual(again, { kind: "known", outcome: "queued" }, "the same message sent again");
    },
  },
  {
    name: "a waiting message can be moved before another one, or to the end",
    async run(s) {
      const { id, ids } = await waiting(s, ["a", "queue"], ["b", "steer"], ["c", "queue"]);
      const [a = "", b = "", c = ""] = ids;
      const move = (moved: string, before: string | null) =>
        s.store.queue(id, { op: "edit", id: moved, before });
      checkEqual(textsOf((await move(c, a)).entries), ["c", "a", "b"], "c before a");
      checkEqual(textsOf((await move(c, null)).entries), ["a", "b", "c"], "c to the end");
      checkEqual(textsOf((await move(a, c)).entries), ["b", "a", "c"], "a before c");
      checkEqual(textsOf((await move(b, b)).entries), ["b", "a", "c"], "b before itself");
      checkEqual(textsOf((await move(c, null)).entries), ["b", "a", "c"], "c to the end again");
      await refused(move(a, uniqueId()), "invalid_request", "a before nothing");
      await s.enqueue(id, { text: "d" });
      checkEqual(await listed(s, id), ["b", "a", "c", "d"], "a new one comes last");
    },
  },
  {
    name: "a waiting message can be removed, twice is once",
    async run(s) {
      const { turn, id, ids } = await waiting(s, ["a", "queue"], ["b", "queue"]);
      const [a = ""] = ids;
      checkEqual(textsOf((await s.store.queue(id, { op: "remove", id: a })).entries), ["b"], "without a");
      checkEqual(textsOf((await s.store.queue(id, { op: "remove", id: a })).entries), ["b"], "again");
      await refused(s.store.queue(id, { op: "edit", id: a, text: "x" }), "invalid_request", "editing it");
      checkEqual(
        await s.send(id, { messageId: a, text: "a" }),
        { kind: "known", outcome: "queued" },
        "sent again",
      );
      await s.seal(turn);
      checkEqual(await s.texts(id), ["Hello", "b"], "the log");
    },
  },
  {
    name: "a delivered message can no longer be changed, and one that never was is refused",
    async run(s) {
      const { turn, id, ids } = await waiting(s, ["a", "steer"], ["b", "queue"]);
      const [a = "", b = ""] = ids;
      await s.commit(turn, [callingMessage(id, "c")], { promoteSteers: true });
      await refused(s.store.queue(id, { op: "edit", id: a, text: "x" }), "message_conflict", "an edit");
      await refused(s.store.queue(id, { op: "remove", id: a }), "message_conflict", "a removal");
      await refused(
        s.store.queue(id, { op: "edit", id: b, before: a }),
        "message_conflict",
        "a move before it",
      );
      const never = uniqueId();
      await refused(s.store.queue(id, { op: "edit", id: never, text: "x" }), "invalid_request", "an edit");
      await refused(s.store.queue(id, { op: "remove", id: never }), "invalid_request", "a removal");
      checkEqual(await listed(s, id), ["b"], "the queue");
    },
  },
  {
    name: "a commit promotes all waiting steers in order, each as its own message, and nothing else",
    async run(s) {
      const { turn, id, ids } = await waiting(
        s,
        ["q1", "queue"],
        ["s1", "steer"],
        ["q2", "queue"],
        ["s2", "steer"],
      );
      const [, s1 = "", , s2 = ""] = ids;
      const early = await s.commit(turn, [callingMessage(id, "c")]);
      checkEqual([early.promoted, early.queue.entries.length], [[], 4], "a commit that was not to promote");
      const { entries, promoted, queue } = await s.commit(turn, [resultMessage(id, "c")], {
        promoteSteers: true,
        stepId: `${turn.turnId}.0`,
      });
      checkEqual(entries.length, 1, "the commit's own rows");
      checkEqual(textsOf(promoted), ["s1", "s2"], "the promoted messages");
      checkEqual(
        promoted.map((entry) => [entry.message.id, entry.firstSeq, entry.turnId, entry.stepId]),
        [
          [s1, 5, turn.turnId, undefined],
          [s2, 6, turn.turnId, undefined],
        ],
        "their ids and places",
      );
      checkEqual(textsOf(queue.entries), ["q1", "q2"], "what still waits");
      const receipt = await s.store.findReceipt(id, s1);
      checkEqual(receipt, { outcome: "queued", turnId: turn.turnId }, "a receipt");
      checkEqual((await s.texts(id)).slice(-2), ["s1", "s2"], "the end of the log");
    },
  },
  {
    name: "a commit without rows promotes too",
    async run(s) {
      const { turn, id } = await waiting(s, ["s1", "steer"]);
      const { entries, promoted } = await s.commit(turn, [], { promoteSteers: true });
      checkEqual([entries, textsOf(promoted)], [[], ["s1"]], "the commit");
      checkEqual(await s.texts(id), ["Hello", "s1"], "the log");
    },
  },
  {
    name: "at the end of a turn the waiting steers open the next one together",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      await s.enqueue(id, { text: "q1", mode: "queue" });
      await s.enqueue(id, { text: "s1", choices: { model: "a/one", reasoningEffort: "low" } });
      await s.enqueue(id, { text: "s2", choices: { model: "b/two", instructions: "Be brief" } });
      const next = s.next();
      const sealed = await s.seal(turn, [message(id, { role: "assistant", text: "Answer" })], { next });
      checkEqual([sealed.next?.turnId, sealed.status], [next.turnId, "active"], "the next turn");
      checkEqual(textsOf(sealed.next?.entries ?? []), ["s1", "s2"], "its messages");
      checkEqual(
        sealed.next?.entries.map((entry) => entry.turnId),
        [next.turnId, next.turnId],
        "their turn",
      );
      const merged = { model: "b/two", reasoningEffort: "low", instructions: "Be brief" };
      checkEqual(sealed.next?.choices, merged, "its choices: of each, the last that names it");
      checkEqual(sealed.lastSeq, 2, "the end of the sealed turn");
      checkEqual(textsOf(sealed.queue.entries), ["q1"], "what still waits");
      check((sealed.next?.fence ?? 0) > turn.fence, "the fence grows");
      checkEqual(await s.texts(id), ["Hello", "Answer", "s1", "s2"], "the log");
      checkEqual((await s.store.get(id))?.sealedSeq, 2, "the sealed seq");
      checkEqual((await s.store.get(id))?.active?.node, s.node, "the holder of the next turn");
    },
  },
  {
    name: "without steers the first of the queue opens the next turn alone, and so on",
    async run(s) {
      const { turn, id } = await waiting(s, ["q1", "queue"], ["q2", "queue"]);
      const first = await s.seal(turn);
      checkEqual(textsOf(first.next?.entries ?? []), ["q1"], "the next turn");
      check(first.next !== undefined, "it opened");
      const second = await s.seal({ ...turn, ...first.next });
      checkEqual(textsOf(second.next?.entries ?? []), ["q2"], "the turn after");
      check(second.next !== undefined, "it opened");
      const third = await s.seal({ ...turn, ...second.next });
      checkEqual([third.next, third.status], [undefined, "idle"], "the end");
      checkEqual(
        (await s.store.readTurn(id, second.next.turnId))?.turn.ordinal,
        3,
        "the last turn's ordinal",
      );
    },
  },
  {
    name: "a seal that pauses keeps what waits; resuming opens its turn, once",
    async run(s) {
      const { turn, id } = await waiting(s, ["a", "steer"], ["b", "steer"]);
      const sealed = await s.seal(turn, [], { reason: "aborted", next: { pauseQueue: true } });
      checkEqual([sealed.next, sealed.status], [undefined, "idle"], "what comes next");
      checkEqual([textsOf(sealed.queue.entries), sealed.queue.paused], [["a", "b"], true], "the queue");
      checkEqual((await s.store.get(id))?.queuePaused, true, "in the record");
      const resume = { op: "resume" as const, node: s.node, turnId: uniqueId() };
      const resumed = await s.store.queue(id, resume);
      checkEqual([resumed.entries, resumed.paused], [[], false], "the queue when resumed");
      checkEqual(resumed.started?.turnId, resume.turnId, "the opened turn");
      checkEqual(textsOf(resumed.started?.entries ?? []), ["a", "b"], "its messages");
      checkEqual(await s.store.queue(id, resume), resumed, "resuming again");
      checkEqual(await s.texts(id), ["Hello", "a", "b"], "the log");
    },
  },
  {
    name: "an empty queue is not paused by a seal, so that later messages are delivered",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const sealed = await s.seal(turn, [], { reason: "error", next: { pauseQueue: true } });
      checkEqual(sealed.queue.paused, false, "the queue after the seal");
      const second = await s.start(id);
      await s.enqueue(id, { text: "Steer" });
      const { promoted } = await s.commit(second, [callingMessage(id, "c")], { promoteSteers: true });
      checkEqual(textsOf(promoted), ["Steer"], "what is promoted in the next turn");
    },
  },
  {
    name: "a paused queue delivers nothing, neither in a commit nor at the end",
    async run(s) {
      const { turn, id } = await waiting(s, ["a", "steer"], ["b", "queue"]);
      checkEqual((await s.store.queue(id, { op: "pause" })).paused, true, "the answer of a pause");
      const { promoted, queue } = await s.commit(turn, [callingMessage(id, "c")], { promoteSteers: true });
      checkEqual([promoted, queue.paused, queue.entries.length], [[], true, 2], "the commit");
      const sealed = await s.seal(turn);
      checkEqual([sealed.next, sealed.queue.entries.length], [undefined, 2], "the seal");
    },
  },
  {
    name: "resuming while a turn runs only ends the pause",
    async run(s) {
      const { turn, id } = await waiting(s, ["a", "steer"]);
      await s.store.queue(id, { op: "pause" });
      const resumed = await s.store.queue(id, { op: "resume", node: s.node, turnId: uniqueId() });
      checkEqual(
        [resumed.started, resumed.paused, textsOf(resumed.entries)],
        [undefined, false, ["a"]],
        "it",
      );
      checkEqual((await s.store.get(id))?.active?.turnId, turn.turnId, "the running turn");
      const { conversationId } = await s.turn();
      const nothing = await s.store.queue(conversationId, { op: "resume", node: s.node, turnId: uniqueId() });
      checkEqual(nothing, { entries: [], paused: false }, "resuming with nothing waiting");
    },
  },
  {
    name: "taking out the last entry ends a pause",
    async run(s) {
      const { turn, id, ids } = await waiting(s, ["a", "steer"], ["b", "steer"]);
      await s.seal(turn, [], { next: { pauseQueue: true } });
      const one = await s.store.queue(id, { op: "remove", id: ids[0] ?? "" });
      checkEqual(one.paused, true, "with one left");
      const none = await s.store.queue(id, { op: "remove", id: ids[1] ?? "" });
      checkEqual(none, { entries: [], paused: false }, "with none left");
    },
  },
  {
    name: "a message to a paused conversation runs its own turn and leaves what waits",
    async run(s) {
      const { turn, id } = await waiting(s, ["a", "steer"], ["b", "queue"]);
      await s.seal(turn, [], { next: { pauseQueue: true } });
      const own = await s.start(id, { text: "Own" });
      checkEqual(textsOf(own.entries), ["Own"], "the turn's messages");
      const sealed = await s.seal(own);
      checkEqual([sealed.next, sealed.queue.paused], [undefined, true], "the end of that turn");
      checkEqual(await listed(s, id), ["a", "b"], "the queue");
      checkEqual(await s.texts(id), ["Hello", "Own"], "the log");
    },
  },
  {
    name: "after a requested stop nothing is promoted, and the seal pauses what waits",
    async run(s) {
      const { turn, id } = await waiting(s, ["a", "steer"]);
      await s.store.requestStop(id);
      const { promoted } = await s.commit(turn, [callingMessage(id, "c")], { promoteSteers: true });
      checkEqual(promoted, [], "what was promoted");
      const sealed = await s.seal(turn, [resultMessage(id, "c")]);
      checkEqual([sealed.next, sealed.queue.paused, sealed.status], [undefined, true, "idle"], "the seal");
      checkEqual(await listed(s, id), ["a"], "the queue");
    },
  },
  {
    name: "closing pauses what waits, and resuming opens the conversation again",
    async run(s) {
      const { turn, id } = await waiting(s, ["a", "steer"]);
      const closed = await s.store.set(id, { closed: true });
      checkEqual([closed.status, closed.queuePaused], ["closed", true], "the state when closed");
      const sealed = await s.seal(turn, [], { reason: "aborted", next: { pauseQueue: true } });
      checkEqual([sealed.status, sealed.next], ["closed", undefined], "the seal");
      const { started } = await s.store.queue(id, { op: "resume", node: s.node, turnId: uniqueId() });
      checkEqual(textsOf(started?.entries ?? []), ["a"], "the opened turn");
      checkEqual((await s.store.get(id))?.status, "active", "the status then");
    },
  },
  {
    name: "an edited message is delivered as edited, under its id",
    async run(s) {
      const { turn, id, ids } = await waiting(s, ["Old", "queue"], ["Other", "queue"]);
      await s.store.queue(id, { op: "edit", id: ids[0] ?? "", text: "New", before: null });
      await s.store.queue(id, { op: "edit", id: ids[0] ?? "", mode: "steer" });
      const { next } = await s.seal(turn);
      checkEqual(textsOf(next?.entries ?? []), ["New"], "the next turn's message");
      checkEqual(next?.entries[0]?.message.id, ids[0], "its id");
    },
  },
  {
    name: "an edit that meets a promotion is delivered, or refused and not delivered",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 20; round++) {
        const { turn, id, ids } = await waiting(s, ["Old", "steer"]);
        const edit = { op: "edit" as const, id: ids[0] ?? "", text: "New" };
        const [edited, { promoted }] = await Promise.all([
          outcomeOf(s.otherStore.queue(id, edit)),
          s.commit(turn, [callingMessage(id, "c")], { promoteSteers: true }),
        ]);
        checkEqual(textsOf(promoted), ["value" in edited ? "New" : "Old"], "the promoted text");
        if ("code" in edited) checkEqual(edited.code, "message_conflict", "the refusal");
        checkEqual((await s.texts(id)).at(-1), textsOf(promoted)[0], "the end of the log");
      }
    },
  },
  {
    name: "a removal that meets a promotion takes the message away, or is refused and it is delivered",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 20; round++) {
        const { turn, id, ids } = await waiting(s, ["Waiting", "queue"]);
        const [removed, sealed] = await Promise.all([
          outcomeOf(s.otherStore.queue(id, { op: "remove", id: ids[0] ?? "" })),
          s.seal(turn),
        ]);
        if ("code" in removed) checkEqual(removed.code, "message_conflict", "the refusal");
        checkEqual(sealed.next !== undefined, "code" in removed, "whether it was delivered");
        checkEqual(await s.texts(id), "code" in removed ? ["Hello", "Waiting"] : ["Hello"], "the log");
      }
    },
  },
  {
    name: "two that resume at once open one turn",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 10; round++) {
        const { turn, id } = await waiting(s, ["a", "queue"], ["b", "queue"]);
        await s.seal(turn, [], { next: { pauseQueue: true } });
        const resume = (store: typeof s.store) =>
          store.queue(id, { op: "resume", node: s.node, turnId: uniqueId() });
        const answers = await Promise.all([resume(s.store), resume(s.otherStore)]);
        checkEqual(answers.filter(({ started }) => started !== undefined).length, 1, "the opened turns");
        checkEqual(await s.texts(id), ["Hello", "a"], "the log");
        checkEqual(await listed(s, id), ["b"], "the queue");
      }
    },
  },
];
