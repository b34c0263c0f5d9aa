import { toStoredChunks } from "@parley/core/messages";
import { check, checkEqual } from "../../contract-case.js";
import { everyPart } from "../../sample-messages.js";
import {
  callingMessage,
  message,
  refused,
  resultMessage,
  type Scenario,
  type TopicCase,
  textsOf,
  uniqueId,
} from "../scenario.js";

type Window = Omit<Parameters<Scenario["store"]["readChunks"]>[0], "conversationId">;

async function window(s: Scenario, conversationId: string, query: Window = {}) {
  const { chunks, latestSeq } = await s.store.readChunks({ conversationId, ...query });
  return [chunks.map(({ seq }) => seq), latestSeq] as const;
}

/** Writes a sealed turn of the seqs 1 to 6, then an open one of the seqs 7 to 9. */
async function twoTurns(s: Scenario) {
  const first = await s.start();
  const id = first.conversationId;
  await s.commit(first, [callingMessage(id, "c"), resultMessage(id, "c")]);
  await s.seal(first, [
    message(id, {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "4" },
      ],
    }),
  ]);
  const second = await s.start(id, { text: "And tomorrow?" });
  await s.commit(second, [callingMessage(id, "d")]);
  return { id, first, second };
}

/** Cases of windows of the log: by part for clients, by message from the newest end for the context. */
export const readCases: readonly TopicCase[] = [
  {
    name: "chunks are those of sealed turns; with open also the open one's committed rows",
    async run(s) {
      const { id } = await twoTurns(s);
      checkEqual(await window(s, id), [[1, 2, 3, 4, 5, 6], 6], "sealed");
      checkEqual(await window(s, id, { open: false }), [[1, 2, 3, 4, 5, 6], 6], "not open");
      checkEqual(await window(s, id, { open: true }), [[1, 2, 3, 4, 5, 6, 7, 8, 9], 9], "open");
    },
  },
  {
    name: "a window lies between its bounds, ascending, and a limit keeps the newest of it",
    async run(s) {
      const { id } = await twoTurns(s);
      const open = true;
      checkEqual(await window(s, id, { sinceSeq: 4 }), [[5, 6], 6], "since");
      checkEqual(await window(s, id, { sinceSeq: 5, open }), [[6, 7, 8, 9], 9], "since, open");
      checkEqual(await window(s, id, { beforeSeq: 3 }), [[1, 2], 2], "before");
      checkEqual(await window(s, id, { sinceSeq: 2, beforeSeq: 6 }), [[3, 4, 5], 5], "between");
      checkEqual(await window(s, id, { limit: 2 }), [[5, 6], 6], "the newest two");
      checkEqual(await window(s, id, { beforeSeq: 6, limit: 3 }), [[3, 4, 5], 5], "three before");
      checkEqual(await window(s, id, { sinceSeq: 1, limit: 1, open }), [[9], 9], "the newest one, open");
      checkEqual(
        await window(s, id, { sinceSeq: 0, beforeSeq: 1_000, limit: 1_000 }),
        [[1, 2, 3, 4, 5, 6], 6],
        "all",
      );
    },
  },
  {
    name: "an empty window says where its reader already is",
    async run(s) {
      const { id } = await twoTurns(s);
      checkEqual(await window(s, id, { sinceSeq: 6 }), [[], 6], "nothing newer");
      checkEqual(await window(s, id, { sinceSeq: 99 }), [[], 99], "from beyond the end");
      checkEqual(await window(s, id, { sinceSeq: 3, beforeSeq: 4 }), [[], 3], "nothing between");
      checkEqual(await window(s, id, { sinceSeq: 3, limit: 0 }), [[], 3], "none asked for");
      checkEqual(await window(s, id, { beforeSeq: 1 }), [[], 0], "nothing before the first");
      const { conversation } = await s.store.create({ id: uniqueId(), settings: {} });
      checkEqual(await window(s, conversation.id), [[], 0], "an empty conversation");
      await refused(window(s, uniqueId()), "conversation_not_found", "an unknown one");
    },
  },
  {
    name: "a chunk says its message, turn, step, time and place, whatever kind it is",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const createdAt = new Date(1_699_999_999_999);
      const all = message(id, { role: "assistant", content: everyPart, createdAt });
      const stepId = `${turn.turnId}.0`;
      await s.commit(turn, [all], { stepId });
      const summary = message(id, { role: "system", text: "So far" });
      const empty = message(id, { role: "assistant", content: [] });
      await s.seal(turn, [summary, empty]);
      const { chunks } = await s.store.readChunks({ conversationId: id });
      const place = { turnId: turn.turnId, stepId };
      checkEqual(chunks.slice(1, 9), toStoredChunks(all, { firstSeq: 2, ...place }), "every kind of part");
      checkEqual(
        chunks.slice(9),
        [
          ...toStoredChunks(summary, { firstSeq: 10, ...place }),
          ...toStoredChunks(empty, { firstSeq: 11, ...place }),
        ],
        "a system message and one without parts",
      );
      checkEqual(
        [chunks[0]?.turnId, chunks[0]?.stepId, chunks[0]?.role, chunks[0]?.partCount],
        [turn.turnId, undefined, "user", 1],
        "the user's chunk",
      );
    },
  },
  {
    name: "pages from the newest end hold whole messages, the open turn's too, without gap or repeat",
    async run(s) {
      const { id, first, second } = await twoTurns(s);
      const page = await s.store.readNewest({ conversationId: id, limit: 2 });
      checkEqual(textsOf(page.entries), ["I look it up [tool-call]", "And tomorrow?"], "the newest two");
      checkEqual(
        page.entries.map(({ firstSeq, lastSeq, turnId, stepId }) => [firstSeq, lastSeq, turnId, stepId]),
        [
          [8, 9, second.turnId, `${second.turnId}.0`],
          [7, 7, second.turnId, undefined],
        ],
        "their places",
      );
      checkEqual(page.before, 7, "where the next page begins");
      const older = await s.store.readNewest({ conversationId: id, limit: 2, before: 7 });
      checkEqual(textsOf(older.entries), ["[reasoning] 4", "[tool-result]"], "the page before");
      checkEqual(older.entries[0]?.turnId, first.turnId, "its turn");
      const rest = await s.store.readNewest({ conversationId: id, limit: 2, before: older.before ?? 0 });
      checkEqual([rest.entries.length, rest.before], [2, undefined], "the last page");
      const all = await s.store.readNewest({ conversationId: id, limit: 6 });
      checkEqual([all.entries.length, all.before], [6, undefined], "exactly all");
      checkEqual((await s.log(id)).length, 6, "page by page");
      checkEqual(
        await s.store.readNewest({ conversationId: uniqueId(), limit: 2 }),
        { entries: [] },
        "unknown",
      );
    },
  },
  {
    name: "a page continues with older messages although newer ones came in between",
    async run(s) {
      const { id, second } = await twoTurns(s);
      const page = await s.store.readNewest({ conversationId: id, limit: 2 });
      await s.seal(second, [resultMessage(id, "d"), message(id, { role: "assistant", text: "Late" })]);
      check(page.before !== undefined, "there is another page");
      const next = await s.store.readNewest({ conversationId: id, limit: 1, before: page.before });
      checkEqual(textsOf(next.entries), ["[reasoning] 4"], "the next page");
    },
  },
  {
    name: "rows that were read once are read the same ever after",
    async run(s) {
      const { id, second } = await twoTurns(s);
      const before = await s.store.readChunks({ conversationId: id, open: true });
      await s.seal(second, [resultMessage(id, "d")]);
      await s.turn(id);
      await s.store.set(id, { title: "Renamed", closed: true });
      const after = await s.store.readChunks({ conversationId: id, beforeSeq: 10 });
      checkEqual(after.chunks, before.chunks, "the chunks");
    },
  },
];
