import type { LogStore } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import { message, type TopicCase, uniqueId } from "../scenario.js";

/** Cases of events for watchers that no record shows. */
export const noticeCases: readonly TopicCase[] = [
  {
    name: "removals and compactions are noticed in the feed, in order with changes, page by page",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const { last: since } = await s.store.changed({ limit: 1 });
      const lease = await s.store.lease({ conversationId: id, node: s.node, turnId: uniqueId() });
      const compaction = {
        conversationId: id,
        turnId: lease.turnId,
        fence: lease.fence,
        summary: message(id, { role: "system" }),
        covers: { fromSeq: 1, toSeq: 1 },
        archiveId: uniqueId(),
        notice: { messagesSummarized: 1, messagesKept: 1 },
        release: s.next(),
      };
      await s.store.compact(compaction);
      await s.store.compact(compaction);
      const other = uniqueId();
      await s.store.create({ id: other, settings: {} });
      const gone = await s.store.remove(id, { cascade: false });
      await s.store.remove(id, { cascade: false });
      await s.store.create({ id, settings: {} });
      const stranger = s.root.forOwner(`stranger-${s.owner}`);
      checkEqual((await stranger.changed({ since: 0, limit: 10 })).notices, [], "what others receive");
      const compacted = {
        kind: "compacted",
        conversationId: id,
        newConversationId: compaction.archiveId,
        messagesSummarized: 1,
        messagesKept: 1,
      };
      const expected = [
        compacted,
        other,
        { kind: "removed", conversationIds: gone.map((each) => each.id) },
        id,
      ];
      for (const limit of [1, 2, 10]) {
        const seen: unknown[] = [];
        let mark = since;
        for (;;) {
          const { conversations, notices, last } = await s.otherStore.changed({ since: mark, limit });
          const page = [...conversations, ...notices].sort((a, b) => a.changedAt - b.changedAt);
          check(page.length <= limit, "no more than asked for");
          checkEqual(last, page.at(-1)?.changedAt ?? mark, "where the page ends");
          if (page.length === 0) break;
          mark = last;
          for (const change of page) {
            if (!("kind" in change)) seen.push(change.id);
            else seen.push({ ...change, changedAt: undefined });
          }
        }
        checkEqual(seen, expected, `the feed, ${limit} at a time`);
      }
    },
  },
  {
    name: "one query finds which of many owners and conversations have changes",
    twoHandles: true,
    async run(s) {
      const stranger = `stranger-${s.owner}`;
      const strangers = s.root.forOwner(stranger);
      const [quiet, renamed, theirs] = [uniqueId(), uniqueId(), uniqueId()];
      await s.store.create({ id: quiet, settings: {} });
      await s.store.create({ id: renamed, settings: {} });
      await strangers.create({ id: theirs, settings: {} });
      const mark = async (store: LogStore) => (await store.changed({ limit: 1 })).last;
      const since = await mark(s.store);
      const owners = [
        { owner: s.owner, since },
        { owner: stranger, since: await mark(strangers) },
        { owner: `unknown-${s.owner}`, since },
      ];
      const none = { owners: [], conversations: [] };
      checkEqual(await s.root.news(none), none, "of no owner");
      checkEqual(await s.root.news({ owners, conversations: [] }), none, "while nothing happens");
      await s.otherStore.set(renamed, { title: "other" });
      checkEqual(
        await s.root.news({ owners, conversations: [] }),
        { ...none, owners: [s.owner] },
        "a change",
      );
      const changedAt = (await s.store.get(renamed))?.changedAt ?? 0;
      const published = [{ owner: s.owner, since, published: [changedAt] }];
      checkEqual(await s.root.news({ owners: published, conversations: [] }), none, "one that was published");
      // The stranger knows a change of its own whose number is the one of this owner's change.
      const alike = [
        { owner: s.owner, since },
        { owner: stranger, since: 0, published: [changedAt] },
      ];
      const both = await s.root.news({ owners: alike, conversations: [] });
      checkEqual(both.owners.toSorted(), [s.owner, stranger].toSorted(), "one that another owner knows");
      await s.otherStore.set(quiet, { title: "another" });
      const others = await s.root.news({ owners: published, conversations: [] });
      checkEqual(others.owners, [s.owner], "another one beside it");
      const after = [{ owner: s.owner, since: await mark(s.store) }];
      checkEqual(await s.root.news({ owners: after, conversations: [] }), none, "once it is known");
      const [removed] = await s.otherStore.remove(renamed, { cascade: false });
      const renamedLog = removed?.log ?? 0;
      checkEqual((await s.root.news({ owners: after, conversations: [] })).owners, [s.owner], "a removal");

      const talk = await s.turn();
      const sealed = (await s.store.get(talk.conversationId))?.lastSeq ?? 0;
      const running = await s.start();
      const opened = (await s.store.get(running.conversationId))?.lastSeq ?? 0;
      const logs = new Map<string, number>();
      for (const id of [quiet, talk.conversationId, running.conversationId]) {
        logs.set(id, (await s.store.get(id))?.log ?? 0);
      }
      logs.set(theirs, (await s.root.forOwner(stranger).get(theirs))?.log ?? 0);
      logs.set(renamed, renamedLog);
      const known = (id: string, seq: number, owner = s.owner) => ({ log: logs.get(id) ?? 0, owner, seq });
      checkEqual(
        await s.root.news({
          owners: [],
          conversations: [
            known(quiet, 0),
            known(talk.conversationId, sealed),
            known(talk.conversationId, sealed - 1),
            known(running.conversationId, opened),
            known(renamed, 0),
            known(theirs, 0),
            known(theirs, 0, stranger),
          ],
        }),
        {
          ...none,
          conversations: [talk.conversationId, running.conversationId, renamed, theirs].map((id) =>
            logs.get(id),
          ),
        },
        "rows, a turn under way, one that is gone, another owner's",
      );
    },
  },
  {
    name: "owners of any characters have news like all others",
    async run(s) {
      for (const owner of [`a\u0000b ${uniqueId()}`, `a\u001ab ${uniqueId()}`]) {
        const store = s.root.forOwner(owner);
        const id = uniqueId();
        const { conversation } = await store.create({ id, settings: {} });
        const conversations = [{ log: conversation.log, owner, seq: 0 }];
        const { last: known } = await store.changed({ limit: 1 });
        checkEqual(
          await s.root.news({ owners: [{ owner, since: known }], conversations }),
          { owners: [], conversations: [] },
          "while nothing happens",
        );
        await store.set(id, { title: "other" });
        checkEqual(
          await s.root.news({ owners: [{ owner, since: known }], conversations: [] }),
          { owners: [owner], conversations: [] },
          "a change",
        );
        await store.remove(id, { cascade: false });
      }
    },
  },
];
