import { countForRow } from "@parley/core/messages";
import type { AddedEntries } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import {
  callingMessage,
  message,
  resultMessage,
  type Scenario,
  type TopicCase,
  textsOf,
  uniqueId,
} from "../scenario.js";
import { compacted } from "../turns/compaction.js";

async function added(s: Scenario, conversationId: string, seq: number, limit = 50): Promise<AddedEntries> {
  const read = await s.store.readAfter({ conversationId, seq, limit });
  check(read !== null, "the conversation is known");
  return read;
}

/**
 * Cases of added entries: later reads by a reader that keeps a log, and the detection that what it keeps is out of
 * date.
 */
export const addedCases: readonly TopicCase[] = [
  {
    name: "rows behind a seq are read oldest first, as pages from the newest end hold them",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const { view } = await added(s, id, 0);
      await s.commit(turn, [callingMessage(id, "c")]);
      await s.commit(turn, [resultMessage(id, "c")]);
      const log = await s.log(id);
      checkEqual(await added(s, id, 1), { view, entries: log.slice(1), more: false }, "behind the question");
      checkEqual(await added(s, id, 1, 1), { view, entries: log.slice(1, 2), more: true }, "one of them");
      checkEqual(await added(s, id, 4), { view, entries: [], more: false }, "behind the last one");
      checkEqual(await added(s, id, 2_147_483_647), { view, entries: [], more: false }, "far behind it");
      for (const limit of [2, 50]) {
        const page = await s.store.readNewest({ conversationId: id, limit, view: true });
        checkEqual(page.view, view, "the view of a page");
        checkEqual("view" in (await s.store.readNewest({ conversationId: id, limit })), false, "unasked");
      }
      const unknown = await s.store.readAfter({ conversationId: uniqueId(), seq: 0, limit: 5 });
      checkEqual(unknown, null, "an unknown conversation");
    },
  },
  {
    name: "rows keep the tokens of their messages",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const { entries } = await s.commit(turn, [
        callingMessage(id, "c"),
        message(id, { role: "user", text: "A long text. ".repeat(500) }),
        message(id, { role: "assistant", content: [{ type: "error", message: "Not sent" }] }),
      ]);
      const counts = entries.map(({ message: each }) => countForRow(each));
      checkEqual(counts[2]?.count, 0, "what is never sent");
      checkEqual(
        entries.map(({ tokens }) => tokens),
        counts,
        "of rows that were written",
      );
      const read = await s.store.readNewest({ conversationId: id, limit: 3 });
      checkEqual(read.entries.map(({ tokens }) => tokens).reverse(), counts, "of rows that were read");
    },
  },
  {
    name: "a summary is added like any row, and the view changes when it is taken out of force",
    async run(s) {
      const id = uniqueId();
      await s.turn(id, "a");
      await s.turn(id, "b");
      const before = await added(s, id, 4);
      await compacted(s, id);
      const after = await added(s, id, 4);
      checkEqual(after.view, before.view, "the view of a log that has grown");
      checkEqual(
        after.entries.map(({ covers }) => covers),
        [{ fromSeq: 1, toSeq: 2 }],
        "the summary",
      );
      await s.store.undoCompaction(id);
      const undone = await added(s, id, 4);
      checkEqual(undone.entries, [], "the summary out of force");
      check(undone.view !== before.view, "another view");
      await s.turn(id, "c");
      checkEqual((await added(s, id, 5)).view, undone.view, "the view stays from then on");
    },
  },
  {
    name: "the view is another one for a conversation that was created again, and for a fork",
    async run(s) {
      const id = uniqueId();
      await s.turn(id, "a");
      await s.turn(id, "b");
      const { view } = await added(s, id, 0);
      const fork = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: 2, newId: fork });
      await s.turn(fork, "c");
      const forked = await added(s, fork, 2);
      check(forked.view !== view, "the fork's own view");
      checkEqual(textsOf(forked.entries), ["c", "Answer to c"], "the fork's own rows");
      const inherited = await added(s, fork, 1, 2);
      checkEqual(textsOf(inherited.entries), ["Answer to a", "c"], "what was inherited");
      check(inherited.more, "there is more");
      await s.store.remove(id, { cascade: false });
      checkEqual(await s.store.readAfter({ conversationId: id, seq: 0, limit: 5 }), null, "once removed");
      await s.turn(id, "d");
      const recreated = await added(s, id, 0);
      check(recreated.view !== view, "another log's view");
      checkEqual(textsOf(recreated.entries), ["d", "Answer to d"], "another log's rows");
    },
  },
];
