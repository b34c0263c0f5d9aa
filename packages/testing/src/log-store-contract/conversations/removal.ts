import { check, checkEqual } from "../../contract-case.js";
import {
  batch,
  idsOf,
  message,
  outcomeOf,
  refused,
  type Scenario,
  type TopicCase,
  uniqueId,
} from "../scenario.js";

async function compacted(s: Scenario, conversationId: string): Promise<string> {
  const lease = await s.store.lease({ conversationId, node: s.node, turnId: uniqueId() });
  const archiveId = uniqueId();
  await s.store.compact({
    conversationId,
    turnId: lease.turnId,
    fence: lease.fence,
    summary: message(conversationId, { role: "system", text: "Summary" }),
    covers: { fromSeq: 1, toSeq: 1 },
    archiveId,
    release: s.next(),
  });
  return archiveId;
}

/** Cases of deletion: always possible, immediate, and without harm to conversations that remain. */
export const removalCases: readonly TopicCase[] = [
  {
    name: "a removed conversation is unknown from then on, and its id is free",
    async run(s) {
      const { conversationId: id, turnId } = await s.turn(uniqueId(), "zanzibar");
      const [first] = await s.log(id);
      checkEqual(idsOf(await s.store.remove(id, { cascade: false })), [id], "what is gone");
      checkEqual(await s.store.remove(id, { cascade: false }), [], "what is gone the second time");
      checkEqual(await s.store.get(id), null, "the conversation");
      checkEqual(await s.store.readTurn(id, turnId), null, "its turn");
      checkEqual(await s.found("zanzibar"), [], "its text");
      await refused(s.store.readChunks({ conversationId: id }), "conversation_not_found", "its chunks");
      const turn = await s.start(id, { messageId: first?.message.id ?? "" });
      checkEqual(turn.entries[0]?.firstSeq, 1, "the first seq of a new one with its id");
    },
  },
  {
    name: "a removed conversation's running turn can write nothing more, and cannot be claimed",
    async run(s) {
      const turn = await s.start(uniqueId(), { node: `never-${uniqueId()}` });
      const id = turn.conversationId;
      await s.enqueue(id);
      await s.store.requestStop(id);
      await s.store.remove(id, { cascade: false });
      await refused(s.commit(turn, [message(id)]), "conversation_not_found", "a commit");
      await refused(s.seal(turn), "conversation_not_found", "a seal");
      checkEqual(await s.root.flushJournal([batch(turn, 0)]), ["stale_fence"], "a flush");
      checkEqual(await s.claimMine(s.node), [], "what can be claimed");
      checkEqual(await s.store.get(id), null, "the conversation");
    },
  },
  {
    name: "forks keep what they share with a removed conversation, and nothing more of it",
    async run(s) {
      const id = uniqueId();
      await s.turn(id, "shared");
      await s.turn(id, "quokka");
      const early = uniqueId();
      const late = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: 2, newId: early });
      await s.store.fork({ conversationId: id, atSeq: 4, newId: late });
      await s.turn(id, "numbat");
      await s.turn(early, "own");
      checkEqual(idsOf(await s.store.remove(id, { cascade: false })), [id], "what is gone");
      checkEqual(await s.texts(early), ["shared", "Answer to shared", "own", "Answer to own"], "one fork");
      const whole = ["shared", "Answer to shared", "quokka", "Answer to quokka"];
      checkEqual(await s.texts(late), whole, "the other");
      checkEqual((await s.store.metrics(late)).length, 2, "its metrics");
      checkEqual(await s.found("numbat"), [], "what no fork shares");
      const within = await s.found("quokka", { conversationId: late });
      checkEqual(within.length > 0, true, "what a fork shares is found in it");
      await s.turn(late, "more");
      const again = uniqueId();
      await s.store.fork({ conversationId: late, atSeq: 2, newId: again });
      checkEqual(await s.texts(again), whole.slice(0, 2), "a fork of the shared part");
      checkEqual(idsOf(await s.store.remove(late, { cascade: false })), [late], "removing a fork");
      checkEqual(await s.texts(again), whole.slice(0, 2), "what is left of the shared part");
      checkEqual((await s.texts(early)).length, 4, "the first fork");
    },
  },
  {
    name: "a chain of forks survives the removal of its middle",
    async run(s) {
      const ids = [uniqueId(), uniqueId(), uniqueId()];
      const [first = "", second = "", third = ""] = ids;
      await s.turn(first, "one");
      await s.store.fork({ conversationId: first, atSeq: 2, newId: second });
      await s.turn(second, "two");
      await s.store.fork({ conversationId: second, atSeq: 4, newId: third });
      await s.turn(third, "three");
      await s.store.remove(second, { cascade: false });
      await s.store.remove(first, { cascade: false });
      const texts = (await s.texts(third)).filter((text) => !text.startsWith("Answer"));
      checkEqual(texts, ["one", "two", "three"], "the log of the last");
      await s.start(third, { text: "four" });
      checkEqual((await s.texts(third)).at(-1), "four", "a message after");
    },
  },
  {
    name: "cascade takes the forks and their forks too",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const child = uniqueId();
      const grandchild = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: 2, newId: child });
      await s.turn(child);
      await s.store.fork({ conversationId: child, atSeq: 4, newId: grandchild });
      const other = await s.turn();
      const gone = await s.store.remove(id, { cascade: true });
      checkEqual(idsOf(gone), [id, child, grandchild].toSorted(), "what is gone");
      for (const { id: each } of gone) checkEqual(await s.store.get(each), null, "one of them");
      check((await s.store.get(other.conversationId)) !== null, "another conversation lives");
    },
  },
  {
    name: "cascade reaches forks beyond one that was removed before",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const child = uniqueId();
      const grandchild = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: 2, newId: child });
      await s.store.fork({ conversationId: child, atSeq: 2, newId: grandchild });
      await s.store.remove(child, { cascade: false });
      const gone = await s.store.remove(id, { cascade: true });
      checkEqual(idsOf(gone), [id, grandchild].toSorted(), "what is gone");
      checkEqual(await s.store.get(grandchild), null, "the grandchild");
    },
  },
  {
    name: "archives go with their conversation, forks stay",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const archiveId = await compacted(s, id);
      await s.turn(id, "after");
      const second = await compacted(s, id);
      const fork = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: 2, newId: fork });
      const restored = uniqueId();
      await s.store.fork({ conversationId: archiveId, atSeq: 2, newId: restored });
      const gone = await s.store.remove(id, { cascade: false });
      checkEqual(idsOf(gone), [id, archiveId, second].toSorted(), "what is gone");
      checkEqual(await s.store.get(archiveId), null, "an archive");
      checkEqual(await s.texts(fork), ["Hello", "Answer to Hello"], "a fork");
      checkEqual(await s.texts(restored), ["Hello", "Answer to Hello"], "a fork of an archive");
    },
  },
  {
    name: "a fork that meets the removal of its origin lives with the shared part, or was never made",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 20; round++) {
        const { conversationId: id } = await s.turn(uniqueId(), "shared");
        const newId = uniqueId();
        const [forked, gone] = await Promise.all([
          outcomeOf(s.store.fork({ conversationId: id, atSeq: 2, newId })),
          s.otherStore.remove(id, { cascade: false }),
        ]);
        checkEqual([idsOf(gone), await s.store.get(id)], [[id], null], "the origin");
        if ("value" in forked) checkEqual(await s.texts(newId), ["shared", "Answer to shared"], "the fork");
        else {
          checkEqual(forked.code, "conversation_not_found", "the refusal");
          checkEqual(await s.store.get(newId), null, "the fork");
        }
      }
    },
  },
  {
    name: "a message that meets the removal of its conversation is part of it, or of a new one",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 20; round++) {
        const { conversationId: id } = await s.turn();
        const [outcome] = await Promise.all([
          s.send(id, { text: "Late" }),
          s.otherStore.remove(id, { cascade: false }),
        ]);
        check(outcome.kind === "started", "it opens a turn");
        const record = await s.store.get(id);
        if (outcome.created) checkEqual([record?.lastSeq, record?.parentId], [1, undefined], "the new one");
        else checkEqual(record, null, "the removed one");
      }
    },
  },
];
