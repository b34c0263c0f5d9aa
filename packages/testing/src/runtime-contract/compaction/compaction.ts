import type { WatchEvent } from "@parley/core/runtime";
import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { fail, hang, pause, text, toolCall } from "../../provider/script.js";
import { createScriptedProvider } from "../../provider/scripted-provider.js";
import { only, type RuntimeTopicCase, type TestNode, testModel, type World } from "../world.js";
import { callsFor, shownTo, summing } from "./summing.js";

async function turns(world: World, node: TestNode, count: number): Promise<string> {
  const conversationId = world.id("c");
  for (let index = 1; index <= count; index += 1) {
    await world.turn(node, `Question ${index}`, { conversationId });
  }
  return conversationId;
}

/** Cases of compaction by hand: the log stays whole, only the context uses the summary. */
export const compactionCases: RuntimeTopicCase[] = [
  {
    name: "a compaction by hand does what its preview said; the log stays whole, and the model reads the summary",
    async run(world) {
      const node = await summing(world, {});
      const conversationId = await turns(world, node, 4);
      const before = await world.log(node, conversationId);
      const preview = await node.me.previewCompaction(conversationId, { keepLastN: 2 });
      checkEqual(
        [preview.messagesSummarized, preview.messagesKept, preview.firstSeq, preview.lastSeq],
        [6, 2, 1, 6],
        "the preview",
      );
      check((preview.estimatedTokens ?? 0) > 0, "the preview estimates tokens");
      checkEqual(callsFor(node, "summary").length, 0, "a preview asks no model");
      const follow = await world.joined(node, conversationId, "8");
      const received: WatchEvent[] = [];
      const stop = await node.me.watch((event) => received.push(event));
      const result = await world.pass(node.me.compact(conversationId, { keepLastN: 2 }), "the compaction");
      checkEqual(
        [result.summary, result.messagesSummarized, result.messagesKept],
        ["SUMMARY", 6, 2],
        "the result",
      );
      const log = await world.log(node, conversationId);
      checkEqual(JSON.stringify(log.slice(0, 8)), JSON.stringify(before), "the log before the summary");
      const summary = { type: "system", text: "SUMMARY", covers: { firstSeq: 1, lastSeq: 6 } };
      checkEqual(log[8]?.chunk, summary, "the summary in the log");
      await world.until(() => follow.state.chunks.length === 1, "a client receives the summary");
      checkEqual(follow.state.chunks[0]?.chunk, summary, "the summary as it is published");
      const { summary: _, ...counts } = result;
      const compacted = { type: "conversation.compacted" as const, conversationId, ...counts };
      await world.until(() => received.some(({ type }) => type === compacted.type), "watchers are notified");
      checkEqual(
        received.filter(({ type }) => type === compacted.type),
        [compacted],
        "what watchers receive",
      );
      stop();
      const meta = await node.me.meta(conversationId);
      checkEqual([meta.compactedFrom, meta.status], [result.newConversationId, "idle"], "the meta");

      await world.turn(node, "Question 5", { conversationId });
      const shown = shownTo(callsFor(node, "answer").at(-1)?.params);
      check(shown.includes("SUMMARY"), "the model is shown the summary");
      check(!shown.includes("Question 3"), "and not what it stands for");
      check(shown.includes("Question 4") && shown.includes("Question 5"), "but all that is newer");
      const summed = shownTo(callsFor(node, "summary")[0]?.params);
      check(summed.includes("Question 1") && summed.includes("Answer 3."), "it was made of what it covers");
      check(!summed.includes("Question 4"), "and of nothing else");
    },
  },
  {
    name: "an archive shows what was before, is hidden, refuses sends and goes with its conversation",
    async run(world) {
      const node = await summing(world, {});
      const conversationId = await turns(world, node, 3);
      const before = await world.log(node, conversationId);
      const { newConversationId } = await node.me.compact(conversationId, { keepLastN: 0 });
      checkEqual(
        JSON.stringify(await world.log(node, newConversationId)),
        JSON.stringify(before),
        "the archive's log",
      );
      checkEqual(
        (await node.me.list()).conversations.map(({ id }) => id),
        [conversationId],
        "the list",
      );
      const sent = node.me.send({ conversationId: newConversationId, message: "Hello?" });
      checkEqual(await world.refusal(sent, "a send to an archive"), "conversation_closed", "the code");
      const gone = await node.me.remove(conversationId);
      checkEqual(gone.toSorted(), [conversationId, newConversationId].toSorted(), "what goes");
      const meta = node.me.meta(newConversationId);
      checkEqual(await world.refusal(meta, "the archive"), "conversation_not_found", "the code");
    },
  },
  {
    name: "there may be nothing to compact, and it is said",
    async run(world) {
      const node = await summing(world, {});
      const empty = world.id("c");
      await node.me.create({ id: empty });
      const short = await turns(world, node, 2);
      for (const id of [empty, short]) {
        const codes = [
          await world.refusal(node.me.previewCompaction(id), "a preview"),
          await world.refusal(node.me.compact(id), "a compaction"),
          await world.refusal(node.me.undoCompaction(id), "an undo"),
        ];
        checkEqual(codes, ["nothing_to_compact", "nothing_to_compact", "nothing_to_compact"], "the codes");
      }
      const unknown = node.me.compact(world.id("c"));
      checkEqual(await world.refusal(unknown, "an unknown one"), "conversation_not_found", "the code");
      const bad = node.me.compact(short, { keepLastN: -1 });
      checkEqual(await world.refusal(bad, "a bad number"), "invalid_request", "the code");
      const next = await world.turn(node, "Still here", { conversationId: short });
      checkEqual(only(next.events, "done").reason, "stop", "the conversation goes on");
    },
  },
  {
    name: "while it is compacted, sends wait and then get their turn; a second compaction is refused",
    async run(world) {
      const at = gate();
      const node = await summing(world, { summary: () => [text("SUM"), pause(at), text("MARY")] });
      const conversationId = await turns(world, node, 3);
      const follow = await world.joined(node, conversationId);
      const compacted = node.me.compact(conversationId, { keepLastN: 1 });
      await world.pass(at.reached, "the model sums up");
      checkEqual((await node.me.meta(conversationId)).status, "idle", "the status meanwhile");
      const refused = node.me.send({ conversationId, message: "Now?" });
      checkEqual(await world.refusal(refused, "a send that does not wait"), "turn_active", "the code");
      const again = node.me.compact(conversationId);
      checkEqual(await world.refusal(again, "a second compaction"), "turn_active", "the code");
      const sent = await node.me.send({ conversationId, message: "Later", ifBusy: "steer" });
      checkEqual(sent.outcome, "queued", "a send that waits");
      at.open();
      await world.pass(compacted, "the compaction");
      await world.until(() => follow.has("turn-sealed"), "what waited gets its turn");
      follow.checkOrder();
      const shown = shownTo(callsFor(node, "answer").at(-1)?.params);
      check(shown.includes("SUMMARY") && shown.includes("Later"), "its model is shown the summary");
      const log = await world.log(node, conversationId);
      checkEqual(JSON.stringify(follow.state.chunks), JSON.stringify(log), "what a client has folded");
    },
  },
  {
    name: "a turn that runs is not compacted by hand",
    async run(world) {
      const at = gate();
      const node = await summing(world, {
        answer: (index) => (index === 3 ? [pause(at), text("Late.")] : [text("Yes.")]),
      });
      const conversationId = await turns(world, node, 2);
      await world.start(node, "Question 3", { conversationId });
      await world.pass(at.reached, "the turn runs");
      const compacted = node.me.compact(conversationId, { keepLastN: 0 });
      checkEqual(await world.refusal(compacted, "a compaction"), "turn_active", "the code");
      at.open();
      await world.idle(node, conversationId);
    },
  },
  {
    name: "a compaction that is stopped leaves everything as it was, and the queue paused",
    async run(world) {
      const at = gate();
      const node = await summing(world, { summary: () => [pause(at), hang()] });
      const conversationId = await turns(world, node, 3);
      const before = JSON.stringify(await world.log(node, conversationId));
      const compacted = node.me.compact(conversationId, { keepLastN: 1 });
      const refused = world.refusal(compacted, "a compaction that is stopped");
      await world.pass(at.reached, "the model sums up");
      await node.me.queue.add({ conversationId, message: "later" });
      checkEqual(await node.me.stop(conversationId), { abortedTurn: false }, "the stop");
      checkEqual(await refused, "canceled", "the code");
      checkEqual(JSON.stringify(await world.log(node, conversationId)), before, "the log");
      const meta = await node.me.meta(conversationId);
      checkEqual(
        [meta.queue.messages.length, meta.queue.paused, meta.compactedFrom],
        [1, true, undefined],
        "the meta",
      );
      const next = await world.turn(node, "Go on", { conversationId });
      checkEqual(only(next.events, "done").reason, "stop", "the conversation goes on");
    },
  },
  {
    name: "a compaction on another node can be stopped",
    async run(world) {
      const at = gate();
      const here = await summing(world, { summary: () => [pause(at), hang()] });
      const there = await summing(world, {});
      const conversationId = await turns(world, here, 3);
      const refused = world.refusal(here.me.compact(conversationId, { keepLastN: 1 }), "a compaction");
      await world.pass(at.reached, "the model sums up");
      await there.me.stop(conversationId);
      checkEqual(await refused, "canceled", "the code");
      const next = await world.turn(there, "Go on", { conversationId });
      checkEqual(only(next.events, "done").reason, "stop", "the conversation goes on");
    },
  },
  {
    name: "a model that fails to sum up leaves everything as it was, and what waited gets its turn",
    async run(world) {
      const failures = [
        { entry: fail("provider_overloaded"), code: "provider_overloaded" },
        { entry: text("  "), code: "provider_rejected" },
      ];
      for (const { entry, code } of failures) {
        const at = gate();
        const node = await summing(world, { summary: () => [pause(at), entry] });
        const conversationId = await turns(world, node, 3);
        const refused = world.refusal(node.me.compact(conversationId, { keepLastN: 1 }), "a compaction");
        await world.pass(at.reached, "the model sums up");
        await node.me.queue.add({ conversationId, message: "later" });
        at.open();
        checkEqual(await refused, code, "the code");
        await world.until(() => callsFor(node, "answer").length === 4, "what waited gets its turn");
        await world.idle(node, conversationId);
        checkEqual((await node.me.meta(conversationId)).compactedFrom, undefined, "the archive");
        await world.log(node, conversationId);
      }
    },
  },
  {
    name: "a compaction can be undone, and the model reads everything again",
    async run(world) {
      const node = await summing(world, {});
      const conversationId = await turns(world, node, 3);
      await node.me.compact(conversationId, { keepLastN: 0 });
      const undone = await node.me.undoCompaction(conversationId);
      checkEqual(undone.compactedFrom, undefined, "the archive in the meta");
      await world.turn(node, "Question 4", { conversationId });
      const shown = shownTo(callsFor(node, "answer").at(-1)?.params);
      check(shown.includes("Question 1") && !shown.includes("SUMMARY"), "the model is shown everything");
      const again = node.me.undoCompaction(conversationId);
      checkEqual(await world.refusal(again, "an undo of nothing"), "nothing_to_compact", "the code");
      await world.log(node, conversationId);
    },
  },
  {
    name: "a later compaction takes in the summary before it, and undoing it brings that one back",
    async run(world) {
      let count = 0;
      const node = await summing(world, {
        summary: () => {
          count += 1;
          return [text(`SUMMARY ${count}`)];
        },
      });
      const conversationId = await turns(world, node, 3);
      await node.me.compact(conversationId, { keepLastN: 0 });
      await world.turn(node, "Question 4", { conversationId });
      await world.turn(node, "Question 5", { conversationId });
      const preview = await node.me.previewCompaction(conversationId, { keepLastN: 0 });
      checkEqual([preview.messagesSummarized, preview.firstSeq], [4, 1], "what the second one covers");
      await node.me.compact(conversationId, { keepLastN: 0 });
      const summed = shownTo(callsFor(node, "summary").at(-1)?.params);
      check(summed.includes("SUMMARY 1") && !summed.includes("Question 1"), "it builds on the first one");
      await world.turn(node, "Question 6", { conversationId });
      let shown = shownTo(callsFor(node, "answer").at(-1)?.params);
      check(shown.includes("SUMMARY 2") && !shown.includes("SUMMARY 1"), "the second summary is shown");
      await node.me.undoCompaction(conversationId);
      await world.turn(node, "Question 7", { conversationId });
      shown = shownTo(callsFor(node, "answer").at(-1)?.params);
      check(shown.includes("SUMMARY 1") && shown.includes("Question 4"), "the first one is back");
    },
  },
  {
    name: "what a summary covers can be recalled word for word, by a tool that is offered from then on",
    async run(world) {
      const node = await summing(world, {
        answer: (index) =>
          index === 4 ? [toolCall("recall", { fromSeq: 1, toSeq: 2 })] : [text(`Answer ${index}.`)],
      });
      const conversationId = await turns(world, node, 3);
      const offered = () => (node.provider.calls.at(-1)?.params.tools ?? []).map(({ name }) => name);
      checkEqual(offered(), [], "tools before");
      await node.me.compact(conversationId, { keepLastN: 0 });
      const { events } = await world.turn(node, "What was the first question?", { conversationId });
      checkEqual(offered(), ["recall"], "tools after");
      const { content, isError } = only(events, "tool-result");
      check(!isError && content.includes("Question 1") && content.includes("Answer 1."), "what is recalled");
      await node.me.undoCompaction(conversationId);
      await world.turn(node, "And now?", { conversationId });
      checkEqual(offered(), [], "tools after the undo");
    },
  },
  {
    name: "a node that dies while it compacts leaves the conversation to others",
    async run(world) {
      const at = gate();
      const here = await summing(world, { summary: () => [pause(at), hang()] });
      const there = await summing(world, {});
      const conversationId = await turns(world, here, 3);
      const compacted = here.me.compact(conversationId, { keepLastN: 1 }).catch(() => undefined);
      await world.pass(at.reached, "the model sums up");
      await here.me.queue.add({ conversationId, message: "later" });
      here.faults.cutOff();
      await world.until(() => callsFor(there, "answer").length === 1, "what waited gets its turn there");
      await world.idle(there, conversationId);
      here.faults.heal();
      await world.pass(compacted, "the first node gives up");
      checkEqual((await there.me.meta(conversationId)).compactedFrom, undefined, "the archive");
      const log = await world.log(there, conversationId);
      check(
        log.every(({ role }) => role !== "system"),
        "no summary was written late",
      );
    },
  },
  ...(["before", "after"] as const).flatMap((fault) =>
    (["lease", "compact", "endLease"] as const).map(
      (method): RuntimeTopicCase => ({
        name: `a compaction whose ${method} fails ${fault} its effect blocks nothing and happens at most once`,
        async run(world) {
          const node = await summing(world, {
            summary: () => (method === "endLease" ? [fail("network")] : [text("SUMMARY")]),
          });
          const conversationId = await turns(world, node, 3);
          node.faults.fail(method, fault);
          const compacted = node.me.compact(conversationId, { keepLastN: 1 });
          if (method === "compact") await world.pass(compacted, "the compaction");
          else {
            const code = await world.refusal(compacted, "the compaction");
            checkEqual(code, method === "lease" ? "store_unavailable" : "network", "the code");
          }
          let isFree = false;
          await world.until(
            () => {
              void node.me.send({ conversationId, message: "Next", messageId: "next" }).then(
                () => {
                  isFree = true;
                },
                () => {},
              );
              return isFree;
            },
            "the conversation takes a send",
            world.lease.ttlMs,
          );
          await world.idle(node, conversationId);
          const log = await world.log(node, conversationId);
          const summaries = log.filter(({ role }) => role === "system").length;
          checkEqual(summaries, method === "compact" ? 1 : 0, "summaries in the log");
        },
      }),
    ),
  ),
  {
    name: "another model may sum up",
    async run(world) {
      const other = createScriptedProvider(() => [text("SHORT")]);
      const node = await summing(world, {}, { moreModels: [testModel("two", other)] });
      const conversationId = await turns(world, node, 3);
      const result = await node.me.compact(conversationId, { keepLastN: 0, modelName: "test/two" });
      checkEqual([result.summary, other.calls.length], ["SHORT", 1], "the summary");
      const unknown = node.me.compact(conversationId, { modelName: "test/none" });
      checkEqual(await world.refusal(unknown, "an unknown model"), "model_unavailable", "the code");
    },
  },
];
