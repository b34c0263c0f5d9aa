import { inputMessage } from "@parley/core/messages";
import { checkEqual } from "../../contract-case.js";
import { batch, callingMessage, heldTurn, refused, resultMessage, type TopicCase } from "../scenario.js";
import { ask, entryOf, inputsIn, requestOf, respond, responseTo, waiting } from "../waiting-turn.js";

/** Cases of requests of running calls, pages of pending requests, and what a turn does not wait for. */
export const inputQuestionCases: TopicCase[] = [
  {
    name: "a request of a call that runs is written by the holder alone, and its response leaves the turn where it is",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const stepId = `${turn.turnId}.0`;
      await s.commit(turn, [callingMessage(id, "call-7")]);
      const request = requestOf(turn, 7, { kind: "question", reason: "Which one?", expiresMs: 60_000 });
      const input = { ...heldTurn(turn), inputs: [request] };
      const { last } = await s.store.changed({ limit: 1 });
      await refused(s.store.addInputs({ ...input, fence: turn.fence + 1 }), "stale_fence", "another fence");
      await s.store.addInputs(input);
      await s.store.addInputs(input);
      checkEqual((await s.store.changed({ since: last, limit: 9 })).conversations.length, 1, "a change");
      const active = (await s.store.get(id))?.active;
      checkEqual(active?.inputs, { count: 1, kinds: ["question"] }, "what is open");
      checkEqual([active?.waitingSince, active?.node], [undefined, s.node], "the holder");
      checkEqual(await s.root.flushJournal([batch(turn, 0)]), ["ok"], "the journal goes on");
      const held = { ...turn, requestIds: [request.requestId] };
      const given = responseTo(request.requestId, { decision: "answer", value: "this" });
      const result = await respond(s, held, 0, { decision: "answer", value: "this" });
      checkEqual([result.outcome, result.lease], ["recorded", undefined], "the outcome");
      checkEqual(await s.store.readResponses(heldTurn(turn)), [given], "what the holder reads");
      const envelope = { conversationId: id, createdAt: new Date(5) };
      const entries = [inputMessage(entryOf(request), envelope), inputMessage(given, envelope)];
      const { responses } = await s.store.commitStep({
        ...heldTurn(turn),
        stepId,
        messages: [...entries, resultMessage(id, "call-7")],
        promoteSteers: true,
        steps: [],
        providerCalls: [],
      });
      checkEqual(responses, [], "what is not in the log");
      await s.seal(turn);
      checkEqual(inputsIn(await s.log(id)), ["request", "answer http"], "the entries");
    },
  },
  {
    name: "a turn that waits takes no request of a call, and a seal answers one that is open",
    async run(s) {
      const still = await waiting(s);
      const late = { ...heldTurn(still), inputs: [requestOf(still, 7)] };
      await refused(s.store.addInputs(late), "stale_fence", "a request of a turn that waits");
      const turn = await s.start();
      await s.store.addInputs({ ...heldTurn(turn), inputs: [requestOf(turn, 7)] });
      const { entries } = await s.seal(turn, [], { reason: "interrupted" });
      checkEqual(inputsIn(entries), ["deny end"], "what the seal wrote");
      checkEqual(
        (await s.store.readInput(turn.conversationId, `${turn.turnId}.0.7`))?.response?.via,
        "end",
        "it",
      );
    },
  },
  {
    name: "a turn with nothing to wait for does not wait",
    async run(s) {
      const turn = await s.start();
      const id = turn.conversationId;
      const commit = { ...heldTurn(turn), stepId: `${turn.turnId}.0`, promoteSteers: false };
      const result = await s.store.commitStep({
        ...commit,
        messages: [callingMessage(id, "call-0")],
        steps: [],
        providerCalls: [],
        wait: true,
      });
      checkEqual(result.waiting, undefined, "what it waits for");
      const active = (await s.store.get(id))?.active;
      checkEqual([active?.node, active?.waitingSince], [s.node, undefined], "the holder");
    },
  },
  {
    name: "once a stop was requested, a response is refused and the request denied",
    async run(s) {
      const turn = await s.start();
      const request = requestOf(turn, 0);
      await ask(s, turn, [request], { wait: false });
      await s.store.requestStop(turn.conversationId);
      const held = { ...turn, requestIds: [request.requestId] };
      const { outcome, response, lease } = await respond(s, held, 0);
      checkEqual(
        [outcome, response.decision, response.via, lease],
        ["decided", "deny", "stop", undefined],
        "the outcome",
      );
      checkEqual((await s.store.readResponses(heldTurn(turn))).length, 1, "what the holder reads");
    },
  },
  {
    name: "pending requests come in pages, which continue where the last one ended whatever is decided meanwhile",
    async run(s) {
      const turns = [await waiting(s, [{}, {}, {}]), await waiting(s, [{}, {}])];
      await s.advance(5);
      turns.push(await waiting(s, [{}, {}]));
      const all = turns.flatMap(({ requestIds }) => requestIds);
      const seen: string[] = [];
      let after: string | undefined;
      for (let page = 0; page < 4; page += 1) {
        const { inputs, next } = await s.store.pendingInputs({
          limit: 2,
          ...(after === undefined ? {} : { after }),
        });
        seen.push(...inputs.map(({ requestId }) => requestId));
        if (page === 0) await respond(s, turns[0] ?? (await waiting(s)), 1);
        after = next;
      }
      checkEqual(after, undefined, "the end");
      checkEqual(new Set(seen), new Set(all), "all that were seen");
      checkEqual(seen.length, all.length, "each once");
      const [last] = turns.slice(-1);
      const { conversationId = "" } = last ?? {};
      const { inputs, next } = await s.store.pendingInputs({ conversationId, limit: 1 });
      const rest = await s.store.pendingInputs({
        conversationId,
        limit: 5,
        ...(next === undefined ? {} : { after: next }),
      });
      const ids = [...inputs, ...rest.inputs].map(({ requestId }) => requestId);
      checkEqual(ids, last?.requestIds, "those of one conversation");
      for (const wrong of ["x", "1~2", "1~2~3~4", "-1~2~3"]) {
        await refused(s.store.pendingInputs({ limit: 1, after: wrong }), "invalid_request", wrong);
      }
    },
  },
  {
    name: "a page of pending requests with long arguments is shorter, and loses none",
    async run(s) {
      const argumentsText = JSON.stringify({ text: "x".repeat(1_500_000) });
      const turn = await waiting(
        s,
        [0, 1, 2, 3].map(() => ({ argumentsText })),
      );
      const first = await s.store.pendingInputs({ limit: 10 });
      checkEqual(first.inputs.length, 3, "the first page");
      const { next = "" } = first;
      const second = await s.store.pendingInputs({ limit: 10, after: next });
      checkEqual(second.next, undefined, "the end");
      const ids = [...first.inputs, ...second.inputs].map(({ requestId }) => requestId);
      checkEqual(ids, turn.requestIds, "both pages");
    },
  },
];
