import type { Finding } from "@parley/wire";
import { check, checkEqual } from "../../contract-case.js";
import {
  batch,
  callingMessage,
  message,
  resultMessage,
  type Scenario,
  type TopicCase,
  uniqueId,
} from "../scenario.js";

const areas = ["files", "journal", "log", "nodes", "queue", "schema", "search", "store", "turns", "webhooks"];

async function findings(s: Scenario, area: string): Promise<Finding[]> {
  return (await s.root.examine({ fix: false })).filter((finding) => finding.area === area);
}

/** Cases of the doctor: what it checks, and what it leaves unchanged. */
export const examinationCases: readonly TopicCase[] = [
  {
    name: "a store that was brought up answers, with the schema of this version",
    async run(s) {
      checkEqual(await s.root.check(), { schema: "current" }, "the check");
    },
  },
  {
    name: "every area has a finding, and logs that the store itself has written are without fault",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      await s.root.flushJournal([batch(turn, 0)]);
      await s.commit(turn, [callingMessage(id, "call")]);
      await s.root.flushJournal([batch(turn, 2)]);
      await s.commit(turn, [resultMessage(id, "call")]);
      const { lastSeq } = await s.seal(turn, [message(id, { role: "assistant" })]);
      const fork = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: lastSeq, newId: fork });
      await s.turn(fork);
      await s.store.remove(id, { cascade: false });
      await s.start();
      for (const fix of [false, true]) {
        const found = await s.root.examine({ fix });
        checkEqual([...new Set(found.map(({ area }) => area))].toSorted(), areas, "the areas");
        check(
          found.every(({ level }) => level !== "error"),
          `nothing is wrong: ${JSON.stringify(found)}`,
        );
        const log = found.filter(({ area }) => area === "log");
        checkEqual(
          log.map(({ level }) => level),
          ["ok"],
          "the finding on the log",
        );
      }
      checkEqual((await s.texts(fork)).length, 6, "the log of the fork");
    },
  },
  {
    name: "a turn in the hand of a dead node is a warning, and is left to those who claim",
    async run(s) {
      const turn = await s.start(uniqueId(), { node: `never-${uniqueId()}` });
      const [found] = await findings(s, "turns");
      checkEqual(found?.level, "warning", "the level");
      check(found?.advice !== undefined, "it says what to do");
      await s.root.examine({ fix: true });
      const state = await s.store.readOpenTurn({ conversationId: turn.conversationId });
      checkEqual([state?.turnId, state?.fence], [turn.turnId, turn.fence], "the turn after a fix");
    },
  },
  {
    name: "the journal of an open turn is none of the doctor's",
    async run(s) {
      const turn = await s.start();
      await s.root.flushJournal([batch(turn, 0)]);
      await s.root.examine({ fix: true });
      const state = await s.store.readOpenTurn({ conversationId: turn.conversationId });
      checkEqual(state?.journal.length, 1, "its batches");
    },
  },
  {
    name: "messages that wait in a paused queue are reported, and are no fault",
    async run(s) {
      const turn = await s.start();
      await s.enqueue(turn.conversationId);
      await s.store.queue(turn.conversationId, { op: "pause" });
      const [found] = await findings(s, "queue");
      checkEqual(found?.level, "ok", "the level");
      check(found?.advice !== undefined, "it says what can be done");
    },
  },
  {
    name: "a call of a sealed turn without an answer is a warning",
    async run(s) {
      const turn = await s.start();
      await s.seal(turn, [callingMessage(turn.conversationId, "call")]);
      const [found] = await findings(s, "log");
      checkEqual(found?.level, "warning", "the level");
      check(found?.message.includes(turn.conversationId) === true, "it names the conversation");
    },
  },
];
