import { omitUndefined } from "@parley/fold";
import { check, checkEqual } from "../../contract-case.js";
import {
  batch,
  callingMessage,
  heldTurn,
  message,
  type Scenario,
  type TopicCase,
  uniqueId,
} from "../scenario.js";

async function journalOf(s: Scenario, conversationId: string) {
  return (await s.store.readOpenTurn({ conversationId }))?.journal;
}

/** Cases of the running step's events: in the journal or in rows, never in both and never in neither. */
export const journalCases: readonly TopicCase[] = [
  {
    name: "flushed batches are read back as they were, in order",
    async run(s) {
      const turn = await s.start();
      const odd = `{"text":"line\\nbreak  1.0 é 你 \u{1F600}"}`;
      const batches = [batch(turn, 0, odd), batch(turn, 2), batch(turn, 4, "", 1), batch(turn, 5)];
      checkEqual(await s.root.flushJournal(batches.slice(0, 3)), ["ok", "ok", "ok"], "the first flush");
      checkEqual(await s.root.flushJournal(batches.slice(3)), ["ok"], "the second flush");
      checkEqual(await journalOf(s, turn.conversationId), batches, "the journal");
      checkEqual(await s.root.flushJournal([]), [], "a flush of nothing");
    },
  },
  {
    name: "a batch that is there already is not written twice",
    async run(s) {
      const turn = await s.start();
      const first = batch(turn, 0);
      await s.root.flushJournal([first]);
      checkEqual(await s.root.flushJournal([first, batch(turn, 2)]), ["ok", "ok"], "the flush");
      checkEqual(await s.root.flushJournal([batch(turn, 0, "other")]), ["ok"], "another one at its place");
      checkEqual(await journalOf(s, turn.conversationId), [first, batch(turn, 2)], "the journal");
    },
  },
  {
    name: "a flush answers for each batch: a lost turn does not hold up the others",
    async run(s) {
      const live = await s.start();
      const other = await s.start();
      const sealed = await s.start();
      await s.seal(sealed);
      const taken = await s.start();
      await s.store.takeOver({ ...heldTurn(taken), node: s.node });
      const unknown = { ...live, log: Number.MAX_SAFE_INTEGER };
      const outcomes = await s.root.flushJournal([
        batch(taken, 0),
        batch(live, 0),
        batch(sealed, 0),
        batch({ ...live, turnId: uniqueId() }, 0),
        batch(other, 0),
        batch(unknown, 0),
        batch(live, 2),
      ]);
      const stale = "stale_fence";
      checkEqual(outcomes, [stale, "ok", stale, stale, "ok", stale, "ok"], "the outcomes");
      checkEqual((await journalOf(s, live.conversationId))?.length, 2, "the first turn's journal");
      checkEqual((await journalOf(s, other.conversationId))?.length, 1, "the second turn's journal");
      checkEqual(await journalOf(s, taken.conversationId), [], "the journal of the one taken over");
    },
  },
  {
    name: "one flush takes batches of two hundred turns",
    async run(s) {
      const turns = await Promise.all(Array.from({ length: 200 }, () => s.start()));
      const outcomes = await s.root.flushJournal(turns.map((turn, index) => batch(turn, 0, `${index}`)));
      check(outcomes.length === 200 && outcomes.every((each) => each === "ok"), "every batch is written");
      for (const index of [0, 99, 199]) {
        const turn = turns[index];
        check(turn !== undefined, "there are as many turns");
        checkEqual((await journalOf(s, turn.conversationId))?.[0]?.data, `${index}`, "a turn's batch");
      }
    },
  },
  {
    name: "the journal is empty after a commit, and continues after it",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      await s.root.flushJournal([batch(turn, 0), batch(turn, 2)]);
      await s.commit(turn, [callingMessage(id, "c")]);
      checkEqual(await journalOf(s, id), [], "the journal after the commit");
      await s.root.flushJournal([batch(turn, 4)]);
      checkEqual(await journalOf(s, id), [batch(turn, 4)], "the journal of the next step");
    },
  },
  {
    name: "the journal is gone after the seal, and the next turn begins with an empty one",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      await s.root.flushJournal([batch(turn, 0)]);
      await s.enqueue(id);
      const { next } = await s.seal(turn, [message(id, { role: "assistant" })]);
      checkEqual(await journalOf(s, id), [], "the next turn's journal");
      checkEqual(await s.root.flushJournal([batch(turn, 2)]), ["stale_fence"], "a late flush");
      check(next !== undefined, "the next turn opened");
      checkEqual(await s.root.flushJournal([batch({ ...turn, ...next }, 0)]), ["ok"], "its own flush");
    },
  },
  {
    name: "batches that a reader has are left out, unless the turn has another fence by now",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const batches = [batch(turn, 0), batch(turn, 2), batch(turn, 4)];
      await s.root.flushJournal(batches);
      const after = async (afterN: number, fence?: number) => {
        const query = { conversationId: id, afterN, ...omitUndefined({ fence }) };
        return (await s.store.readOpenTurn(query))?.journal.map(({ firstN }) => firstN);
      };
      checkEqual(await after(-1), [0, 2, 4], "after none");
      checkEqual(await after(0), [0, 2, 4], "after the first event");
      checkEqual(await after(1), [2, 4], "after the second");
      checkEqual(await after(2), [2, 4], "after the third");
      checkEqual(await after(5), [], "after the last");
      checkEqual(await after(3, turn.fence), [4], "under the same fence");
      checkEqual(await after(3, turn.fence - 1), [0, 2, 4], "under another fence");
      const lease = await s.store.takeOver({ ...heldTurn(turn), node: s.node });
      checkEqual(await after(3, turn.fence), [0, 2, 4], "under the old fence after a take-over");
      checkEqual(await after(3, lease?.fence), [4], "under the new one");
    },
  },
  {
    name: "a take-over keeps what was flushed before it and refuses what comes later",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      await s.root.flushJournal([batch(turn, 0)]);
      const lease = await s.store.takeOver({ ...heldTurn(turn), node: await s.otherNode() });
      check(lease !== null, "the lease is taken over");
      checkEqual(await s.root.flushJournal([batch(turn, 2)]), ["stale_fence"], "a late flush");
      const taken = { ...turn, fence: lease.fence };
      checkEqual(await s.root.flushJournal([batch(taken, 2)]), ["ok"], "a flush of the new holder");
      checkEqual(await journalOf(s, id), [batch(turn, 0), batch(taken, 2)], "the journal");
    },
  },
  {
    name: "a take-over that meets a flush neither loses its batch nor leaves one behind",
    twoHandles: true,
    async run(s) {
      const node = await s.otherNode();
      for (let round = 0; round < 25; round++) {
        const turn = await s.start();
        const id = turn.conversationId;
        const [outcomes, taken] = await Promise.all([
          s.root.flushJournal([batch(turn, 0), batch(turn, 2)]),
          s.otherStore.takeOver({ ...heldTurn(turn), node }).then(async (lease) => {
            check(lease !== null, "the lease is taken over");
            return { lease, state: await s.otherStore.readOpenTurn({ conversationId: id }) };
          }),
        ]);
        const seen = taken.state?.journal.map(({ firstN }) => firstN);
        checkEqual(seen, [0, 2].slice(0, outcomes.filter((each) => each === "ok").length), "what it saw");
        checkEqual(await journalOf(s, id), taken.state?.journal, "the journal afterwards");
      }
    },
  },
  {
    name: "a seal that meets a flush leaves no batch behind",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 25; round++) {
        const turn = await s.start();
        const id = turn.conversationId;
        await s.enqueue(id);
        const [, sealed] = await Promise.all([
          s.second.flushJournal([batch(turn, 0)]),
          s.seal(turn, [message(id, { role: "assistant" })]),
        ]);
        check(sealed.next !== undefined, "the next turn opened");
        checkEqual(await journalOf(s, id), [], "its journal");
      }
    },
  },
];
