import { inputEntryOfMessage, inputMessage } from "@parley/core/messages";
import { check, checkEqual } from "../../contract-case.js";
import {
  batch,
  callingMessage,
  heldTurn,
  message,
  refused,
  resultMessage,
  type TopicCase,
  uniqueId,
} from "../scenario.js";
import { ask, inputsIn, requestOf, respond, responseTo, waiting } from "../waiting-turn.js";

/** Cases of turns that wait: requests and responses. */
export const inputCases: readonly TopicCase[] = [
  {
    name: "a turn that waits is open and held by no node: none claims it, and no look finds news",
    async run(s) {
      const turn = await waiting(s, [{}, { kind: "question", schema: { type: "string" }, reason: "Which?" }]);
      const id = turn.conversationId;
      const record = await s.store.get(id);
      checkEqual(record?.status, "active", "the status");
      checkEqual(record?.active?.node, "", "the holder");
      check(record?.active?.waitingSince !== undefined, "the record says since when it waits");
      checkEqual(record?.active?.inputs, { count: 2, kinds: ["approval", "question"] }, "what it waits for");
      checkEqual(await s.claimMine(s.node), [], "what a living node may claim");
      const { log, owner } = turn;
      const seq = record?.lastSeq ?? 0;
      const news = await s.root.news({ owners: [], conversations: [{ log, owner, seq }] });
      checkEqual(news.conversations, [], "news of it");
      checkEqual((await s.store.readTurn(id, turn.turnId))?.turn.status, "waiting", "the turn's status");
      const open = await s.store.readOpenTurn({ conversationId: id });
      check(open?.waitingSince !== undefined, "the open turn says since when it waits");
      checkEqual(
        open?.inputs.map(({ requestId, response }) => [requestId, response]),
        turn.requestIds.map((requestId) => [requestId, undefined]),
        "its requests",
      );
      checkEqual(inputsIn(await s.log(id)), ["request", "request"], "the entries");
    },
  },
  {
    name: "a request is read as it was written, the arguments byte for byte",
    async run(s) {
      const turn = await waiting(s, [
        { reason: "why", schema: { z: 1, a: [] }, remember: true, expiresMs: 60_000 },
      ]);
      const [requestId = ""] = turn.requestIds;
      const read = await s.store.readInput(turn.conversationId, requestId);
      const { createdAt = 0, expiresAt = 0, ...rest } = read ?? {};
      const { expiresMs: _, ...expected } = requestOf(turn, 0, {
        reason: "why",
        schema: { z: 1, a: [] },
        remember: true,
      });
      checkEqual(rest, { ...expected, turnId: turn.turnId }, "the request");
      checkEqual(expiresAt - createdAt, 60_000, "the time it has");
      checkEqual(await s.store.readInput(turn.conversationId, "another"), null, "an unknown one");
      checkEqual(await s.store.readInput(uniqueId(), requestId), null, "one of an unknown conversation");
      const [pending] = (await s.store.pendingInputs({ limit: 10 })).inputs;
      checkEqual(
        [pending?.requestId, pending?.conversationId, pending?.title],
        [requestId, turn.conversationId, "A title"],
        "among the pending ones",
      );
    },
  },
  {
    name: "the commit that made a turn wait answers the same again, and nothing else is written with that lease",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const request = requestOf(turn, 0);
      const messages = [callingMessage(id, "call-0")];
      const first = await ask(s, turn, [request], { messages });
      const again = await ask(s, turn, [request], { messages });
      const waits = { count: 1, kinds: ["approval"] };
      checkEqual([first.waiting, again.waiting], [waits, waits], "both answers");
      checkEqual(
        again.entries.map(({ firstSeq }) => firstSeq),
        first.entries.map(({ firstSeq }) => firstSeq),
        "the seqs",
      );
      await refused(s.commit(turn, [message(id)]), "stale_fence", "another commit");
      checkEqual(await s.root.flushJournal([batch(turn, 0)]), ["stale_fence"], "a flush");
      checkEqual(await s.store.takeOver({ ...heldTurn(turn), node: s.node }), null, "a take-over");
      checkEqual((await s.store.pendingInputs({ limit: 10 })).inputs.length, 1, "the requests");
    },
  },
  {
    name: "a response to a waiting turn reopens it on the node that took it, which writes the entry",
    async run(s) {
      const turn = await waiting(s, [{}, {}]);
      const id = turn.conversationId;
      const node = await s.otherNode();
      const given = { argumentsText: '{"b": 1.0, "a": 2}', note: "only once" };
      const result = await respond(s, turn, 0, { node, ...given });
      checkEqual(result.outcome, "recorded", "the outcome");
      const held = { ...turn, fence: turn.fence + 1 };
      const lease = {
        owner: s.owner,
        log: turn.log,
        ...heldTurn(held),
        purpose: "turn",
        stopRequested: false,
      };
      checkEqual(result.lease, lease, "the lease");
      const active = (await s.store.get(id))?.active;
      checkEqual([active?.node, active?.waitingSince], [node, undefined], "the holder");
      checkEqual(active?.inputs, { count: 1, kinds: ["approval"] }, "what is left");
      const { log, owner } = turn;
      const { conversations: news } = await s.root.news({
        owners: [],
        conversations: [{ log, owner, seq: (await s.store.get(id))?.lastSeq ?? 0 }],
      });
      checkEqual(news, [log], "news of it");
      const response = responseTo(turn.requestIds[0] ?? "", given);
      const open = await s.store.readOpenTurn({ conversationId: id });
      checkEqual(open?.inputs[0]?.response, response, "the recorded response");
      checkEqual(await s.store.readResponses(heldTurn(turn)), [response], "what is not in the log yet");
      await refused(
        s.commit(turn, [resultMessage(id, "call-0")]),
        "stale_fence",
        "the former holder's commit",
      );
      const envelope = { conversationId: id, createdAt: new Date(5) };
      const { waiting: waitsAgain } = await s.store.commitStep({
        ...heldTurn(held),
        stepId: `${turn.turnId}.0`,
        messages: [inputMessage(response, envelope), resultMessage(id, "call-0")],
        promoteSteers: false,
        steps: [],
        providerCalls: [],
        wait: true,
      });
      checkEqual(waitsAgain?.count, 1, "what it waits for again");
      checkEqual(await s.store.readResponses(heldTurn(turn)), [], "what is not in the log after it");
      const entry = (await s.log(id)).find(
        ({ message: said }) => said.id === `${response.requestId}.response`,
      );
      checkEqual(entry === undefined ? undefined : inputEntryOfMessage(entry.message), response, "the entry");
    },
  },
  {
    name: "the first response wins: the same again is repeated, another one receives what is in force",
    async run(s) {
      const turn = await waiting(s);
      checkEqual((await respond(s, turn, 0, { note: "fine" })).outcome, "recorded", "the first");
      const again = await respond(s, turn, 0, { note: "fine", by: { owner: "another" }, via: "socket" });
      checkEqual([again.outcome, again.lease], ["repeated", undefined], "the same again");
      checkEqual(again.response.by?.owner, "someone", "who decided");
      const other = await respond(s, turn, 0, { decision: "deny" });
      checkEqual([other.outcome, other.response.decision], ["decided", "allow"], "another one");
      await refused(
        s.store.respond({
          conversationId: turn.conversationId,
          requestId: "another",
          node: s.node,
          response: responseTo("another"),
          grantId: uniqueId(),
        }),
        "conversation_not_found",
        "an unknown request",
      );
      const unknown = { ...turn, conversationId: uniqueId() };
      await refused(respond(s, unknown, 0), "conversation_not_found", "an unknown conversation");
    },
  },
  {
    name: "a response to other arguments than the request's is refused",
    async run(s) {
      const turn = await waiting(s);
      await refused(respond(s, turn, 0, { hash: "ffff" }), "invalid_request", "another hash");
      checkEqual((await s.store.get(turn.conversationId))?.active?.inputs?.count, 1, "what is pending");
      checkEqual((await respond(s, turn, 0)).outcome, "recorded", "the right hash");
    },
  },
  {
    name: "of two responses at once through two nodes one wins, and both receive the same answer",
    twoHandles: true,
    async run(s) {
      for (let round = 0; round < 5; round++) {
        const turn = await waiting(s);
        const [left, right] = await Promise.all([
          respond(s, turn, 0, { decision: "allow" }),
          respond(s, turn, 0, { decision: "deny", through: s.otherStore }),
        ]);
        checkEqual([left.outcome, right.outcome].sort(), ["decided", "recorded"], "the outcomes");
        checkEqual(left.response, right.response, "the response in force");
        checkEqual(
          [left.lease, right.lease].filter((lease) => lease !== undefined).length,
          1,
          "leases given",
        );
        await s.seal({ ...turn, fence: turn.fence + 1 });
        const decisions = inputsIn(await s.log(turn.conversationId));
        checkEqual(decisions, ["request", `${left.response.decision} http`], "the log");
      }
    },
  },
  {
    name: "a response without a node leaves the turn to the node that claims it",
    async run(s) {
      const turn = await waiting(s);
      const { lease } = await respond(s, turn, 0, { node: "" });
      checkEqual(lease?.fence, turn.fence + 1, "the fence");
      const [claimed] = await s.claimMine(s.node);
      checkEqual([claimed?.turnId, claimed?.fence], [turn.turnId, turn.fence + 2], "the claim");
    },
  },
  {
    name: "while a node holds the turn a response is only recorded, and the turn does not wait before it is written",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const requests = [requestOf(turn, 0), requestOf(turn, 1)];
      const requestIds = requests.map(({ requestId }) => requestId);
      const asked = await ask(s, turn, requests, { wait: false });
      checkEqual([asked.waiting, asked.responses], [undefined, []], "the step's commit");
      const result = await respond(s, { ...turn, requestIds }, 0, { decision: "deny" });
      checkEqual([result.outcome, result.lease], ["recorded", undefined], "the outcome");
      checkEqual(inputsIn(await s.log(id)), ["request", "request"], "the log");
      const recorded = [responseTo(requestIds[0] ?? "", { decision: "deny" })];
      checkEqual(await s.store.readResponses(heldTurn(turn)), recorded, "what the holder reads");
      const step = { ...heldTurn(turn), stepId: `${turn.turnId}.0`, promoteSteers: false };
      const none = { steps: [], providerCalls: [] };
      const early = await s.store.commitStep({ ...step, ...none, messages: [], wait: true });
      checkEqual([early.waiting, early.responses], [undefined, recorded], "a commit that would wait");
      // The holder's message differs: the recorded response counts.
      const [requestId = ""] = requestIds;
      const envelope = { conversationId: id, createdAt: new Date(5) };
      const entry = inputMessage(responseTo(requestId, { decision: "allow" }), envelope);
      const done = await s.store.commitStep({
        ...step,
        ...none,
        messages: [entry, resultMessage(id, "call-0")],
        wait: true,
      });
      checkEqual(done.waiting?.count, 1, "a commit with the response");
      checkEqual(inputsIn(await s.log(id)), ["request", "request", "deny http"], "the log after it");
      checkEqual((await s.store.get(id))?.active?.inputs?.count, 1, "what is pending");
    },
  },
  {
    name: "a response that the holder decides itself is recorded with its entry",
    async run(s) {
      const turn = await s.start();
      const request = requestOf(turn, 0);
      await ask(s, turn, [request], { wait: false });
      const given = responseTo(request.requestId, { decision: "deny", via: "stop" });
      const envelope = { conversationId: turn.conversationId, createdAt: new Date(5) };
      await s.commit(turn, [inputMessage(given, envelope)]);
      const late = await respond(s, { ...turn, requestIds: [request.requestId] }, 0);
      checkEqual([late.outcome, late.response], ["decided", given], "a late response");
    },
  },
];
