import type { TurnChoices } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import { message, refused, type TopicCase, textsOf, uniqueId } from "../scenario.js";

const choices: TurnChoices = {
  output: {
    name: "city",
    description: "\u0000\ud800",
    schema: { type: "object", properties: { z: { type: "string" }, a: { type: "number" } } },
    retries: 2,
  },
  toolNames: ["look"],
  maxOutputTokens: 500,
  metadata: { face: { z: 1, a: ["\u0000", null] } },
};

/** Cases of rare choices of turns, of messages before a message, and of finding turns. */
export const choiceCases: readonly TopicCase[] = [
  {
    name: "what a turn has to return, and what its sender keeps with it, survive the queue and the seal",
    async run(s) {
      const turn = await s.start(uniqueId(), { choices });
      const id = turn.conversationId;
      checkEqual(turn.choices, choices, "of the turn that was opened");
      const open = await s.store.readOpenTurn({ conversationId: id });
      checkEqual(
        JSON.stringify(open?.choices),
        JSON.stringify(choices),
        "of the open turn, in the same order",
      );
      const messageId = await s.enqueue(id, { mode: "queue", choices: { ...choices, model: "m" } });
      checkEqual((await s.store.get(id))?.queue[0]?.choices, { ...choices, model: "m" }, "in the queue");
      const steer = s.store.queue(id, { op: "edit", id: messageId, mode: "steer" });
      await refused(steer, "invalid_request", "turning it into a steer");
      const { next } = await s.seal(turn);
      checkEqual(next?.choices, { ...choices, model: "m" }, "of the next turn");
      const sealed = await s.store.readTurn(id, turn.turnId);
      checkEqual(sealed?.turn.choices, choices, "of the sealed turn");
    },
  },
  {
    name: "messages of another log are written before the one that opens a turn, once, or not at all",
    async run(s) {
      const id = uniqueId();
      const before = [message(id, { text: "asked" }), message(id, { role: "assistant", text: "answered" })];
      const sent = message(id, { text: "and now?" });
      const admission = { ...s.admission(id, { message: sent }), before };
      const first = await s.store.admit(admission);
      check(first.kind === "started", "it opens a turn");
      checkEqual(textsOf(first.turn.entries), ["and now?"], "the turn's own message");
      checkEqual(first.turn.entries[0]?.firstSeq, 3, "its place");
      checkEqual((await s.store.admit(admission)).kind, "known", "the same again");
      checkEqual(textsOf(await s.log(id)), ["asked", "answered", "and now?"], "the log");
      const record = await s.store.get(id);
      checkEqual([record?.lastSeq, record?.sealedSeq], [3, 2], "what stands before is sealed");
      const busy = { ...s.admission(id, { text: "x" }), before: [message(id, { text: "y" })] };
      await refused(s.store.admit(busy), "turn_active", "while a turn runs");
      await s.seal({ ...first.turn, conversationId: id });
      const newId = uniqueId();
      const { conversationId: _, ...admit } = {
        ...s.admission(newId, { text: "b" }),
        before: [message(newId, { text: "a" })],
      };
      const forked = await s.store.fork({ conversationId: id, atSeq: 2, newId, admit });
      checkEqual(forked.turn?.entries[0]?.firstSeq, 4, "in a fork");
      checkEqual(textsOf(await s.log(newId)), ["asked", "answered", "a", "b"], "the fork's log");
    },
  },
  {
    name: "a turn is found by its id, in the log that holds it, by its owner alone",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      checkEqual(await s.store.findTurn(turn.turnId), [id], "while it runs");
      await s.seal(turn);
      const newId = uniqueId();
      const { lastSeq = 0 } = (await s.store.get(id)) ?? {};
      await s.store.fork({ conversationId: id, atSeq: lastSeq, newId });
      checkEqual(await s.store.findTurn(turn.turnId), [id], "not in a fork, which inherits it");
      checkEqual(await s.store.findTurn(uniqueId()), [], "an unknown turn");
      checkEqual(await s.root.forOwner(uniqueId()).findTurn(turn.turnId), [], "for another owner");
      await s.store.remove(id, { cascade: true });
      checkEqual(await s.store.findTurn(turn.turnId), [], "after it was deleted");
    },
  },
  {
    name: "conversations of an origin can be left out of a list",
    async run(s) {
      const [plain, marked, other] = [uniqueId(), uniqueId(), uniqueId()];
      await s.store.create({ id: plain, settings: {} });
      await s.store.create({ id: marked, settings: { metadata: { parley: { origin: "responses" } } } });
      await s.store.create({
        id: other,
        settings: { metadata: { parley: "responses", origin: "responses" } },
      });
      const ids = async (query: object) =>
        (await s.store.list({ limit: 10, ...query })).conversations.map(({ id }) => id).sort();
      checkEqual(await ids({}), [plain, marked, other].sort(), "all");
      checkEqual(await ids({ withoutOrigin: "responses" }), [plain, other].sort(), "without them");
      checkEqual(await ids({ withoutOrigin: "else" }), [plain, marked, other].sort(), "without another");
    },
  },
  {
    name: "unused conversations of an origin are found and removed, and no others",
    async run(s) {
      const prefix = `${uniqueId()}.`;
      const settings = { metadata: { parley: { origin: "responses" } } };
      const [marked, again] = [`${prefix}1`, `${prefix}2`];
      for (const id of [marked, again, uniqueId()]) await s.store.create({ id, settings });
      await s.store.create({ id: `${prefix}3`, settings: {} });
      await s.store.create({ id: `${prefix}4`, settings: { metadata: { parley: { origin: "else" } } } });
      const find = async (forMs: number, limit = 10) => {
        const query = { idPrefix: prefix, origin: "responses", forMs, limit };
        return (await s.root.findUnused(query)).sort((left, right) => (left.id < right.id ? -1 : 1));
      };
      const hour = 3_600_000;
      checkEqual(
        await find(0),
        [marked, again].map((id) => ({ owner: s.owner, id })),
        "both",
      );
      checkEqual((await find(0, 1)).length, 1, "no more than asked for");
      checkEqual(await find(hour), [], "none that was used within the hour");
      checkEqual(await s.store.remove(marked, { cascade: false, unusedForMs: hour }), [], "not removed");
      const gone = await s.store.remove(marked, { cascade: false, unusedForMs: 0 });
      checkEqual(
        gone.map(({ id }) => id),
        [marked],
        "removed",
      );
      checkEqual(await find(0), [{ owner: s.owner, id: again }], "the other one");
    },
  },
];
