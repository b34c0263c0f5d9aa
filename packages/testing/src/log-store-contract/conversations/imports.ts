import { countForRow, type MessageContentPart } from "@parley/core/messages";
import type { ImportInput, LogStore } from "@parley/core/ports";
import { exportConversation, ImportLines } from "@parley/core/runtime";
import type { ExportLine } from "@parley/wire";
import { check, checkEqual } from "../../contract-case.js";
import { everyPart } from "../../sample-messages.js";
import { randomLog } from "../random-log.js";
import {
  callingMessage,
  message,
  outcomeOf,
  providerCall,
  refused,
  resultMessage,
  type Scenario,
  type TopicCase,
  textsOf,
  turnMetrics,
  uniqueId,
} from "../scenario.js";

/** Returns a turn with a call and its result, and a question outside turns after it: eight seqs. */
function imported(id: string = uniqueId(), given: Partial<ImportInput> = {}): ImportInput {
  const turnId = uniqueId();
  const stepId = `${turnId}.0`;
  return {
    conversationId: id,
    settings: {
      title: "From elsewhere",
      model: "credential/model",
      reasoningEffort: "low",
      instructions: "Be brief.",
      compactThreshold: 4_000,
      metadata: { any: ["thing"] },
    },
    closed: false,
    createdAt: 1_600_000_000_123,
    lastActivityAt: 1_600_000_500_456,
    entries: [
      { message: message(id, { text: "Question" }), firstSeq: 1, turnId },
      { message: callingMessage(id, "call"), firstSeq: 2, turnId, stepId },
      { message: resultMessage(id, "call"), firstSeq: 4, turnId, stepId },
      { message: message(id, { role: "assistant", text: "Answer" }), firstSeq: 5, turnId, stepId: "other" },
      { message: message(id, { text: "Outside" }), firstSeq: 6 },
    ],
    turns: [
      {
        turnId,
        reason: "stop",
        firstSeq: 1,
        lastSeq: 5,
        startedAt: 1_600_000_100_000,
        sealedAt: 1_600_000_101_001,
        metrics: turnMetrics(turnId, { contextSize: 321, reason: "stop" }),
        providerCalls: [providerCall({ stepId })],
      },
    ],
    ...given,
  };
}

async function lines(store: LogStore, id: string): Promise<ExportLine[]> {
  const all: ExportLine[] = [];
  // As in a file: without what JSON does not keep.
  for await (const line of exportConversation(store, id)) all.push(JSON.parse(JSON.stringify(line)));
  return all;
}

function read(exported: readonly ExportLine[], id?: string): ImportInput {
  const reader = new ImportLines(Number.MAX_SAFE_INTEGER);
  for (const line of exported) reader.take(line);
  return reader.finish(id);
}

/** Exports, imports under another id and exports again: the same except for the id. */
async function roundTrip(s: Scenario, id: string): Promise<string> {
  const first = await lines(s.store, id);
  const other = uniqueId();
  const { created } = await s.otherStore.importConversation(read(first, other));
  check(created, "the import makes a conversation");
  const second = await lines(s.store, other);
  checkEqual(second.length, first.length, "the number of lines");
  for (const [index, line] of first.entries()) {
    const expected =
      line.type === "conversation" ? { ...line, conversation: { ...line.conversation, id: other } } : line;
    checkEqual(second[index], expected, `line ${index + 1}`);
  }
  return other;
}

/** Cases of whole conversations that come from elsewhere. */
export const importCases: readonly TopicCase[] = [
  {
    name: "an imported conversation is there as it was: settings, times, rows, turns and calls",
    async run(s) {
      const input = imported();
      const { conversationId: id, settings, entries, turns } = input;
      const { conversation, created } = await s.store.importConversation(input);
      check(created, "it is new");
      checkEqual(await s.otherStore.get(id), conversation, "the record");
      const { changedAt: _, log: _log, ...record } = conversation;
      const { createdAt, lastActivityAt } = input;
      const seqs = { lastSeq: 6, sealedSeq: 6, contextSize: 321, lastReason: "stop" as const };
      const rest = { id, status: "idle" as const, queue: [], queuePaused: false };
      checkEqual(record, { ...settings, ...rest, ...seqs, createdAt, lastActivityAt }, "the record");
      checkEqual(
        (await s.log(id)).map(({ lastSeq: _last, ...entry }) => entry),
        entries.map((entry) => ({ ...entry, tokens: countForRow(entry.message) })),
        "its log",
      );
      checkEqual(await s.store.metrics(id), [turns[0]?.metrics], "its metrics");
      const { entries: own, turn } = (await s.store.readTurn(id, turns[0]?.turnId ?? "")) ?? {};
      checkEqual(own?.length, 4, "the messages of its turn");
      const { startedAt, sealedAt, reason, providerCalls } = turn ?? {};
      const { metrics: _m, turnId: _t, firstSeq: _f, lastSeq: _l, ...expected } = turns[0] ?? {};
      checkEqual({ startedAt, sealedAt, reason, providerCalls }, expected, "its turn");
      checkEqual(await s.store.lastCall(id), turns[0]?.providerCalls[0], "its last call");
      checkEqual((await s.found("Outside")).length, 1, "what a search finds");
    },
  },
  {
    name: "an imported conversation continues where it ended",
    async run(s) {
      const input = imported();
      const { conversationId: id } = input;
      await s.store.importConversation(input);
      const turn = await s.start(id);
      checkEqual([turn.entries[0]?.firstSeq, turn.fence], [7, 1], "the seq and the fence of its next turn");
      await s.seal(turn, [message(id, { role: "assistant", text: "More" })]);
      checkEqual((await s.texts(id)).slice(-2), ["Hello", "More"], "the end of its log");
      const record = await s.store.readTurn(id, turn.turnId);
      checkEqual(record?.turn.ordinal, 2, "the ordinal of its next turn");
      const fork = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: 5, newId: fork });
      checkEqual((await s.texts(fork)).length, 4, "a fork of it");
    },
  },
  {
    name: "the same import again changes nothing, also when the conversation continued meanwhile",
    async run(s) {
      const input = imported();
      const { conversationId: id } = input;
      const first = await s.store.importConversation(input);
      checkEqual(await s.otherStore.importConversation(input), { ...first, created: false }, "the second");
      await s.turn(id);
      await s.store.set(id, { title: "Renamed" });
      const third = await s.store.importConversation(input);
      checkEqual([third.created, third.conversation.title], [false, "Renamed"], "the third");
      checkEqual((await s.texts(id)).length, 7, "its log");
    },
  },
  {
    name: "another log under a used id is refused as a conflict, and nothing is changed",
    async run(s) {
      const input = imported();
      const { conversationId: id, entries, turns } = input;
      await s.store.importConversation(input);
      const [first, ...rest] = entries;
      check(first !== undefined, "there is a first entry");
      const others: Partial<ImportInput>[] = [
        { entries: [{ ...first, message: message(id, { id: first.message.id, text: "Else" }) }, ...rest] },
        { entries: [{ ...first, message: message(id, { text: "Question" }) }, ...rest] },
        { entries: [...entries, { message: message(id), firstSeq: 7 }] },
        { turns: turns.map((turn) => ({ ...turn, metrics: turnMetrics(turn.turnId, { contextSize: 1 }) })) },
      ];
      for (const other of others) {
        const conflict = s.store.importConversation({ ...input, ...other });
        await refused(conflict, "message_conflict", "another log");
      }
      checkEqual((await s.log(id)).length, 5, "the log");
      const { conversationId: running } = await s.start();
      const conflict = s.store.importConversation(imported(running));
      await refused(conflict, "message_conflict", "the id of a conversation of one's own");
    },
  },
  {
    name: "what one owner imported another one can import too, and neither sees the other's",
    async run(s) {
      const input = imported();
      const { conversationId: id } = input;
      await s.store.importConversation(input);
      const stranger = s.root.forOwner(`stranger-${s.owner}`);
      checkEqual(await stranger.get(id), null, "what another owner sees");
      check((await stranger.importConversation(input)).created, "another owner's import is new");
      await stranger.set(id, { title: "Its own" });
      checkEqual((await s.store.get(id))?.title, input.settings.title, "the first one's title");
      await stranger.remove(id, { cascade: true });
      check((await s.store.get(id)) !== null, "the first one's stays");
    },
  },
  {
    name: "what is no log is refused, and leaves nothing behind",
    async run(s) {
      const id = uniqueId();
      const good = imported(id);
      const [first, second, ...rest] = good.entries;
      const [turn] = good.turns;
      check(first !== undefined && second !== undefined && turn !== undefined, "there are entries");
      const bad: Partial<ImportInput>[] = [
        { entries: [first, ...rest] },
        { entries: [second, ...rest] },
        { entries: [first, { ...second, message: { ...second.message, id: first.message.id } }, ...rest] },
        { entries: [{ ...first, message: message(uniqueId()) }, second, ...rest] },
        { turns: [] },
        { turns: [turn, turn] },
        { turns: [{ ...turn, lastSeq: 4 }] },
        { turns: [turn, { ...turn, turnId: uniqueId(), firstSeq: 7, lastSeq: 7 }] },
        { parent: { id: uniqueId(), seq: 7 } },
        { parent: { id: uniqueId(), seq: -1 } },
        { parent: { id: "not an id", seq: 1 } },
      ];
      for (const [index, each] of bad.entries()) {
        const made = s.store.importConversation({ ...good, ...each });
        await refused(made, "invalid_request", `what is no log (${index})`);
      }
      const odd = s.store.importConversation({ ...good, conversationId: "not an id" });
      await refused(odd, "invalid_request", "an odd id");
      checkEqual(await s.store.get(id), null, "the conversation");
    },
  },
  {
    name: "of two who import the same at once, one makes it",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 10; round++) {
        const input = imported();
        const made = await Promise.all([
          s.store.importConversation(input),
          s.otherStore.importConversation(input),
        ]);
        checkEqual(made.map(({ created }) => created).toSorted(), [false, true], "who made it");
        checkEqual((await s.log(input.conversationId)).length, 5, "its log");
      }
    },
  },
  {
    name: "the id of a removed conversation can be imported to, also while a fork shares its rows",
    async run(s) {
      const { conversationId: id, lastSeq } = await s.turn(uniqueId(), "before");
      const fork = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: lastSeq, newId: fork });
      await s.store.remove(id, { cascade: false });
      const { created } = await s.store.importConversation(imported(id));
      check(created, "it is new");
      checkEqual((await s.log(id)).length, 5, "its log");
      checkEqual(await s.texts(fork), ["before", "Answer to before"], "the fork");
    },
  },
  {
    name: "summaries keep what they stand for, those that were undone stay undone, and can be undone without an archive",
    async run(s) {
      const id = uniqueId();
      const summary = (text: string) => message(id, { role: "system", text });
      const base = imported(id, { turns: [], entries: [] });
      const { conversation } = await s.store.importConversation({
        ...base,
        entries: [
          { message: message(id, { text: "a" }), firstSeq: 1 },
          { message: message(id, { role: "assistant", text: "b" }), firstSeq: 2 },
          { message: summary("first"), firstSeq: 3, covers: { fromSeq: 1, toSeq: 1 } },
          { message: summary("gone"), firstSeq: 4, covers: { fromSeq: 1, toSeq: 2 }, inForce: false },
          { message: summary("last"), firstSeq: 5, covers: { fromSeq: 1, toSeq: 2 } },
        ],
      });
      checkEqual([conversation.compacted, conversation.compactedFrom], [true, undefined], "its archive");
      const log = await s.log(id);
      checkEqual(textsOf(log), ["a", "b", "first", "last"], "what is read for the model");
      checkEqual(log.at(-1)?.covers, { fromSeq: 1, toSeq: 2 }, "what the last one covers");
      const { chunks } = await s.store.readChunks({ conversationId: id });
      checkEqual(
        chunks.map(({ chunk }) => (chunk.type === "system" ? chunk.covers?.lastSeq : undefined)),
        [undefined, undefined, 1, 2, 2],
        "what chunks say",
      );
      await s.store.undoCompaction(id);
      checkEqual(textsOf(await s.log(id)), ["a", "b", "first"], "after undoing");
      const undone = await s.store.undoCompaction(id);
      checkEqual(undone.compacted, undefined, "whether a summary is in force");
      await refused(s.store.undoCompaction(id), "nothing_to_compact", "undoing what is undone");
    },
  },
  {
    name: "a conversation with every kind of part is exported, imported and exported again as the same",
    async run(s) {
      const turn = await s.start(uniqueId(), { settings: { instructions: "i", metadata: { a: 1 } } });
      const id = turn.conversationId;
      const calling = message(id, { role: "assistant", content: [...everyPart.slice(0, 3)] });
      await s.commit(turn, [calling], { stepId: "a step of its own" });
      await s.commit(turn, [message(id, { role: "tool", content: everyPart.slice(3, 4) })]);
      const odd = [...everyPart.slice(4), { type: "text", text: "\u0000\ud800", "x-note": 1 }];
      const last = message(id, { role: "assistant", content: odd as MessageContentPart[] });
      await s.seal(turn, [last], { metrics: { contextSize: 9 }, providerCalls: [providerCall()] });
      const other = await roundTrip(s, id);
      checkEqual(
        await s.store.lastCall(other),
        { ...(await s.store.lastCall(id)), finishReason: undefined },
        "its call",
      );
    },
  },
  {
    name: "an open turn is left out of an export, and comes with the next one",
    async run(s) {
      const { conversationId: id, lastSeq } = await s.turn();
      const turn = await s.start(id);
      const [header] = await lines(s.store, id);
      checkEqual(header?.type === "conversation" && header.lastSeq, lastSeq, "the last seq");
      checkEqual((await s.log(await roundTrip(s, id))).length, 2, "the messages");
      await s.seal(turn);
      checkEqual((await s.log(await roundTrip(s, id))).length, 3, "the messages after the seal");
    },
  },
  {
    name: "a fork is exported with what it inherited and the name of its parent, and owns its rows once imported",
    async run(s) {
      const { conversationId: id, lastSeq } = await s.turn(uniqueId(), "shared");
      await s.turn(id, "not shared");
      const fork = uniqueId();
      await s.store.fork({ conversationId: id, atSeq: lastSeq, newId: fork });
      await s.turn(fork, "own");
      const other = await roundTrip(s, fork);
      await s.store.remove(id, { cascade: true });
      checkEqual((await s.texts(other)).length, 4, "its log");
      const { parentId, parentSeq } = (await s.store.get(other)) ?? {};
      checkEqual([parentId, parentSeq], [id, lastSeq], "its parent");
      const { conversations } = await s.store.list({ parent: id, limit: 5 });
      checkEqual(
        conversations.map((one) => one.id),
        [other],
        "the forks of its parent",
      );
      checkEqual((await s.store.metrics(other)).length, 2, "its turns");
    },
  },
  {
    name: "an export that is imported where it came from is there already",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const exported = read(await lines(s.store, id));
      await s.turn(id);
      checkEqual((await s.store.importConversation(exported)).created, false, "what it makes");
      checkEqual((await s.texts(id)).length, 4, "the log");
    },
  },
  {
    name: "whatever a log holds, it is exported, imported and exported again as the same",
    async run(s) {
      for (let seed = 1; seed <= 12; seed++) {
        const id = await randomLog(s, seed);
        const outcome = await outcomeOf(roundTrip(s, id));
        check("value" in outcome, `seed ${seed} is refused`);
        await s.store.remove(id, { cascade: true });
      }
    },
  },
];
