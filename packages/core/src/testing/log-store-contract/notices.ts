import { check, checkEqual } from "../contract-case.js";
import { message, type TopicCase, uniqueId } from "./scenario.js";

/** What watchers hear that no record shows. */
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
      checkEqual((await stranger.changed({ since: 0, limit: 10 })).notices, [], "what others are told");
      const compacted = {
        kind: "compacted",
        conversationId: id,
        newConversationId: compaction.archiveId,
        messagesSummarized: 1,
        messagesKept: 1,
      };
      const expected = [compacted, other, { kind: "removed", conversationIds: gone }, id];
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
];
