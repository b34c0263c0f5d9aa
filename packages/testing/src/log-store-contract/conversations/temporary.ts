import { checkEqual } from "../../contract-case.js";
import { idsOf, message, refused, type Scenario, type TopicCase, uniqueId } from "../scenario.js";
import { compacted } from "../turns/compaction.js";
import { ask, requestOf, respond } from "../waiting-turn.js";

const temporary = { temporary: true } as const;
const hour = 3_600_000;

/** Returns the temporary conversations of this case that were not used for so long. */
async function unused(s: Scenario, forMs: number): Promise<string[]> {
  const found = await s.root.findUnused({ temporary: true, forMs, limit: 10_000 });
  return idsOf(found.filter(({ owner }) => owner === s.owner));
}

async function listed(s: Scenario, parent?: string): Promise<string[]> {
  const query = parent === undefined ? { limit: 100 } : { limit: 100, parent };
  return idsOf((await s.store.list(query)).conversations);
}

/** Cases of conversations that are removed when they are no longer used, and that nothing lists meanwhile. */
export const temporaryCases: readonly TopicCase[] = [
  {
    name: "a temporary conversation is in no list, and known by its id",
    async run(s) {
      const [plain, made, admitted] = [uniqueId(), uniqueId(), uniqueId()];
      await s.store.create({ id: plain, settings: {} });
      const { conversation } = await s.store.create({ id: made, settings: temporary });
      const turn = await s.start(admitted, { settings: temporary });
      await s.seal(turn);
      checkEqual(conversation.temporary, true, "what was created");
      checkEqual(await s.store.get(made), conversation, "the record read");
      checkEqual((await s.store.get(admitted))?.temporary, true, "one that a message made");
      checkEqual((await s.store.get(plain))?.temporary, undefined, "another one");
      checkEqual(await listed(s), [plain], "the list");
      checkEqual(
        idsOf((await s.store.list({ limit: 10, q: made })).conversations),
        [],
        "looked for by its id",
      );
      checkEqual(idsOf(await s.store.listConversations()), [plain], "the list of an engine");
      const { conversations } = await s.store.changed({ since: 0, limit: 10 });
      checkEqual(idsOf(conversations), [plain, made, admitted].sort(), "what watchers receive");
      for (const id of [made, admitted]) await s.store.remove(id, { cascade: true });
    },
  },
  {
    name: "what it holds is found only where it is named, or where a kept fork shows it",
    async run(s) {
      const [id, kept] = [uniqueId(), uniqueId()];
      await s.store.create({ id, settings: { ...temporary, title: "About quokkas" } });
      const { lastSeq } = await s.turn(id, "Where do quokkas live?");
      const look = async (within?: string) =>
        (await s.found("quokkas", within === undefined ? {} : { conversationId: within })).map(
          ({ conversationId, seq }) => `${conversationId === kept ? "fork" : "origin"}:${seq}`,
        );
      for (const when of ["before it is in the index", "by the index"]) {
        checkEqual(await look(), [], `in a search of everything, ${when}`);
        checkEqual(await look(id), ["origin:2", "origin:1"], `within it, ${when}`);
        await s.index();
      }
      await s.store.fork({ conversationId: id, atSeq: lastSeq, newId: kept });
      checkEqual(await look(), [], "beside a fork, which is temporary too");
      await s.store.set(kept, { temporary: null, title: "Kept" });
      for (const when of ["before the change is in the index", "by the index"]) {
        checkEqual((await look()).sort(), ["fork:1", "fork:2"], `what the kept fork shows, ${when}`);
        await s.index();
      }
      await s.store.set(id, { temporary: null });
      checkEqual((await look()).sort(), ["origin:1", "origin:2"], "once it is kept itself");
    },
  },
  {
    name: "forks and archives are temporary with it; one that is kept is kept with its archives",
    async run(s) {
      const [id, newId, later] = [uniqueId(), uniqueId(), uniqueId()];
      await s.store.create({ id, settings: temporary });
      const { lastSeq } = await s.turn(id, "a");
      const { conversation: fork } = await s.store.fork({ conversationId: id, atSeq: lastSeq, newId });
      checkEqual(fork.temporary, true, "the fork");
      checkEqual(await listed(s, id), [newId], "its forks, where they are asked for");
      const { archiveId } = await compacted(s, id);
      checkEqual((await s.store.get(archiveId))?.temporary, true, "the archive");
      checkEqual(await unused(s, 0), [id, newId].sort(), "an archive goes with its conversation alone");

      const kept = await s.store.set(id, { temporary: null });
      checkEqual(kept.temporary, undefined, "what was kept");
      const expired = { cascade: false, unusedForMs: 0, temporary: true };
      checkEqual(await s.store.remove(id, expired), [], "a sweep that had found it before");
      checkEqual((await s.store.get(archiveId))?.temporary, undefined, "its archive");
      checkEqual((await s.store.get(newId))?.temporary, true, "its fork, which has a life of its own");
      checkEqual(await listed(s), [id], "the list");
      checkEqual(await unused(s, 0), [newId], "what may go");
      await s.store.fork({ conversationId: id, atSeq: lastSeq, newId: later });
      checkEqual((await s.store.get(later))?.temporary, undefined, "a fork of what was kept");
      await s.store.set(later, temporary);
      checkEqual(await listed(s), [id], "one that was made temporary");
      for (const each of [later, newId]) await s.store.remove(each, { cascade: false });
    },
  },
  {
    name: "it may go when nothing has happened in it for the time; its forks keep what they share",
    async run(s) {
      const [id, newId, plain] = [uniqueId(), uniqueId(), uniqueId()];
      await s.store.create({ id, settings: temporary });
      await s.turn(plain);
      const { lastSeq } = await s.turn(id, "shared");
      checkEqual(await unused(s, hour), [], "within the hour");
      checkEqual(await s.store.remove(id, { cascade: false, unusedForMs: hour }), [], "not removed");
      await s.store.fork({ conversationId: id, atSeq: lastSeq, newId });
      checkEqual(await unused(s, 0), [id, newId].sort(), "what may go");
      const limited = await s.root.findUnused({ temporary: true, forMs: 0, limit: 1 });
      checkEqual(limited.length, 1, "no more than asked for");
      const gone = await s.store.remove(id, { cascade: false, unusedForMs: 0, temporary: true });
      checkEqual(idsOf(gone), [id], "what is gone");
      checkEqual(await s.otherStore.remove(id, { cascade: false, unusedForMs: 0 }), [], "for another node");
      checkEqual(await s.texts(newId), ["shared", "Answer to shared"], "what the fork shows");
      checkEqual(await unused(s, 0), [newId], "what may go now");
      await s.store.remove(newId, { cascade: false });
    },
  },
  {
    name: "a turn or a compaction that runs keeps it, however long it takes; a turn that waits for input does not",
    async run(s) {
      const id = uniqueId();
      const running = await s.start(id, { settings: temporary });
      const isLeft = async (what: string) => {
        checkEqual(await unused(s, 0), [], `${what}: not found`);
        checkEqual(await s.store.remove(id, { cascade: false, unusedForMs: 0 }), [], `${what}: not removed`);
      };
      await isLeft("while a turn runs");
      const request = requestOf(running, 0);
      await ask(s, running, [request]);
      checkEqual(await unused(s, 0), [id], "while the turn waits");
      checkEqual(await unused(s, hour), [], "while it has waited for less than the time");
      await respond(s, { ...running, requestIds: [request.requestId] }, 0);
      await isLeft("when the turn goes on");
      const { active } = (await s.store.get(id)) ?? {};
      await s.seal({ ...running, fence: active?.fence ?? 0 }, [message(id, { role: "assistant" })]);
      const turnId = uniqueId();
      const { fence } = await s.store.lease({ conversationId: id, node: s.node, turnId });
      await isLeft("while it is compacted");
      await s.store.endLease({ conversationId: id, turnId, fence, next: s.next() });
      const gone = await s.store.remove(id, { cascade: false, unusedForMs: 0 });
      checkEqual(idsOf(gone), [id], "removed in the end");
      await refused(s.store.set(id, { temporary: null }), "conversation_not_found", "keeping what is gone");
    },
  },
];
