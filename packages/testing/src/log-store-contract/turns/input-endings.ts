import { inputEntryOfMessage, inputMessageId } from "@parley/core/messages";
import { check, checkEqual } from "../../contract-case.js";
import {
  heldTurn,
  outcomeOf,
  refused,
  resultMessage,
  type TopicCase,
  turnMetrics,
  uniqueId,
} from "../scenario.js";
import { ask, inputsIn, requestOf, respond, waiting } from "../waiting-turn.js";

/** Cases of turns that wait: requests that end without an answer, and other work of the conversation meanwhile. */
export const inputEndingCases: readonly TopicCase[] = [
  {
    name: "a request that is not answered in time is denied, and its turn can be claimed",
    async run(s) {
      const turn = await waiting(s, [{ expiresMs: 1_000 }, {}]);
      await s.root.expireInputs(10);
      checkEqual((await s.store.get(turn.conversationId))?.active?.inputs?.count, 2, "before its time");
      await s.advance(1_100);
      checkEqual((await s.store.pendingInputs({ limit: 10 })).inputs.length, 1, "what is pending");
      check((await s.root.expireInputs(10)).includes(turn.log), "the log is named");
      checkEqual(await s.root.expireInputs(10).then((logs) => logs.includes(turn.log)), false, "again");
      const [denied] = await s.store.readResponses(heldTurn(turn));
      checkEqual([denied?.decision, denied?.via, denied?.by], ["deny", "expiry", undefined], "its response");
      const [claimed] = await s.claimMine(s.node);
      checkEqual(claimed?.turnId, turn.turnId, "the claim");
      const late = await respond(s, turn, 0);
      checkEqual([late.outcome, late.response.via], ["decided", "expiry"], "a late response");
      checkEqual((await respond(s, turn, 1)).outcome, "recorded", "the other request");
    },
  },
  {
    name: "a response after its time is answered as expired, also before the expiry was noticed",
    async run(s) {
      const turn = await waiting(s, [{ expiresMs: 1_000 }]);
      await s.advance(1_100);
      const late = await respond(s, turn, 0);
      checkEqual([late.outcome, late.response.via], ["decided", "expiry"], "the response");
      checkEqual((await s.store.readResponses(heldTurn(turn))).length, 1, "what the next holder writes");
      const [claimed] = await s.claimMine(s.node);
      checkEqual(claimed?.turnId, turn.turnId, "the turn that is claimed");
    },
  },
  {
    name: "a stop takes a turn out of waiting, and its seal answers what is open",
    async run(s) {
      const turn = await waiting(s, [{}, {}]);
      const id = turn.conversationId;
      const lease = await s.store.requestStop(id);
      checkEqual(
        [lease?.fence, lease?.stopRequested, lease?.isFree],
        [turn.fence + 1, true, true],
        "the lease",
      );
      const again = await s.store.requestStop(id);
      checkEqual([again?.fence, again?.isFree], [turn.fence + 1, undefined], "a second stop");
      const [claimed] = await s.claimMine(s.node);
      checkEqual([claimed?.turnId, claimed?.stopRequested], [turn.turnId, true], "the claim");
      const held = { ...turn, fence: turn.fence + 2 };
      const sealed = await s.seal(held, [resultMessage(id, "call-0")], { reason: "aborted" });
      checkEqual(inputsIn(sealed.entries), ["deny stop", "deny stop"], "the entries of the seal");
      checkEqual(
        await s.seal(held, [resultMessage(id, "call-0")], { reason: "aborted" }).then((r) => r.lastSeq),
        sealed.lastSeq,
        "the seal again",
      );
      checkEqual((await s.store.get(id))?.status, "idle", "the status");
      checkEqual(await s.store.pendingInputs({ limit: 10 }), { inputs: [] }, "what is pending");
      const late = await respond(s, turn, 1);
      checkEqual([late.outcome, late.response.via], ["decided", "stop"], "a late response");
      checkEqual((await s.texts(id)).length, 8, "messages without a gap");
    },
  },
  {
    name: "a seal writes a response that was recorded and not yet in the log",
    async run(s) {
      const turn = await s.start();
      const requests = [requestOf(turn, 0), requestOf(turn, 1)];
      await ask(s, turn, requests, { wait: false });
      const requestIds = requests.map(({ requestId }) => requestId);
      await respond(s, { ...turn, requestIds }, 1, { note: "yes" });
      const { entries } = await s.seal(turn, [], { reason: "error" });
      checkEqual(inputsIn(entries).sort(), ["allow http", "deny end"], "the entries");
    },
  },
  {
    name: "a turn that waits counts as open: no second turn, fork, compaction or undo",
    async run(s) {
      const first = await s.turn();
      const id = first.conversationId;
      const turn = await s.start(id);
      await ask(s, turn, [requestOf(turn, 0)]);
      const refusal = await refused(s.send(id, { ifBusy: "reject" }), "turn_active", "a second send");
      checkEqual(
        refusal.details?.requests,
        [{ requestId: `${turn.turnId}.0.0`, kind: "approval", toolName: "weather" }],
        "the requests that it names",
      );
      await s.enqueue(id);
      await refused(
        s.store.lease({ conversationId: id, node: s.node, turnId: uniqueId() }),
        "turn_active",
        "a compaction",
      );
      await refused(s.store.undoCompaction(id), "turn_active", "an undo");
      const { lastSeq = 0 } = (await s.store.get(id)) ?? {};
      await refused(
        s.store.fork({ conversationId: id, atSeq: lastSeq, newId: uniqueId() }),
        "invalid_request",
        "a fork at its end",
      );
      const { conversation } = await s.store.fork({
        conversationId: id,
        atSeq: first.lastSeq,
        newId: uniqueId(),
      });
      await refused(
        respond(s, { ...turn, conversationId: conversation.id, requestIds: [`${turn.turnId}.0.0`] }, 0),
        "conversation_not_found",
        "a response in the fork",
      );
      const { chunks } = await s.store.readChunks({ conversationId: id });
      checkEqual(chunks.at(-1)?.seq, first.lastSeq, "what is sealed");
      await s.store.remove(id, { cascade: false });
      checkEqual(
        await s.store.pendingInputs({ limit: 10 }),
        { inputs: [] },
        "what is pending after it was deleted",
      );
    },
  },
  {
    name: "a message may take the place of a turn that waits, in one transaction",
    async run(s) {
      const turn = await waiting(s);
      const id = turn.conversationId;
      await s.enqueue(id, { text: "queued", mode: "queue" });
      const sealWaiting = {
        turnId: turn.turnId,
        fence: turn.fence,
        messages: [resultMessage(id, "call-0")],
        stepId: `${turn.turnId}.0`,
        reason: "aborted" as const,
        metrics: turnMetrics(turn.turnId),
        providerCalls: [],
        via: "send" as const,
      };
      const stale = {
        ...s.admission(id, { text: "new" }),
        sealWaiting: { ...sealWaiting, fence: turn.fence + 1 },
      };
      await refused(s.store.admit(stale), "stale_fence", "with another fence");
      const admission = { ...s.admission(id, { text: "new" }), sealWaiting };
      const outcome = await s.store.admit(admission);
      check(outcome.kind === "started", "the message opens its turn");
      checkEqual(inputsIn(outcome.ended?.sealed.entries ?? []), ["deny send"], "the entries of the seal");
      checkEqual((await s.store.admit(admission)).kind, "known", "the same again");
      const record = await s.store.get(id);
      checkEqual([record?.queuePaused, record?.queue.length], [false, 1], "the queue");
      checkEqual((await s.store.readTurn(id, turn.turnId))?.turn.reason, "aborted", "the reason");
      checkEqual((await respond(s, turn, 0)).response.via, "send", "a late response");
    },
  },
  {
    name: "ending a turn that waits is nothing where none waits any more",
    async run(s) {
      const turn = await waiting(s);
      const id = turn.conversationId;
      await respond(s, turn, 0);
      const sealWaiting = {
        turnId: turn.turnId,
        fence: turn.fence,
        messages: [],
        reason: "aborted" as const,
        metrics: turnMetrics(turn.turnId),
        providerCalls: [],
      };
      const outcome = await s.store.admit({ ...s.admission(id), sealWaiting });
      checkEqual(outcome.kind, "queued", "a message while the turn runs again");
    },
  },
  {
    name: "an approval may stand for later calls, until it is revoked or its conversation is gone",
    async run(s) {
      const turn = await waiting(s, [{ remember: true }, {}, {}, {}]);
      const id = turn.conversationId;
      await respond(s, turn, 0);
      await respond(s, turn, 1, { scope: { in: "owner", where: { city: "Os*" } } });
      await respond(s, turn, 2, { decision: "deny", scope: { in: "owner" } });
      await respond(s, turn, 3);
      const all = await s.store.grants({});
      const shown = all.map(({ toolName, toolHash, scope, conversationId, requestId, by }) => [
        toolName,
        toolHash,
        scope,
        conversationId,
        requestId,
        by?.keyId,
      ]);
      checkEqual(
        shown.sort((left, right) => (String(left[4]) < String(right[4]) ? -1 : 1)),
        [
          ["weather", "cd34", { in: "conversation" }, id, turn.requestIds[0], "k1"],
          ["weather", "cd34", { in: "owner", where: { city: "Os*" } }, undefined, turn.requestIds[1], "k1"],
        ],
        "the standing approvals",
      );
      const here = await s.store.grants({ toolName: "weather", conversationId: id });
      const there = await s.store.grants({ toolName: "weather", conversationId: uniqueId() });
      const other = await s.store.grants({ toolName: "time", conversationId: id });
      checkEqual([here.length, there.length, other.length], [2, 1, 0], "those that may hold for a call");
      const [grant] = there;
      checkEqual(
        await s.root.forOwner(uniqueId()).removeGrant(grant?.id ?? ""),
        false,
        "revoked by another owner",
      );
      checkEqual(await s.store.removeGrant(grant?.id ?? ""), true, "revoked");
      checkEqual(await s.store.removeGrant(grant?.id ?? ""), false, "revoked again");
      await s.seal({ ...turn, fence: turn.fence + 1 });
      const sealedSeq = (await s.store.get(id))?.sealedSeq ?? 0;
      const { conversation } = await s.store.fork({
        conversationId: id,
        atSeq: sealedSeq,
        newId: uniqueId(),
      });
      const inFork = await s.store.grants({ toolName: "weather", conversationId: conversation.id });
      checkEqual(inFork, [], "those of a fork");
      await s.store.remove(id, { cascade: false });
      checkEqual(await s.store.grants({}), [], "after the conversation was deleted");
    },
  },
  {
    name: "another owner sees nothing of a request and cannot answer it",
    async run(s) {
      const turn = await waiting(s);
      const other = s.root.forOwner(`owner-${uniqueId()}`);
      checkEqual(await other.readInput(turn.conversationId, turn.requestIds[0] ?? ""), null, "the request");
      checkEqual(await other.pendingInputs({ limit: 10 }), { inputs: [] }, "the pending ones");
      await refused(respond(s, turn, 0, { through: other }), "conversation_not_found", "a response");
      const theirs = await outcomeOf(other.pendingInputs({ conversationId: turn.conversationId, limit: 10 }));
      checkEqual(theirs, { code: "conversation_not_found" }, "those of the conversation");
    },
  },
  {
    name: "pending requests come oldest first, of all conversations or of one",
    async run(s) {
      const first = await waiting(s, [{}, {}]);
      await s.advance(5);
      const second = await waiting(s);
      const ids = async (query: { conversationId?: string; limit: number }) =>
        (await s.store.pendingInputs(query)).inputs.map(({ requestId }) => requestId);
      checkEqual(await ids({ limit: 10 }), [...first.requestIds, ...second.requestIds], "all");
      checkEqual(await ids({ limit: 1 }), first.requestIds.slice(0, 1), "the oldest");
      checkEqual(await ids({ conversationId: second.conversationId, limit: 10 }), second.requestIds, "one's");
      await respond(s, first, 0);
      checkEqual((await ids({ limit: 10 })).length, 2, "after a response");
    },
  },
  {
    name: "the time that a turn waited is counted, and a change of what it waits for is a change",
    async run(s) {
      const turn = await waiting(s);
      const id = turn.conversationId;
      const { last } = await s.store.changed({ limit: 1 });
      await s.advance(50);
      await respond(s, turn, 0);
      const { conversations } = await s.store.changed({ since: last, limit: 10 });
      checkEqual(
        conversations.map((each) => each.id),
        [id],
        "what has changed",
      );
      const open = await s.store.readOpenTurn({ conversationId: id });
      check((open?.waitedMs ?? 0) >= 50, `it waited ${open?.waitedMs} ms`);
      checkEqual(open?.waitingSince, undefined, "since when it waits");
    },
  },
  {
    name: "the tools of a turn's caller are kept with its choices, also while it waits in the queue",
    async run(s) {
      const tools = [
        { name: "page", description: "Shows", schema: { type: "object", properties: { z: {}, a: {} } } },
      ];
      const turn = await s.start(uniqueId(), { choices: { tools } });
      const id = turn.conversationId;
      checkEqual(turn.choices.tools, tools, "of the turn that was opened");
      const open = await s.store.readOpenTurn({ conversationId: id });
      checkEqual(
        JSON.stringify(open?.choices.tools),
        JSON.stringify(tools),
        "of the open turn, in the same order",
      );
      await s.enqueue(id, { mode: "queue", choices: { tools, model: "m" } });
      checkEqual((await s.store.get(id))?.queue[0]?.choices, { tools, model: "m" }, "in the queue");
      const { next } = await s.seal(turn);
      checkEqual(next?.choices, { tools, model: "m" }, "of the next turn");
    },
  },
  {
    name: "a request with hostile and large values is given back as it was",
    async run(s) {
      const argumentsText = JSON.stringify({ text: `\u0000\ud800 \u202e ${"x".repeat(200_000)}` });
      const turn = await waiting(s, [{ argumentsText, reason: "\u0000\ud800 'quote\\" }]);
      const [requestId = ""] = turn.requestIds;
      const read = await s.store.readInput(turn.conversationId, requestId);
      checkEqual(
        [read?.argumentsText, read?.reason],
        [argumentsText, "\u0000\ud800 'quote\\"],
        "the request",
      );
      const note = "\u0000\ud800 note";
      const { response } = await respond(s, turn, 0, {
        decision: "answer",
        value: { z: "\u0000", a: [1.5] },
        note,
      });
      checkEqual([response.value, response.note], [{ z: "\u0000", a: [1.5] }, note], "the response");
      await s.seal({ ...turn, fence: turn.fence + 1 });
      const id = inputMessageId({ type: "input-response", requestId });
      const entry = (await s.log(turn.conversationId)).find(({ message: said }) => said.id === id);
      checkEqual(entry === undefined ? undefined : inputEntryOfMessage(entry.message), response, "its entry");
    },
  },
];
