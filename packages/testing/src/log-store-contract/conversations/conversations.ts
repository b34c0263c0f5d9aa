import type { ConversationRecord } from "@parley/core/ports";
import { omitUndefined } from "@parley/fold";
import { check, checkEqual } from "../../contract-case.js";
import { callingMessage, message, refused, type Scenario, type TopicCase, uniqueId } from "../scenario.js";

/** Makes conversations with these titles, one after the other. */
export async function created(s: Scenario, ...titles: readonly string[]): Promise<string[]> {
  const ids = [];
  for (const title of titles) {
    const { conversation } = await s.store.create({ id: uniqueId(), settings: { title } });
    ids.push(conversation.id);
    await s.advance(5);
  }
  return ids;
}

/** Returns the ids of a page. */
export function idsOf(page: { readonly conversations: readonly ConversationRecord[] }): string[] {
  return page.conversations.map(({ id }) => id);
}

/** Follows the feed from `since` to its end, page by page. */
async function follow(s: Scenario, since: number, limit: number) {
  const seen: ConversationRecord[] = [];
  let last = since;
  for (;;) {
    check(seen.length < 10_000, "the feed has an end");
    const page = await s.store.changed({ since: last, limit });
    check(page.conversations.length <= limit, "no more changes than asked for");
    if (page.conversations.length === 0) {
      checkEqual(page.last, last, "where the feed stands");
      return { seen, last };
    }
    checkEqual(page.last, page.conversations.at(-1)?.changedAt, "where a page ends");
    seen.push(...page.conversations);
    last = page.last;
  }
}

/** Cases of a conversation's record, of finding it, and of the changes that watchers receive. */
export const conversationCases: readonly TopicCase[] = [
  {
    name: "making a conversation twice makes it once",
    async run(s) {
      const id = uniqueId();
      const settings = {
        title: "Plans",
        model: "a/one",
        reasoningEffort: "low" as const,
        instructions: "Be brief",
        compactThreshold: 0,
        metadata: { nested: { list: [1, null, "a"] } },
      };
      const first = await s.store.create({ id, settings });
      checkEqual(first.created, true, "whether it was made");
      const { conversation } = first;
      checkEqual({ ...conversation, ...settings }, conversation, "its settings");
      checkEqual(
        [conversation.id, conversation.status, conversation.lastSeq, conversation.sealedSeq],
        [id, "idle", 0, 0],
        "its state",
      );
      checkEqual(
        [conversation.queue, conversation.queuePaused, conversation.active, conversation.contextSize],
        [[], false, undefined, undefined],
        "what it has not",
      );
      check(conversation.createdAt > 0, "it has a time of creation");
      const again = await s.store.create({ id, settings: { title: "Other" } });
      checkEqual(again, { conversation, created: false }, "the second answer");
      checkEqual(await s.store.get(id), conversation, "what is read");
      checkEqual(await s.store.get(uniqueId()), null, "an unknown one");
    },
  },
  {
    name: "settings change where named, and null puts them back",
    async run(s) {
      const [id = ""] = await created(s, "Plans");
      const set = (changes: Parameters<typeof s.store.set>[1]) => s.store.set(id, changes);
      const all = {
        model: "a/one",
        reasoningEffort: "max" as const,
        instructions: "Be brief",
        compactThreshold: 1_000,
        metadata: { tag: "a" },
      };
      const first = await set(all);
      checkEqual({ ...first, ...all, title: "Plans" }, first, "all of them");
      const second = await set({ title: "New", metadata: { other: 1 }, compactThreshold: 0 });
      checkEqual(
        [second.title, second.metadata, second.compactThreshold, second.model],
        ["New", { other: 1 }, 0, "a/one"],
        "some of them",
      );
      const third = await set({
        model: null,
        reasoningEffort: null,
        instructions: null,
        compactThreshold: null,
      });
      checkEqual(
        [third.model, third.reasoningEffort, third.instructions, third.compactThreshold],
        [undefined, undefined, undefined, undefined],
        "put back",
      );
      const fourth = await set({ metadata: null, title: null });
      checkEqual([fourth.metadata, fourth.title], [undefined, ""], "without metadata and title");
      checkEqual(await s.store.get(id), fourth, "what is read");
      await refused(s.store.set(uniqueId(), { title: "x" }), "conversation_not_found", "an unknown one");
    },
  },
  {
    name: "closing hides without deleting, opening shows it again",
    async run(s) {
      const { conversationId: id } = await s.turn();
      checkEqual((await s.store.set(id, { closed: true })).status, "closed", "when closed");
      checkEqual((await s.texts(id)).length, 2, "its rows");
      checkEqual((await s.store.set(id, { title: "Renamed" })).status, "closed", "when renamed");
      checkEqual((await s.store.set(id, { closed: false })).status, "idle", "when opened");
      const turn = await s.start(id);
      checkEqual((await s.store.set(id, { closed: true })).status, "closed", "closed while a turn runs");
      checkEqual((await s.seal(turn)).status, "closed", "when that turn is sealed");
      checkEqual((await s.store.get(id))?.queuePaused, false, "an empty queue is not paused");
    },
  },
  {
    name: "a list has the newest activity first and is paged without gap or repeat",
    async run(s) {
      const ids = await created(s, "a", "b", "c", "d", "e");
      const [a = "", b = "", c = "", d = "", e = ""] = ids;
      await s.turn(b);
      await s.advance(5);
      await s.turn(a);
      const expected = [a, b, e, d, c];
      checkEqual(idsOf(await s.store.list({ limit: 10 })), expected, "all");
      const listed: string[] = [];
      let before: string | undefined;
      let pages = 0;
      do {
        const page = await s.store.list({ limit: 2, ...omitUndefined({ before }) });
        listed.push(...idsOf(page));
        before = page.next;
        pages += 1;
      } while (before !== undefined && pages < 10);
      checkEqual([listed, pages], [expected, 3], "page by page");
      const whole = await s.store.list({ limit: 5 });
      checkEqual([whole.conversations.length, whole.next], [5, undefined], "exactly all");
      await refused(s.store.list({ limit: 2, before: "nowhere" }), "invalid_request", "a page from nowhere");
      const [first] = whole.conversations;
      checkEqual(first, await s.store.get(a), "a listed conversation");
    },
  },
  {
    name: "conversations of the same moment are paged without gap or repeat too",
    async run(s) {
      const ids = Array.from({ length: 7 }, () => uniqueId());
      await Promise.all(ids.map((id) => s.store.create({ id, settings: {} })));
      const listed: string[] = [];
      let before: string | undefined;
      for (let page = 0; page < 10; page++) {
        const { conversations, next } = await s.store.list({
          limit: 3,
          ...omitUndefined({ before }),
        });
        listed.push(...conversations.map(({ id }) => id));
        if (next === undefined) break;
        before = next;
      }
      checkEqual(listed.toSorted(), ids.toSorted(), "the listed ones");
    },
  },
  {
    name: "a list can be narrowed by a part of the title, the beginning of an id, and the status",
    async run(s) {
      const [plans = "", travel = "", closed = ""] = await created(s, "Plans", "Travel PLAN 100%_", "Old");
      await s.store.set(closed, { closed: true });
      const found = async (query: { q?: string; status?: ConversationRecord["status"][] }) =>
        idsOf(await s.store.list({ limit: 10, ...query }));
      checkEqual(await found({ q: "plan" }), [travel, plans], "by a part of the title");
      checkEqual(await found({ q: plans.slice(0, 20) }), [plans], "by the beginning of an id");
      checkEqual(await found({ q: plans.slice(5) }), [], "by the end of an id");
      checkEqual(await found({ q: "100%_" }), [travel], "by characters that a pattern may mean something by");
      checkEqual(await found({ q: "%" }), [travel], "by one of them alone");
      checkEqual(await found({ q: "nothing" }), [], "by what no conversation has");
      await s.start(plans);
      checkEqual(await found({ status: ["active"] }), [plans], "the active ones");
      checkEqual(await found({ status: ["idle"] }), [travel], "the idle ones");
      checkEqual(await found({ status: ["closed"] }), [closed], "the closed ones");
      checkEqual(await found({ q: "plan", status: ["idle"] }), [travel], "both");
      checkEqual(
        await found({ status: ["active", "closed"] }).then((ids) => ids.toSorted()),
        [plans, closed].toSorted(),
        "those with one of two",
      );
    },
  },
  {
    name: "a list can be narrowed to the forks of one conversation, without their forks and its archives",
    async run(s) {
      const [origin = "", other = ""] = await created(s, "Origin", "Other");
      await s.turn(origin);
      const forkOf = async (conversationId: string, atSeq: number) => {
        const { conversation } = await s.store.fork({ conversationId, atSeq, newId: uniqueId() });
        await s.advance(5);
        return conversation.id;
      };
      const end = (await s.store.get(origin))?.sealedSeq ?? 0;
      const first = await forkOf(origin, end);
      const second = await forkOf(origin, 0);
      const nested = await forkOf(first, end);
      const forksOf = async (parent: string, more: { limit?: number; before?: string } = {}) =>
        s.store.list({ limit: 10, parent, ...more });
      checkEqual(idsOf(await forksOf(origin)), [second, first], "of the origin");
      checkEqual(idsOf(await forksOf(first)), [nested], "of a fork");
      checkEqual(idsOf(await forksOf(other)), [], "of one without");
      checkEqual(idsOf(await forksOf("unknown")), [], "of one that is not there");
      const page = await forksOf(origin, { limit: 1 });
      checkEqual(idsOf(page), [second], "the first page");
      checkEqual(
        idsOf(await forksOf(origin, { limit: 1, before: page.next ?? "" })),
        [first],
        "the next page",
      );
      await s.store.remove(origin, { cascade: false });
      checkEqual(idsOf(await forksOf(origin)), [second, first], "of one that was deleted");
      await s.store.create({ id: origin, settings: {} });
      checkEqual(idsOf(await forksOf(origin)), [], "of another one under its id");
    },
  },
  {
    name: "every change a watcher should receive moves a conversation to the end of the feed",
    async run(s) {
      const id = uniqueId();
      const other = uniqueId();
      let mark = (await s.store.changed({ limit: 10 })).last;
      const changedBy = async (what: string, change: () => Promise<unknown>) => {
        await change();
        const { seen, last } = await follow(s, mark, 10);
        check(
          seen.some((record) => record.id === id),
          `${what} is a change`,
        );
        const record = seen.find((each) => each.id === id);
        checkEqual(record, await s.store.get(id), `the record after: ${what}`);
        mark = last;
      };
      await changedBy("making it", () => s.store.create({ id, settings: {} }));
      await s.store.create({ id: other, settings: {} });
      await changedBy("a new title", () => s.store.set(id, { title: "New" }));
      await changedBy("closing", () => s.store.set(id, { closed: true }));
      const turn = await s.start(id);
      await changedBy("a turn that begins", async () => undefined);
      const waiting = uniqueId();
      await changedBy("a message that waits", () => s.enqueue(id, { messageId: waiting }));
      await changedBy("an edit", () => s.store.queue(id, { op: "edit", id: waiting, text: "x" }));
      await changedBy("a pause", () => s.store.queue(id, { op: "pause" }));
      const resume = { op: "resume" as const, node: s.node, turnId: uniqueId() };
      await changedBy("a resumption", () => s.store.queue(id, resume));
      const promotion = { promoteSteers: true };
      await changedBy("a promotion", () => s.commit(turn, [callingMessage(id, "c")], promotion));
      await changedBy("a seal", () => s.seal(turn, [message(id, { role: "assistant" })]));
      await changedBy("an append", () => s.store.appendMessages([message(id)]));
      const lease = await s.store.lease({ conversationId: id, node: s.node, turnId: uniqueId() });
      const compaction = {
        conversationId: id,
        turnId: lease.turnId,
        fence: lease.fence,
        summary: message(id, { role: "system" }),
        covers: { fromSeq: 1, toSeq: 1 },
        archiveId: uniqueId(),
        release: s.next(),
      };
      await changedBy("a compaction", () => s.store.compact(compaction));
      await changedBy("an undo", () => s.store.undoCompaction(id));
      await changedBy("an update", () => s.store.updateConversation(id, { title: "Newer" }));
      const { last } = await s.store.changed({ limit: 10 });
      await s.log(id);
      await s.store.list({ limit: 10 });
      checkEqual((await s.store.changed({ since: last, limit: 10 })).conversations, [], "reading is none");
    },
  },
  {
    name: "the feed is in order of change, and begins at the given position or at its end",
    async run(s) {
      const [a = "", b = "", c = ""] = await created(s, "a", "b", "c");
      const nothing = await s.store.changed({ limit: 10 });
      checkEqual(nothing.conversations, [], "without a beginning");
      await s.store.set(a, { title: "again" });
      checkEqual(
        (await follow(s, 0, 2)).seen.map(({ id }) => id),
        [b, c, a],
        "from the beginning",
      );
      checkEqual(
        (await follow(s, nothing.last, 2)).seen.map(({ id }) => id),
        [a],
        "from where it stood",
      );
    },
  },
  {
    name: "a follower of the feed misses no change, however many are made at once",
    twoHandles: true,
    async run(s) {
      const ids = Array.from({ length: 40 }, () => uniqueId());
      let done = false;
      const changes = Promise.all(
        ids.map(async (id, index) => {
          const store = index % 2 === 0 ? s.store : s.otherStore;
          await store.create({ id, settings: {} });
          await store.set(id, { title: "final" });
        }),
      ).finally(() => {
        done = true;
      });
      const latest = new Map<string, ConversationRecord>();
      const changedAts: number[] = [];
      let last = 0;
      for (;;) {
        const finished = done;
        const page = await follow(s, last, 7);
        for (const record of page.seen) {
          latest.set(record.id, record);
          changedAts.push(record.changedAt);
        }
        last = page.last;
        if (finished) break;
      }
      await changes;
      const titles = ids.map((id) => latest.get(id)?.title);
      checkEqual(
        titles,
        ids.map(() => "final"),
        "the last seen titles",
      );
      checkEqual(new Set(changedAts).size, changedAts.length, "how many changes differ");
    },
  },
];
