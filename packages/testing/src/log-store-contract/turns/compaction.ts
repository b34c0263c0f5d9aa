import { countForRow } from "@parley/core/messages";
import type { CompactInput, CompactResult } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import {
  callingMessage,
  heldTurn,
  message,
  outcomeOf,
  refused,
  resultMessage,
  type Scenario,
  type TopicCase,
  textsOf,
  uniqueId,
} from "../scenario.js";

/** Takes the lease and returns the input of a compaction by hand. */
async function prepared(
  s: Scenario,
  conversationId: string,
  given: { readonly text?: string; readonly covers?: CompactInput["covers"] } = {},
): Promise<CompactInput> {
  const lease = await s.store.lease({ conversationId, node: s.node, turnId: uniqueId() });
  return {
    ...heldTurn(lease),
    summary: message(conversationId, { role: "system", text: given.text ?? "Summary" }),
    covers: given.covers ?? { fromSeq: 1, toSeq: 2 },
    archiveId: uniqueId(),
    release: s.next(),
  };
}

/** Compacts a conversation by hand. */
export async function compacted(
  s: Scenario,
  conversationId: string,
  given: Parameters<typeof prepared>[2] = {},
): Promise<CompactResult & { readonly archiveId: string }> {
  const input = await prepared(s, conversationId, given);
  return { ...(await s.store.compact(input)), archiveId: input.archiveId };
}

async function covered(s: Scenario, id: string) {
  return (await s.log(id)).filter((entry) => entry.covers !== undefined).map((entry) => entry.covers);
}

/** Cases of compaction: a summary replaces a range; the history stays whole, and can be restored. */
export const compactionCases: readonly TopicCase[] = [
  {
    name: "a compaction by hand appends a summary that covers a range, and ends its lease",
    async run(s) {
      const id = uniqueId();
      await s.turn(id, "a");
      await s.turn(id, "b");
      const input = await prepared(s, id);
      const { entry, next, queue } = await s.store.compact(input);
      const covers = { fromSeq: 1, toSeq: 2 };
      const tokens = countForRow(input.summary);
      checkEqual(entry, { message: input.summary, firstSeq: 5, lastSeq: 5, covers, tokens }, "the entry");
      checkEqual([next, queue], [undefined, { entries: [], paused: false }], "what comes next");
      const record = await s.store.get(id);
      checkEqual(
        [record?.lastSeq, record?.sealedSeq, record?.compactedFrom, record?.active, record?.status],
        [5, 5, input.archiveId, undefined, "idle"],
        "the conversation",
      );
      const log = await s.log(id);
      checkEqual(textsOf(log), ["a", "Answer to a", "b", "Answer to b", "Summary"], "its log");
      checkEqual(log.at(-1), entry, "the entry as read");
      const { chunks } = await s.store.readChunks({ conversationId: id });
      checkEqual(
        [chunks.length, chunks.at(-1)?.chunk],
        [5, { type: "system", text: "Summary", covers: { firstSeq: 1, lastSeq: 2 } }],
        "its chunks",
      );
      await s.turn(id, "c");
      checkEqual((await s.texts(id)).length, 7, "the rows after another turn");
    },
  },
  {
    name: "its archive shows the conversation as it was, is hidden and takes no messages",
    async run(s) {
      const id = uniqueId();
      await s.store.create({ id, settings: { title: "walrus", model: "a/one" } });
      await s.turn(id, "walrus");
      const { archiveId } = await compacted(s, id);
      await s.turn(id, "b");
      const archive = await s.store.get(archiveId);
      checkEqual(
        [archive?.archiveOf, archive?.status, archive?.parentId, archive?.parentSeq, archive?.title],
        [id, "closed", id, 2, "walrus"],
        "the archive",
      );
      checkEqual(await s.texts(archiveId), ["walrus", "Answer to walrus"], "its log");
      const listed = await s.store.list({ limit: 10 });
      checkEqual(
        listed.conversations.map((each) => each.id),
        [id],
        "the list",
      );
      const closed = await s.store.list({ limit: 10, status: ["closed"] });
      checkEqual(closed.conversations, [], "the list of closed ones");
      const found = await s.found("walrus");
      checkEqual([...new Set(found.map((hit) => hit.conversationId))], [id], "what a search finds");
      const changes = await s.store.changed({ since: 0, limit: 10 });
      checkEqual(
        changes.conversations.map((each) => each.id),
        [id],
        "the changes",
      );
      checkEqual(
        (await s.store.listConversations()).map((each) => each.id),
        [id],
        "the engine's list",
      );
      await refused(s.send(archiveId), "conversation_closed", "a message");
      const lease = { conversationId: archiveId, node: s.node, turnId: uniqueId() };
      await refused(s.store.lease(lease), "conversation_closed", "a compaction");
      await refused(s.store.set(archiveId, { closed: false }), "conversation_closed", "opening it");
      await refused(s.store.undoCompaction(archiveId), "conversation_closed", "an undo");
      const resume = s.store.queue(archiveId, { op: "resume", node: s.node, turnId: uniqueId() });
      await refused(resume, "conversation_closed", "resuming its queue");
      const { conversation } = await s.store.fork({ conversationId: archiveId, atSeq: 2, newId: uniqueId() });
      checkEqual([conversation.archiveOf, conversation.status], [undefined, "idle"], "a fork of it");
      await s.turn(conversation.id, "c");
    },
  },
  {
    name: "what was sent meanwhile opens its turn in the same transaction, also when it is repeated",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const input = await prepared(s, id);
      await s.enqueue(id, { text: "Meanwhile" });
      const first = await s.store.compact(input);
      checkEqual([first.next?.turnId, first.queue.entries], [input.release?.turnId, []], "the next turn");
      checkEqual(textsOf(first.next?.entries ?? []), ["Meanwhile"], "its message");
      checkEqual(first.next?.entries[0]?.firstSeq, 4, "its place, behind the summary");
      checkEqual(await s.store.compact(input), first, "the same call again");
      checkEqual((await s.texts(id)).length, 4, "the rows");
      checkEqual((await s.store.get(id))?.sealedSeq, 3, "the sealed seq");
    },
  },
  {
    name: "a compaction that is repeated with nothing waiting answers the same",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const input = await prepared(s, id);
      const first = await s.store.compact(input);
      checkEqual(await s.store.compact(input), first, "the second answer");
      const turn = await s.start(id);
      checkEqual((await s.store.compact(input)).entry, first.entry, "the entry when others went on");
      checkEqual((await s.store.get(id))?.active?.turnId, turn.turnId, "the running turn");
      checkEqual((await s.texts(id)).length, 4, "the rows");
    },
  },
  {
    name: "a compaction may keep what waits, and its lease",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const input = await prepared(s, id);
      await s.enqueue(id);
      const { release: _, ...kept } = input;
      const first = await s.store.compact(kept);
      checkEqual([first.next, first.queue.entries.length], [undefined, 1], "without an end of the lease");
      checkEqual((await s.store.get(id))?.active?.purpose, "compaction", "the lease");
      const end = { ...heldTurn(input), next: s.next({ pauseQueue: true }) };
      checkEqual((await s.store.endLease(end)).queue.paused, true, "the queue when it ends");
    },
  },
  {
    name: "inside a turn the summary belongs to it, and the archive ends at the last sealed seq",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const turn = await s.start(id, { text: "Long" });
      await s.commit(turn, [callingMessage(id, "c"), resultMessage(id, "c")]);
      const archiveId = uniqueId();
      const input: CompactInput = {
        ...heldTurn(turn),
        summary: message(id, { role: "system", text: "Summary" }),
        covers: { fromSeq: 1, toSeq: 6 },
        archiveId,
      };
      const { entry, next } = await s.store.compact(input);
      checkEqual([entry.firstSeq, entry.turnId, next], [7, turn.turnId, undefined], "the entry");
      checkEqual(await s.store.compact(input), { entry, queue: { entries: [], paused: false } }, "again");
      const open = await s.store.readOpenTurn({ conversationId: id });
      checkEqual(open?.entries.at(-1), entry, "the entry in the open turn");
      const ending = { ...input, summary: message(id), archiveId: uniqueId(), release: s.next() };
      await refused(s.store.compact(ending), "invalid_request", "one that would end the turn");
      const record = await s.store.get(id);
      checkEqual([record?.active?.turnId, record?.sealedSeq], [turn.turnId, 2], "the running turn");
      checkEqual(
        [record?.compactedFrom, (await s.store.get(archiveId))?.parentSeq],
        [archiveId, 2],
        "the archive",
      );
      const { lastSeq } = await s.seal(turn, [message(id, { role: "assistant" })]);
      checkEqual([lastSeq, (await s.texts(id)).length], [8, 7], "the end of the turn");
      checkEqual(await covered(s, id), [{ fromSeq: 1, toSeq: 6 }], "the covered range");
    },
  },
  {
    name: "a compaction without the lease, or of a range that is not there, leaves nothing behind",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const input = await prepared(s, id);
      const stale = { ...input, fence: input.fence - 1 };
      await refused(s.store.compact(stale), "stale_fence", "with another fence");
      const foreign = { ...input, turnId: uniqueId() };
      await refused(s.store.compact(foreign), "stale_fence", "with another lease");
      for (const [fromSeq, toSeq] of [
        [0, 1],
        [2, 1],
        [1, 3],
        [1, 1.5],
      ] as const) {
        const odd = { ...input, covers: { fromSeq, toSeq } };
        await refused(s.store.compact(odd), "invalid_request", `covering ${fromSeq} to ${toSeq}`);
      }
      const [first] = await s.log(id);
      const taken = { ...input, summary: message(id, { role: "system", id: first?.message.id ?? "" }) };
      await refused(s.store.compact(taken), "message_conflict", "a summary with the id of another message");
      const elsewhere = { ...input, summary: message(uniqueId(), { role: "system" }) };
      await refused(s.store.compact(elsewhere), "invalid_request", "a summary of another conversation");
      const { conversationId: other } = await s.turn();
      const occupied = await outcomeOf(s.store.compact({ ...input, archiveId: other }));
      check("code" in occupied, "the archive's id must be free");
      checkEqual(await s.store.get(input.archiveId), null, "the archive");
      checkEqual((await s.texts(id)).length, 2, "the rows");
      checkEqual((await s.store.get(id))?.active?.turnId, input.turnId, "the lease");
      await s.store.compact(input);
    },
  },
  {
    name: "an undo takes the summary out of force and leaves the history whole",
    async run(s) {
      const { conversationId: id } = await s.turn();
      await refused(s.store.undoCompaction(id), "nothing_to_compact", "with nothing to undo");
      const { archiveId } = await compacted(s, id);
      const turn = await s.start(id, { text: "Later" });
      await refused(s.store.undoCompaction(id), "turn_active", "while a turn runs");
      await s.seal(turn);
      const record = await s.store.undoCompaction(id);
      checkEqual([record.id, record.compactedFrom, record.lastSeq], [id, undefined, 4], "the conversation");
      checkEqual(textsOf(await s.log(id)), ["Hello", "Answer to Hello", "Later"], "what the context reads");
      const { chunks } = await s.store.readChunks({ conversationId: id });
      checkEqual(
        chunks.map(({ seq }) => seq),
        [1, 2, 3, 4],
        "what a client reads",
      );
      check((await s.store.get(archiveId)) !== null, "the archive is still there");
      await refused(s.store.undoCompaction(id), "nothing_to_compact", "a second undo");
    },
  },
  {
    name: "compactions are undone one by one, the latest first",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const first = await compacted(s, id, { text: "First", covers: { fromSeq: 1, toSeq: 1 } });
      await s.turn(id);
      const second = await compacted(s, id, { text: "Second", covers: { fromSeq: 1, toSeq: 4 } });
      checkEqual(
        await covered(s, id),
        [
          { fromSeq: 1, toSeq: 1 },
          { fromSeq: 1, toSeq: 4 },
        ],
        "both",
      );
      checkEqual((await s.store.get(id))?.compactedFrom, second.archiveId, "the latest archive");
      checkEqual((await s.store.undoCompaction(id)).compactedFrom, first.archiveId, "after one undo");
      checkEqual(await covered(s, id), [{ fromSeq: 1, toSeq: 1 }], "the one in force");
      checkEqual((await s.store.undoCompaction(id)).compactedFrom, undefined, "after two");
      checkEqual(await covered(s, id), [], "none in force");
      await refused(s.store.undoCompaction(id), "nothing_to_compact", "a third");
      const third = await compacted(s, id, { text: "Third" });
      checkEqual((await s.store.get(id))?.compactedFrom, third.archiveId, "a new one");
      checkEqual(await covered(s, id), [{ fromSeq: 1, toSeq: 2 }], "what it covers");
    },
  },
  {
    name: "a fork keeps what was in force when it left, whatever its origin undoes, and the other way round",
    async run(s) {
      const { conversationId: id } = await s.turn();
      await compacted(s, id);
      const forks = [uniqueId(), uniqueId()];
      const [kept = "", undone = ""] = forks;
      for (const newId of forks) await s.store.fork({ conversationId: id, atSeq: 3, newId });
      await s.store.undoCompaction(undone);
      checkEqual((await covered(s, id)).length, 1, "in the origin, when a fork undoes");
      await s.store.undoCompaction(id);
      checkEqual((await covered(s, kept)).length, 1, "in a fork, when the origin undoes");
      checkEqual((await covered(s, undone)).length, 0, "in the fork that undid");
      const late = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: 3, newId: late });
      checkEqual((await covered(s, late)).length, 0, "in a fork made after the undo");
      await s.store.remove(id, { cascade: false });
      checkEqual((await covered(s, kept)).length, 1, "in a fork whose origin is gone");
      const { compactedFrom } = (await s.store.get(kept)) ?? {};
      check(
        compactedFrom === undefined || (await s.store.get(compactedFrom)) !== null,
        "an archive that is named is there",
      );
    },
  },
  {
    name: "of a message and a compaction's lease that meet, one waits for the other",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 20; round++) {
        const { conversationId: id } = await s.turn();
        const request = { conversationId: id, node: s.node, turnId: uniqueId() };
        const [lease, outcome] = await Promise.allSettled([
          s.store.lease(request),
          s.send(id, { text: "Meets", through: s.second }),
        ]);
        check(outcome.status === "fulfilled", "the message is taken");
        checkEqual(outcome.value.kind === "queued", lease.status === "fulfilled", "who came first");
        const active = (await s.store.get(id))?.active;
        checkEqual(active?.purpose, lease.status === "fulfilled" ? "compaction" : "turn", "who holds it");
      }
    },
  },
];
