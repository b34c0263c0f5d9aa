import { countForRow } from "@parley/core/messages";
import { check, checkEqual } from "../../contract-case.js";
import {
  callingMessage,
  heldTurn,
  message,
  providerCall,
  refused,
  resultMessage,
  seqsOf,
  stepMetrics,
  type TopicCase,
  textsOf,
  turnMetrics,
  uniqueId,
} from "../scenario.js";

/** Cases of turns: their rows become durable step by step, and they end. */
export const turnCases: readonly TopicCase[] = [
  {
    name: "a commit writes rows behind what is there, with the turn and the step",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const calling = callingMessage(id, "call-1");
      const result = resultMessage(id, "call-1");
      const stepId = `${turn.turnId}.0`;
      const first = await s.commit(turn, [calling], { stepId });
      const place = { turnId: turn.turnId, stepId };
      checkEqual(
        first.entries,
        [{ message: calling, firstSeq: 2, lastSeq: 3, ...place, tokens: countForRow(calling) }],
        "the first rows",
      );
      checkEqual([first.promoted, first.stopRequested], [[], false], "what else it says");
      const second = await s.commit(turn, [result], { stepId });
      checkEqual(
        second.entries,
        [{ message: result, firstSeq: 4, lastSeq: 4, ...place, tokens: countForRow(result) }],
        "the second rows",
      );
      checkEqual(await s.texts(id), ["Hello", "I look it up [tool-call]", "[tool-result]"], "the log");
      const record = await s.store.get(id);
      checkEqual([record?.lastSeq, record?.sealedSeq], [4, 0], "last and sealed seq");
    },
  },
  {
    name: "a commit that is repeated writes nothing and answers the same",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      await s.enqueue(id, { text: "Steer" });
      const calling = callingMessage(id, "call-1");
      await s.commit(turn, [calling]);
      const results = [resultMessage(id, "call-1")];
      const first = await s.commit(turn, results, { promoteSteers: true });
      checkEqual(textsOf(first.promoted), ["Steer"], "what was promoted");
      await s.enqueue(id, { text: "Later" });
      const again = await s.commit(turn, results, { promoteSteers: true });
      checkEqual([again.entries, again.promoted], [first.entries, first.promoted], "the second answer");
      checkEqual(textsOf(again.queue.entries), ["Later"], "the queue");
      checkEqual((await s.commit(turn, [calling])).entries[0]?.firstSeq, 2, "the first commit again");
      checkEqual((await s.texts(id)).length, 4, "the number of rows");
    },
  },
  {
    name: "a commit made twice at once writes its rows once",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 10; round++) {
        const turn = await s.start();
        const id = turn.conversationId;
        await s.enqueue(id, { text: "Steer" });
        const messages = [message(id, { role: "assistant", text: "Answer" })];
        const answers = await Promise.all([
          s.commit(turn, messages, { promoteSteers: true }),
          s.commit(turn, messages, { promoteSteers: true, through: s.otherStore }),
        ]);
        checkEqual(answers[1], answers[0], "the two answers");
        checkEqual(await s.texts(id), ["Hello", "Answer", "Steer"], "the log");
      }
    },
  },
  {
    name: "steps and provider calls of a commit stay with the open turn",
    async run(s) {
      const turn = await s.start(uniqueId(), { choices: { model: "a/one", instructions: "Be brief" } });
      const id = turn.conversationId;
      const steps = [stepMetrics(turn.turnId, 0), stepMetrics(turn.turnId, 1)];
      const providerCalls = [providerCall({ stepId: `${turn.turnId}.0` }), providerCall()];
      await s.commit(turn, [callingMessage(id, "c")], { steps: steps.slice(0, 1), providerCalls: [] });
      await s.commit(turn, [resultMessage(id, "c")], { steps, providerCalls });
      const open = await s.store.readOpenTurn({ conversationId: id });
      checkEqual([open?.turnId, open?.fence, open?.node], [turn.turnId, turn.fence, s.node], "the turn");
      checkEqual(open?.choices, { model: "a/one", instructions: "Be brief" }, "its choices");
      checkEqual(open?.startedAt, turn.startedAt, "the time of its start");
      checkEqual(open?.steps, steps, "the steps");
      checkEqual(open?.providerCalls, providerCalls, "the calls");
      check(open?.providerCalls[0]?.createdAt instanceof Date, "a call's time is a Date");
      checkEqual(
        seqsOf(open?.entries ?? []),
        [
          [1, 1],
          [2, 3],
          [4, 4],
        ],
        "the rows",
      );
    },
  },
  {
    name: "a write with another fence or of another turn is refused and leaves no gap",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const late = () => [message(id, { role: "assistant", text: "Late" })];
      const older = { ...turn, fence: turn.fence - 1 };
      const newer = { ...turn, fence: turn.fence + 1 };
      const foreign = { ...turn, turnId: uniqueId() };
      for (const stale of [older, newer, foreign]) {
        await refused(s.commit(stale, late()), "stale_fence", "a commit");
        await refused(s.seal(stale, late()), "stale_fence", "a seal");
        await refused(s.store.release(heldTurn(stale)), "stale_fence", "a release");
      }
      const { entries } = await s.commit(turn, [message(id, { role: "assistant", text: "In time" })]);
      checkEqual(seqsOf(entries), [[2, 2]], "the next seqs");
      await s.seal(turn);
      await refused(s.commit(turn, late()), "stale_fence", "a commit after the seal");
      await refused(s.store.release(heldTurn(turn)), "stale_fence", "a release after the seal");
      checkEqual(await s.texts(id), ["Hello", "In time"], "the log");
    },
  },
  {
    name: "a commit with the id of another turn's message is refused",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const [first] = await s.log(id);
      const turn = await s.start(id);
      const taken = message(id, {
        role: "assistant",
        ...(first === undefined ? {} : { id: first.message.id }),
      });
      await refused(s.commit(turn, [message(id), taken]), "message_conflict", "the commit");
      await refused(s.seal(turn, [message(id), taken]), "message_conflict", "the seal");
      checkEqual((await s.texts(id)).length, 3, "the number of rows");
    },
  },
  {
    name: "a commit or a seal with a message of another conversation is refused as a whole",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const messages = [message(id, { role: "assistant" }), message(uniqueId(), { role: "assistant" })];
      await refused(s.commit(turn, messages), "invalid_request", "the commit");
      await refused(s.seal(turn, messages), "invalid_request", "the seal");
      checkEqual((await s.texts(id)).length, 1, "the number of rows");
      checkEqual((await s.store.get(id))?.status, "active", "the status");
    },
  },
  {
    name: "a seal writes the last rows and ends the turn",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      await s.commit(turn, [callingMessage(id, "c")]);
      const rest = [resultMessage(id, "c"), message(id, { role: "assistant", text: "Four degrees" })];
      const sealed = await s.seal(turn, rest, { metrics: { contextSize: 4_321 } });
      checkEqual([sealed.firstSeq, sealed.lastSeq], [1, 5], "the turn's seqs");
      checkEqual(
        sealed.entries.map((entry) => entry.message),
        rest,
        "the written rows",
      );
      checkEqual(
        seqsOf(sealed.entries),
        [
          [4, 4],
          [5, 5],
        ],
        "their seqs",
      );
      checkEqual([sealed.next, sealed.status], [undefined, "idle"], "what comes next");
      checkEqual(sealed.queue, { entries: [], paused: false }, "the queue");
      const record = await s.store.get(id);
      checkEqual([record?.lastSeq, record?.sealedSeq], [5, 5], "last and sealed seq");
      checkEqual([record?.status, record?.active], ["idle", undefined], "the state");
      checkEqual(record?.contextSize, 4_321, "the context size");
      checkEqual(await s.store.readOpenTurn({ conversationId: id }), null, "the open turn");
    },
  },
  {
    name: "rows that a commit has written are not written again by the seal",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const answer = message(id, { role: "assistant", text: "Answer" });
      await s.commit(turn, [answer]);
      const sealed = await s.seal(turn, [answer]);
      checkEqual([sealed.firstSeq, sealed.lastSeq], [1, 2], "the turn's seqs");
      checkEqual(seqsOf(sealed.entries), [[2, 2]], "the row");
      checkEqual(await s.texts(id), ["Hello", "Answer"], "the log");
    },
  },
  {
    name: "a seal that is repeated answers the same; with another fence it is stale",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const messages = [message(id, { role: "assistant", text: "Answer" })];
      const next = s.next();
      const first = await s.seal(turn, messages, { next });
      checkEqual(await s.seal(turn, messages, { next }), first, "the second answer");
      const later = { ...turn, fence: turn.fence + 1 };
      await refused(s.seal(later, messages, { next }), "stale_fence", "with another fence");
      checkEqual(await s.texts(id), ["Hello", "Answer"], "the log");
      checkEqual((await s.store.metrics(id)).length, 1, "the number of metrics");
    },
  },
  {
    name: "a seal that is repeated names the turn that it opened",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      await s.enqueue(id, { text: "Next", choices: { model: "a/two" } });
      const next = s.next();
      const first = await s.seal(turn, [], { next });
      check(first.next !== undefined, "a turn opened");
      checkEqual(first.next.turnId, next.turnId, "its id");
      checkEqual(await s.seal(turn, [], { next }), first, "the second answer");
      checkEqual(await s.texts(id), ["Hello", "Next"], "the log");
      const record = await s.store.get(id);
      checkEqual(record?.active?.turnId, next.turnId, "the running turn");
    },
  },
  {
    name: "the activity moves with every commit and with the seal",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const at = async () => (await s.store.get(id))?.lastActivityAt ?? 0;
      const started = await at();
      await s.advance(20);
      await s.commit(turn, [message(id, { role: "assistant" })]);
      const committed = await at();
      check(committed > started, "it moves with a commit");
      await s.advance(20);
      await s.seal(turn, [message(id, { role: "assistant" })]);
      check((await at()) > committed, "it moves with the seal");
    },
  },
  {
    name: "the context size is that of the newest turn that knows one",
    async run(s) {
      const id = uniqueId();
      checkEqual((await s.store.get((await s.turn(id)).conversationId))?.contextSize, undefined, "unknown");
      await s.seal(await s.start(id), [], { metrics: { contextSize: 1_000 } });
      await s.seal(await s.start(id), [], { metrics: {} });
      checkEqual((await s.store.get(id))?.contextSize, 1_000, "the context size");
      await s.seal(await s.start(id), [], { metrics: { contextSize: 500 } });
      checkEqual((await s.store.get(id))?.contextSize, 500, "the newest context size");
    },
  },
  {
    name: "a turn can be read while it runs and when it is sealed",
    async run(s) {
      const { conversationId: id, turnId: firstId } = await s.turn();
      const turn = await s.start(id, { choices: { reasoningEffort: "max" } });
      const running = await s.store.readTurn(id, turn.turnId);
      checkEqual(
        [running?.turn.status, running?.turn.firstSeq, running?.turn.lastSeq],
        ["running", 3, 3],
        "while it runs",
      );
      checkEqual([running?.turn.reason, running?.turn.sealedAt], [undefined, undefined], "what is not known");
      const providerCalls = [providerCall({ raw: { any: [1] } })];
      const metrics = turnMetrics(turn.turnId, { contextSize: 7, reason: "length" });
      await s.seal(turn, [message(id, { role: "assistant", text: "Cut" })], {
        reason: "length",
        metrics,
        providerCalls,
      });
      const sealed = await s.store.readTurn(id, turn.turnId);
      const expected = {
        turnId: turn.turnId,
        ordinal: 2,
        status: "sealed",
        reason: "length",
        choices: { reasoningEffort: "max" },
        firstSeq: 3,
        lastSeq: 4,
        startedAt: turn.startedAt,
        sealedAt: sealed?.turn.sealedAt,
        metrics,
        providerCalls,
      };
      checkEqual(sealed?.turn, expected, "the sealed turn");
      check((sealed?.turn.sealedAt ?? 0) >= turn.startedAt, "it was sealed after it began");
      checkEqual(textsOf(sealed?.entries ?? []), ["Hello", "Cut"], "its rows");
      checkEqual((await s.store.readTurn(id, firstId))?.turn.ordinal, 1, "the first turn's ordinal");
      checkEqual(await s.store.readTurn(id, uniqueId()), null, "a turn that never was");
    },
  },
  {
    name: "metrics are those of the sealed turns, in order, as they were given",
    async run(s) {
      const id = uniqueId();
      checkEqual((await s.store.create({ id, settings: {} })).created, true, "a new conversation");
      checkEqual(await s.store.metrics(id), [], "before any turn");
      const given = [];
      for (let index = 0; index < 3; index++) {
        const turn = await s.start(id);
        const metrics = turnMetrics(turn.turnId, { contextSize: index, durationMs: index + 0.5 });
        given.push(metrics);
        await s.seal(turn, [], { metrics });
      }
      await s.start(id);
      checkEqual(await s.store.metrics(id), given, "the metrics");
    },
  },
  {
    name: "the newest provider call is found in the open turn, else in the turns before it",
    async run(s) {
      const id = uniqueId();
      const calls = [providerCall(), providerCall(), providerCall()];
      const turn = await s.start(id);
      checkEqual(await s.store.lastCall(id), null, "before any call");
      await s.seal(turn, [], { providerCalls: calls.slice(0, 2) });
      checkEqual(await s.store.lastCall(id), calls[1], "after a turn");
      const second = await s.start(id);
      checkEqual(await s.store.lastCall(id), calls[1], "in a turn without calls");
      await s.commit(second, [message(id, { role: "assistant" })], { providerCalls: calls.slice(2) });
      checkEqual(await s.store.lastCall(id), calls[2], "after a commit");
    },
  },
  {
    name: "turns that run in many conversations at once number each one's rows without a gap",
    twoHandles: true,
    async run(s) {
      const ids = Array.from({ length: 12 }, () => uniqueId());
      await Promise.all(
        ids.map(async (id, index) => {
          const through = index % 2 === 0 ? s.store : s.otherStore;
          for (let round = 0; round < 3; round++) {
            const turn = await s.start(id);
            await s.commit(turn, [callingMessage(id, "c")], { through });
            await s.commit(turn, [resultMessage(id, "c")], { through });
            await s.seal(turn, [message(id, { role: "assistant" })], { through });
          }
        }),
      );
      for (const id of ids) {
        checkEqual((await s.texts(id)).length, 12, "the number of rows");
        checkEqual((await s.store.get(id))?.sealedSeq, 15, "the last sealed seq");
      }
    },
  },
];
