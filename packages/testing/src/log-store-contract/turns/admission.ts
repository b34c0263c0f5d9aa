import { countForRow } from "@parley/core/messages";
import type { AdmitOutcome } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import {
  heldTurn,
  message,
  outcomeOf,
  refused,
  type Scenario,
  type TopicCase,
  textsOf,
  uniqueId,
} from "../scenario.js";

const parallel = 100;

/** Cases of sending: it opens one turn, adds to the queue, or is refused, and never does anything twice. */
export const admissionCases: readonly TopicCase[] = [
  {
    name: "a message to an unknown conversation makes it and opens a turn",
    async run(s) {
      const id = uniqueId();
      const sent = message(id, { text: "First" });
      const turnId = uniqueId();
      const outcome = await s.send(id, {
        message: sent,
        turnId,
        title: "From the text",
        settings: { model: "credential/model", metadata: { tag: ["a"] }, compactThreshold: 0 },
        choices: { reasoningEffort: "low" },
      });
      check(outcome.kind === "started", "the message opens a turn");
      check(outcome.created, "the conversation is made");
      checkEqual(outcome.turn.turnId, turnId, "the turn's id");
      checkEqual(
        outcome.turn.choices,
        { reasoningEffort: "low", model: "credential/model" },
        "the turn's choices, with the conversation's model",
      );
      const tokens = countForRow(sent);
      checkEqual(
        outcome.turn.entries,
        [{ message: sent, firstSeq: 1, lastSeq: 1, turnId, tokens }],
        "its rows",
      );
      const record = await s.store.get(id);
      checkEqual(record?.title, "From the text", "the title");
      checkEqual(record?.status, "active", "the status");
      checkEqual([record?.lastSeq, record?.sealedSeq], [1, 0], "last and sealed seq");
      checkEqual(
        [record?.model, record?.metadata, record?.compactThreshold],
        ["credential/model", { tag: ["a"] }, 0],
        "the settings",
      );
      checkEqual(record?.active?.turnId, turnId, "the active turn");
      checkEqual(record?.active?.purpose, "turn", "the purpose of the lease");
      checkEqual(record?.active?.node, s.node, "the node that holds it");
      checkEqual(record?.active?.fence, outcome.turn.fence, "the fence");
      checkEqual(record?.active?.startedAt, outcome.turn.startedAt, "the time of its start");
      checkEqual(record?.active?.stopRequested, false, "whether a stop was requested");
      checkEqual([record?.queue, record?.queuePaused], [[], false], "the queue");
    },
  },
  {
    name: "a message to an idle conversation opens a turn and leaves its settings and title alone",
    async run(s) {
      const id = uniqueId();
      await s.store.create({ id, settings: { title: "Given", model: "a/one" } });
      const outcome = await s.send(id, { settings: { model: "b/two" }, title: "From the text" });
      check(outcome.kind === "started" && !outcome.created, "a turn opens in what is there");
      const record = await s.store.get(id);
      checkEqual([record?.title, record?.model], ["Given", "a/one"], "title and model");
      checkEqual(record?.active?.model, "a/one", "the model of the running turn");
    },
  },
  {
    name: "the first message gives its title to a conversation without one, later ones do not",
    async run(s) {
      const id = uniqueId();
      await s.store.create({ id, settings: {} });
      checkEqual((await s.store.get(id))?.title, "", "the title before");
      const turn = await s.start(id, { title: "First" });
      await s.seal(turn);
      await s.start(id, { title: "Second" });
      checkEqual((await s.store.get(id))?.title, "First", "the title after");
    },
  },
  {
    name: "a message takes one seq per part, and a message without parts takes one",
    async run(s) {
      const id = uniqueId();
      const parts = [
        { type: "text" as const, text: "Look" },
        { type: "file" as const, mediaType: "image/png", data: "AAAA" },
        { type: "text" as const, text: "there" },
      ];
      const first = await s.start(id, { message: message(id, { content: parts }) });
      checkEqual([first.entries[0]?.firstSeq, first.entries[0]?.lastSeq], [1, 3], "three parts");
      await s.seal(first);
      const second = await s.start(id, { message: message(id, { content: [] }) });
      checkEqual([second.entries[0]?.firstSeq, second.entries[0]?.lastSeq], [4, 4], "no part");
    },
  },
  {
    name: "the same message again is known, while its turn runs and after",
    async run(s) {
      const id = uniqueId();
      const messageId = uniqueId();
      const turn = await s.start(id, { messageId });
      const known: AdmitOutcome = { kind: "known", outcome: "started", turnId: turn.turnId };
      checkEqual(await s.send(id, { messageId }), known, "while it runs");
      checkEqual(await s.send(id, { messageId, ifBusy: "reject" }), known, "also where busy is refused");
      await s.seal(turn);
      checkEqual(await s.send(id, { messageId }), known, "when it is sealed");
      checkEqual((await s.texts(id)).length, 1, "the number of rows");
      checkEqual((await s.store.get(id))?.status, "idle", "the status");
    },
  },
  {
    name: "a queued message again is known, and names its turn once it has one",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const messageId = await s.enqueue(id, { mode: "queue" });
      checkEqual(await s.send(id, { messageId }), { kind: "known", outcome: "queued" }, "while it waits");
      checkEqual(await s.store.findReceipt(id, messageId), { outcome: "queued" }, "its receipt");
      const { next } = await s.seal(turn);
      const known = { outcome: "queued", turnId: next?.turnId };
      checkEqual(await s.send(id, { messageId }), { kind: "known", ...known }, "when its turn runs");
      checkEqual(await s.store.findReceipt(id, messageId), known, "its receipt then");
      checkEqual((await s.store.queue(id, { op: "list" })).entries, [], "the queue");
    },
  },
  {
    name: "a message id that comes with another body is refused, and changes nothing",
    async run(s) {
      const id = uniqueId();
      const messageId = uniqueId();
      const turn = await s.start(id, { messageId, text: "One" });
      await refused(s.send(id, { messageId, text: "Two" }), "message_conflict", "while it runs");
      const queuedId = await s.enqueue(id, { text: "Three" });
      await refused(s.send(id, { messageId: queuedId, text: "Four" }), "message_conflict", "while it waits");
      await s.seal(turn);
      const before = await s.store.get(id);
      await refused(s.send(id, { messageId, text: "Two" }), "message_conflict", "when it is sealed");
      checkEqual(await s.store.get(id), before, "the conversation");
    },
  },
  {
    name: "a busy conversation refuses where asked to, and leaves nothing behind",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const messageId = uniqueId();
      const before = await s.store.get(id);
      await refused(s.send(id, { messageId, ifBusy: "reject" }), "turn_active", "the second message");
      checkEqual(await s.store.get(id), before, "the conversation");
      checkEqual(await s.store.findReceipt(id, messageId), null, "its receipt");
      await s.seal(turn);
      const outcome = await s.send(id, { messageId, ifBusy: "reject" });
      checkEqual(outcome.kind, "started", "the same message later");
    },
  },
  {
    name: "a busy conversation queues in order, with mode, choices and time",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const first = message(id, { text: "One" });
      const outcome = await s.send(id, { message: first, choices: { model: "a/one" }, mode: "steer" });
      check(outcome.kind === "queued", "the message waits");
      checkEqual(outcome.turnId, turn.turnId, "the running turn");
      const secondId = await s.enqueue(id, { mode: "queue" });
      const { entries, paused } = await s.store.queue(id, { op: "list" });
      checkEqual(outcome.queue.entries, entries.slice(0, 1), "the queue as the first message saw it");
      checkEqual([entries.map((entry) => entry.id), paused], [[first.id, secondId], false], "the queue");
      checkEqual(entries[0]?.message, first, "the waiting message");
      checkEqual(entries[0]?.choices, { model: "a/one" }, "its choices");
      checkEqual(
        entries.map((entry) => entry.mode),
        ["steer", "queue"],
        "the modes",
      );
      check((entries[0]?.queuedAt ?? 0) >= turn.startedAt, "it was queued after the turn began");
      checkEqual((await s.store.get(id))?.queue, entries, "the queue in the record");
      checkEqual((await s.store.get(id))?.lastSeq, 1, "the last seq: what waits has none");
    },
  },
  {
    name: "a full queue refuses and leaves nothing behind, until an entry is removed",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const first = await s.enqueue(id, { queueLength: 2 });
      await s.enqueue(id, { queueLength: 2 });
      const messageId = uniqueId();
      await refused(s.send(id, { messageId, queueLength: 2 }), "queue_full", "the third message");
      checkEqual(await s.store.findReceipt(id, messageId), null, "its receipt");
      checkEqual(await s.send(id, { messageId: first }), { kind: "known", outcome: "queued" }, "a known one");
      await s.store.queue(id, { op: "remove", id: first });
      checkEqual((await s.send(id, { messageId, queueLength: 2 })).kind, "queued", "below the limit again");
    },
  },
  {
    name: "a message id that stands in the log without a receipt is refused",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const answer = message(id, { role: "assistant" });
      await s.seal(turn, [answer]);
      await refused(s.send(id, { messageId: answer.id }), "message_conflict", "an answer's id");
      checkEqual((await s.texts(id)).length, 2, "the number of rows");
    },
  },
  {
    name: "a turn's id is used once in its conversation",
    async run(s) {
      const { conversationId: id, turnId } = await s.turn();
      await refused(s.send(id, { turnId }), "invalid_request", "a message with the id of a sealed turn");
      const lease = s.store.lease({ conversationId: id, node: s.node, turnId });
      await refused(lease, "invalid_request", "a compaction with it");
      const turn = await s.start(id);
      const waiting = await s.enqueue(id);
      await refused(s.seal(turn, [], { next: { turnId } }), "invalid_request", "a next turn with it");
      checkEqual((await s.store.queue(id, { op: "list" })).entries[0]?.id, waiting, "what waits");
      checkEqual((await s.store.get(id))?.active?.turnId, turn.turnId, "the running turn");
      await s.seal(turn);
    },
  },
  {
    name: "a message to a closed conversation opens it again",
    async run(s) {
      const { conversationId: id } = await s.turn();
      checkEqual((await s.store.set(id, { closed: true })).status, "closed", "the status when closed");
      await s.start(id);
      checkEqual((await s.store.get(id))?.status, "active", "the status after the message");
    },
  },
  {
    name: "a message that names another conversation, or an impossible id, is refused and makes nothing",
    async run(s) {
      const id = uniqueId();
      const elsewhere = s.send(id, { message: message(uniqueId()) });
      await refused(elsewhere, "invalid_request", "a message of another conversation");
      checkEqual(await s.store.get(id), null, "the conversation");
      for (const odd of ["", "a b", "a/b", "é", "x".repeat(129), "a\u0000"]) {
        await refused(s.send(odd), "invalid_request", `a conversation called ${JSON.stringify(odd)}`);
        const created = s.store.create({ id: odd, settings: {} });
        await refused(created, "invalid_request", `making one called ${JSON.stringify(odd)}`);
      }
      await s.start(`${id}:A-z.0_${"x".repeat(128 - id.length - 7)}`);
    },
  },
  {
    name: "a message moves the last activity, a queued one too is a change",
    async run(s) {
      const { conversationId: id } = await s.turn();
      const idle = await s.store.get(id);
      await s.advance(20);
      await s.start(id);
      const busy = await s.store.get(id);
      check((busy?.lastActivityAt ?? 0) > (idle?.lastActivityAt ?? 0), "the activity moves on");
      check((busy?.changedAt ?? 0) > (idle?.changedAt ?? 0), "the change is seen");
      await s.enqueue(id);
      check(((await s.store.get(id))?.changedAt ?? 0) > (busy?.changedAt ?? 0), "queueing is seen");
    },
  },
  {
    name: `${parallel} messages at once give one turn and ${parallel - 1} in the queue, none lost`,
    twoHandles: true,
    async run(s) {
      const id = uniqueId();
      const outcomes = await Promise.all(manySends(s, id, "queue"));
      const started = outcomes.filter((outcome) => "value" in outcome && outcome.value.kind === "started");
      const queued = outcomes.filter((outcome) => "value" in outcome && outcome.value.kind === "queued");
      checkEqual([started.length, queued.length], [1, parallel - 1], "how many started and how many wait");
      const { entries } = await s.store.queue(id, { op: "list" });
      const said = [...(await s.texts(id)), ...entries.map((entry) => textsOf([entry])[0])];
      const all = Array.from({ length: parallel }, (_, index) => `Message ${index}`);
      checkEqual(said.toSorted(), all.toSorted(), "the messages in the log and in the queue");
    },
  },
  {
    name: `${parallel} messages at once that would rather be refused give one turn and refusals`,
    twoHandles: true,
    async run(s) {
      const id = uniqueId();
      const outcomes = await Promise.all(manySends(s, id, "reject"));
      const codes = outcomes.map((outcome) => ("code" in outcome ? outcome.code : outcome.value.kind));
      const expected = ["started", ...Array.from({ length: parallel - 1 }, () => "turn_active")];
      checkEqual(codes.toSorted(), expected.toSorted(), "the outcomes");
      checkEqual((await s.texts(id)).length, 1, "the number of rows");
    },
  },
  {
    name: "one message sent twenty times at once gives one row, one turn and the same receipt",
    twoHandles: true,
    async run(s) {
      const id = uniqueId();
      const messageId = uniqueId();
      const sends = Array.from({ length: 20 }, (_, index) =>
        s.send(id, { messageId, through: index % 2 === 0 ? s.root : s.second }),
      );
      const outcomes = await Promise.all(sends);
      const turnIds = outcomes.map((outcome) =>
        outcome.kind === "started" ? outcome.turn.turnId : outcome.turnId,
      );
      checkEqual(outcomes.filter(({ kind }) => kind === "started").length, 1, "the turns");
      checkEqual(outcomes.filter(({ kind }) => kind === "known").length, 19, "the repetitions");
      checkEqual(new Set(turnIds).size, 1, "how many turns they name");
      checkEqual((await s.texts(id)).length, 1, "the number of rows");
    },
  },
  {
    name: "one queued message sent twenty times at once waits once",
    twoHandles: true,
    async run(s) {
      const { conversationId: id } = await s.start();
      const messageId = uniqueId();
      const sends = Array.from({ length: 20 }, (_, index) =>
        s.send(id, { messageId, through: index % 2 === 0 ? s.root : s.second }),
      );
      const kinds = (await Promise.all(sends)).map(({ kind }) => kind);
      checkEqual(kinds.filter((kind) => kind === "queued").length, 1, "how many were queued");
      checkEqual(kinds.filter((kind) => kind === "known").length, 19, "how many were known");
      checkEqual((await s.store.queue(id, { op: "list" })).entries.length, 1, "the queue");
    },
  },
  {
    name: "a message that meets the end of a turn is neither lost nor doubled",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 20; round++) {
        const turn = await s.start();
        const id = turn.conversationId;
        const [outcome, sealed] = await Promise.all([
          s.send(id, { text: "Late", through: s.second }),
          s.seal(turn),
        ]);
        checkEqual(await s.texts(id), ["Hello", "Late"], "the log");
        if (outcome.kind === "queued") check(sealed.next !== undefined, "the seal opened its turn");
        else check(outcome.kind === "started", "it opened its own turn");
        const record = await s.store.get(id);
        checkEqual([record?.queue.length, record?.status], [0, "active"], "queue and status");
        const open = await s.store.readOpenTurn({ conversationId: id });
        check(open !== null, "its turn is open");
        await s.seal({ ...heldTurn(turn), turnId: open.turnId, fence: open.fence });
      }
    },
  },
];

function manySends(s: Scenario, id: string, ifBusy: "reject" | "queue") {
  return Array.from({ length: parallel }, (_, index) =>
    outcomeOf(
      s.send(id, {
        text: `Message ${index}`,
        ifBusy,
        mode: index % 3 === 0 ? "queue" : "steer",
        through: index % 2 === 0 ? s.root : s.second,
      }),
    ),
  );
}
