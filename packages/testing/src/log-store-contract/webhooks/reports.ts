import { inputMessage } from "@parley/core/messages";
import { check, checkEqual } from "../../contract-case.js";
import { heldTurn, message, type Scenario, type TopicCase, uniqueId } from "../scenario.js";
import { ask, requestOf, respond, responseTo, waiting } from "../waiting-turn.js";
import { deliverAll, endpoint, reported } from "./endpoint.js";

/** Returns the types that were reported to an endpoint, oldest first. */
async function types(s: Scenario, webhookId: string): Promise<string[]> {
  return (await reported(s, webhookId)).map(({ type }) => type);
}

/** Cases of events: written with what they report, once, for every endpoint that subscribes to them. */
export const reportCases: readonly TopicCase[] = [
  {
    name: "nothing is reported for an owner without an endpoint, or of types that no endpoint asks for",
    async run(s) {
      const { conversationId } = await s.turn();
      const id = await endpoint(s, { events: ["input.requested"] });
      await s.turn(conversationId);
      checkEqual(await reported(s, id), [], "what was reported");
      await s.root.forOwner(`stranger-${uniqueId()}`).create({ id: conversationId, settings: {} });
      checkEqual(await reported(s, id), [], "what was reported of another owner");
    },
  },
  {
    name: "a conversation that a send makes, and its turn, are reported with their titles and seqs",
    async run(s) {
      const id = await endpoint(s);
      const { conversationId, turnId } = await s.turn();
      const delivered = await deliverAll(s);
      checkEqual(
        delivered.map(({ type, data }) => [type, data]),
        [
          ["conversation.created", { conversationId, title: "A title" }],
          [
            "turn.sealed",
            { conversationId, title: "A title", turnId, reason: "stop", firstSeq: 1, lastSeq: 2 },
          ],
        ],
        "the events",
      );
      const all = await reported(s, id);
      checkEqual(
        all.map(({ state, attempts, status, conversationId: of }) => [state, attempts, status, of]),
        [
          ["delivered", 1, 200, conversationId],
          ["delivered", 1, 200, conversationId],
        ],
        "the deliveries",
      );
      checkEqual(new Set(delivered.map((each) => each.id)).size, 2, "ids of their own");
    },
  },
  {
    name: "every endpoint that asks for it gets an event, under the same id",
    async run(s) {
      const first = await endpoint(s);
      const second = await endpoint(s, { events: ["turn.sealed"] });
      await s.turn();
      const [, sealed] = await reported(s, first);
      const [only] = await reported(s, second);
      checkEqual([only?.id, only?.type], [sealed?.id, "turn.sealed"], "the event of the second one");
    },
  },
  {
    name: "conversations that are created, forked and imported are reported once; archives are not",
    async run(s) {
      const { conversationId, lastSeq } = await s.turn();
      const id = await endpoint(s, { events: ["conversation.created"] });
      const created = uniqueId();
      const title = "Odd '\u0000 title";
      for (let times = 0; times < 2; times += 1) {
        await s.store.create({ id: created, settings: { title } });
        await s.store.fork({ conversationId, atSeq: lastSeq, newId: `${created}.fork` });
        await s.store.createConversation({ id: `${created}.engine` });
      }
      const lease = await s.store.lease({ conversationId, node: s.node, turnId: uniqueId() });
      await s.store.compact({
        ...heldTurn(lease),
        archiveId: uniqueId(),
        summary: message(conversationId, { role: "system", text: "Summary" }),
        covers: { fromSeq: 1, toSeq: lastSeq },
        release: s.next(),
      });
      const data = (await deliverAll(s)).map((each) => each.data);
      checkEqual(
        data,
        [
          { conversationId: created, title },
          { conversationId: `${created}.fork`, title: "A title", parentId: conversationId },
          { conversationId: `${created}.engine`, title: "" },
        ],
        "what was reported",
      );
      checkEqual((await reported(s, id)).length, 3, "how many");
    },
  },
  {
    name: "a seal that is repeated, or refused, is not reported again",
    async run(s) {
      const id = await endpoint(s, { events: ["turn.sealed"] });
      const turn = await s.start();
      const next = { turnId: uniqueId() };
      const answer = message(turn.conversationId, { role: "assistant" });
      await s.seal(turn, [answer], { next });
      await s.seal(turn, [answer], { next });
      await s.seal({ ...turn, fence: turn.fence + 1 }, [answer]).catch(() => undefined);
      checkEqual(await types(s, id), ["turn.sealed"], "the events");
    },
  },
  {
    name: "a seal behind which the queue continues is reported, with the turn that ended",
    async run(s) {
      await endpoint(s, { events: ["turn.sealed"] });
      const turn = await s.start();
      await s.enqueue(turn.conversationId, { mode: "queue" });
      const { next, lastSeq } = await s.seal(turn, [message(turn.conversationId, { role: "assistant" })]);
      check(next !== undefined, "the next turn opens");
      const [sealed, ...others] = await deliverAll(s);
      checkEqual(others, [], "further events");
      checkEqual(
        [sealed?.data.turnId, sealed?.data.firstSeq, sealed?.data.lastSeq],
        [turn.turnId, 1, lastSeq],
        "the turn",
      );
    },
  },
  {
    name: "requests are reported when they are made, and their answers when they are decided, once each",
    async run(s) {
      const id = await endpoint(s, { events: ["input.requested", "input.answered"] });
      const turn = await s.start();
      const requests = [requestOf(turn, 0, { expiresMs: 60_000 }), requestOf(turn, 1, { kind: "question" })];
      await ask(s, turn, requests);
      const asked = await deliverAll(s);
      const { conversationId, turnId } = turn;
      const of = { conversationId, title: "A title", turnId, toolName: "weather" };
      const [first = requestOf(turn, 0), second = requestOf(turn, 1)] = requests;
      const { expiresAt, ...data } = asked[0]?.data ?? {};
      checkEqual(data, { ...of, requestId: first.requestId, kind: "approval" }, "the first request");
      const expiry = (await s.store.readInput(conversationId, first.requestId))?.expiresAt ?? 0;
      checkEqual(expiresAt, new Date(expiry).toISOString(), "when it expires");
      checkEqual(
        asked[1]?.data,
        { ...of, requestId: second.requestId, kind: "question" },
        "the second request",
      );
      const held = { ...turn, requestIds: requests.map(({ requestId }) => requestId) };
      await respond(s, held, 1, { decision: "answer", value: "secret answer" });
      await respond(s, held, 1, { decision: "answer", value: "secret answer" });
      await respond(s, held, 1, { decision: "deny" });
      const [answered, ...others] = await deliverAll(s);
      checkEqual(others, [], "further events");
      checkEqual(
        answered?.data,
        { ...of, requestId: second.requestId, kind: "question", decision: "answer", via: "http" },
        "the answer",
      );
      checkEqual((await reported(s, id)).length, 3, "all events");
    },
  },
  {
    name: "a request of a call that runs is reported, once, and its denial with the seal",
    async run(s) {
      await endpoint(s, { events: ["input.requested", "input.answered"] });
      const turn = await s.start();
      const input = { ...heldTurn(turn), inputs: [requestOf(turn, 7, { kind: "question" })] };
      for (let times = 0; times < 2; times += 1) await s.store.addInputs(input);
      await s.seal(turn, [], { reason: "interrupted" });
      const events = (await deliverAll(s)).map(({ type, data }) => [type, data.kind, data.via]);
      checkEqual(
        events,
        [
          ["input.requested", "question", undefined],
          ["input.answered", "question", "end"],
        ],
        "the events",
      );
    },
  },
  {
    name: "an answer that its holder writes into the log is not reported a second time, and one that it decides is",
    async run(s) {
      const id = await endpoint(s, { events: ["input.answered"] });
      const turn = await s.start();
      const requests = [requestOf(turn, 0), requestOf(turn, 1)];
      await ask(s, turn, requests, { wait: false });
      const held = { ...turn, requestIds: requests.map(({ requestId }) => requestId) };
      await respond(s, held, 0);
      const envelope = { conversationId: turn.conversationId, createdAt: new Date(1_700_000_000_300) };
      const entries = [
        responseTo(requests[0]?.requestId ?? ""),
        responseTo(requests[1]?.requestId ?? "", { decision: "deny", via: "expiry" }),
      ].map((entry) => inputMessage(entry, envelope));
      for (let times = 0; times < 2; times += 1) await s.commit(turn, entries);
      const decisions = (await deliverAll(s)).map(({ data }) => [data.requestId, data.decision, data.via]);
      checkEqual(
        decisions,
        [
          [requests[0]?.requestId, "allow", "http"],
          [requests[1]?.requestId, "deny", "expiry"],
        ],
        "the decisions",
      );
      checkEqual((await reported(s, id)).length, 2, "all events");
    },
  },
  {
    name: "expiry and the end of a turn answer what is open, and are reported before the seal",
    async run(s) {
      await endpoint(s, { events: ["input.answered", "turn.sealed"] });
      const turn = await waiting(s, [{ expiresMs: 1 }, {}]);
      await s.advance(20);
      await s.root.expireInputs(1_000);
      const [lease] = await s.claimMine(s.node);
      check(lease !== undefined, "the turn goes on");
      await s.seal({ ...turn, fence: lease.fence });
      const events = (await deliverAll(s)).map(({ type, data }) => [type, data.via ?? data.reason]);
      checkEqual(
        events,
        [
          ["input.answered", "expiry"],
          ["input.answered", "end"],
          ["turn.sealed", "stop"],
        ],
        "the events",
      );
    },
  },
  {
    name: "a message that takes the place of a turn that waits reports the answers and the seal",
    async run(s) {
      await endpoint(s, { events: ["input.answered", "turn.sealed"] });
      const turn = await waiting(s);
      const record = await s.store.get(turn.conversationId);
      await s.store.admit({
        ...s.admission(turn.conversationId),
        sealWaiting: {
          turnId: turn.turnId,
          fence: record?.active?.fence ?? 0,
          messages: [],
          reason: "aborted",
          metrics: { turnId: turn.turnId, usage: { inputTokens: 1, outputTokens: 1 }, steps: [] },
          providerCalls: [],
          via: "send",
        },
      });
      const events = (await deliverAll(s)).map(({ type, data }) => [type, data.via ?? data.reason]);
      checkEqual(
        events,
        [
          ["input.answered", "send"],
          ["turn.sealed", "aborted"],
        ],
        "the events",
      );
    },
  },
  {
    name: "removing a conversation takes its events with it",
    async run(s) {
      const id = await endpoint(s);
      const gone = await s.turn();
      const stays = await s.turn();
      await s.store.remove(gone.conversationId, { cascade: false });
      const left = await reported(s, id);
      checkEqual(
        new Set(left.map((each) => each.conversationId)),
        new Set([stays.conversationId]),
        "what is left",
      );
      checkEqual(left.length, 2, "how many");
    },
  },
];
