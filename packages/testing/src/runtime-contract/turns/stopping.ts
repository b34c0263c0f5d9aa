import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { hang, pause, text, toolCall, usage } from "../../provider/script.js";
import { createScriptedProvider } from "../../provider/scripted-provider.js";
import { always, ofType, only, type RuntimeTopicCase, transcript } from "../world.js";
import { waiting } from "./queue.js";

const interrupted = "[failed: The call was interrupted before it had a result.]";

/** Cases of stops: the partial answer is kept, and a node always obeys. */
export const stoppingCases: RuntimeTopicCase[] = [
  {
    name: "a stop while the model writes seals what exists as aborted, and stopping again finds nothing",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: always(text("Half an "), pause(at), text("answer.")) });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Hi", { conversationId });
      await world.pass(at.reached, "the model writes");
      checkEqual(await node.me.stop(conversationId), { abortedTurn: true }, "the stop");
      const before = world.passedMs;
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      // With real time, the duration depends on the load of the machine.
      const took = world.passedMs - before;
      check(world.isTimeReal || took <= 250, `sealed within 250 ms, not ${took}`);
      follow.checkOrder();
      checkEqual(only(follow.events, "done").reason, "aborted", "the reason");
      checkEqual(node.provider.calls[0]?.state, "canceled", "the call of the model");
      checkEqual(await node.me.stop(conversationId), { abortedTurn: false }, "stopping again");
      checkEqual(
        transcript(await world.log(node, conversationId)),
        ["user: Hi", "assistant: Half an "],
        "the log",
      );
      const unknown = node.me.stop(world.id("c"));
      checkEqual(await world.refusal(unknown, "an unknown one"), "conversation_not_found", "the code");
    },
  },
  {
    name: "a stop does not wait for a tool that ignores it: every open call is answered at once",
    async run(world) {
      const never = gate();
      const node = await world.node({
        script: [[toolCall("stubborn"), toolCall("quick"), toolCall("stubborn")]],
        tools: [
          { name: "stubborn", execute: () => never.wait() },
          { name: "quick", execute: () => "done" },
        ],
        limits: { toolConcurrency: 2 },
      });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Hi", { conversationId });
      await world.until(() => follow.has("tool-result"), "the quick tool has answered");
      await node.me.stop(conversationId);
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      follow.checkOrder();
      const results = ofType(follow.events, "tool-result");
      const cut = results.map(({ toolName, interrupted: isCut = false }) => [toolName, isCut]);
      checkEqual(
        cut,
        [
          ["quick", false],
          ["stubborn", true],
          ["stubborn", true],
        ],
        "the results that say so",
      );
      const rows = (await world.log(node, conversationId)).flatMap(({ chunk }) =>
        chunk.type === "tool-result" ? [[chunk.toolName, chunk.interrupted ?? false]] : [],
      );
      checkEqual(
        rows,
        [
          ["stubborn", true],
          ["quick", false],
          ["stubborn", true],
        ],
        "the rows that say so",
      );
      checkEqual(
        transcript(await world.log(node, conversationId)),
        [
          "user: Hi",
          "assistant: [stubborn {}] [quick {}] [stubborn {}]",
          `tool: ${interrupted}`,
          "tool: [done]",
          `tool: ${interrupted}`,
        ],
        "the log",
      );
      never.open();
      const next = await world.turn(node, "Next", { conversationId }).catch((error: unknown) => error);
      check(next instanceof Object, "the conversation goes on");
    },
  },
  {
    name: "a stop does not wait for a provider that ignores it",
    async run(world) {
      const provider = createScriptedProvider([text("Half "), hang()], { ignoreSignal: true });
      const node = await world.node({ provider });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Hi", { conversationId });
      await world.until(() => follow.has("text-delta"), "the model writes");
      await node.me.stop(conversationId);
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      checkEqual(only(follow.events, "done").reason, "aborted", "the reason");
      checkEqual(
        transcript(await world.log(node, conversationId)),
        ["user: Hi", "assistant: Half "],
        "the log",
      );
    },
  },
  ...[false, true].map(
    (withoutWake): RuntimeTopicCase => ({
      name: `a stop from another node is obeyed ${withoutWake ? "with the next heartbeat" : "at once by wake-up"}`,
      async run(world) {
        const at = gate();
        // Without a heartbeat or a poll for long, only a wake-up can notify it.
        const slow = { ttlMs: 60_000, renewMs: 20_000, pollMs: 20_000, stopMs: 60_000 };
        const pace = withoutWake ? {} : { lease: { ...world.lease, ...slow } };
        const here = await world.node({ script: always(text("Half "), pause(at)), withoutWake, ...pace });
        const there = await world.node({ withoutWake, ...pace });
        const { conversationId, turnId } = await world.start(here);
        await world.pass(at.reached, "the model writes");
        checkEqual(await there.me.stop(conversationId), { abortedTurn: true }, "the stop");
        const before = world.passedMs;
        const events = await world.turnEvents(there, conversationId, turnId);
        const took = world.passedMs - before;
        const atOnceMs = world.isTimeReal ? slow.renewMs / 2 : 250;
        const withinMs = withoutWake ? world.lease.renewMs + world.lease.pollMs + 200 : atOnceMs;
        check(took <= withinMs, `stopped within ${withinMs} ms, not ${took}`);
        checkEqual(only(events, "done").reason, "aborted", "the reason");
        checkEqual(here.provider.calls[0]?.state, "canceled", "the call of the model");
        checkEqual(
          transcript(await world.log(there, conversationId)),
          ["user: Hi", "assistant: Half "],
          "the log",
        );
      },
    }),
  ),
  {
    name: "a stop that its node does not obey is carried out by the one who asked",
    async run(world) {
      const at = gate();
      const tool = { ...waiting(at), recovery: "retry" as const };
      const here = await world.node({
        script: [[text("Working. "), toolCall("wait"), usage(4, 2)]],
        tools: [tool],
      });
      const there = await world.node({ tools: [tool] });
      const { conversationId, turnId } = await world.start(here);
      await world.pass(at.reached, "the tool runs");
      const near = await world.joined(here, conversationId);
      here.faults.cutOff();
      await there.me.stop(conversationId);
      const before = world.passedMs;
      const events = await world.turnEvents(there, conversationId, turnId);
      const took = world.passedMs - before;
      // With real time, more of it passes on a busy machine than the case has requested.
      check(
        world.isTimeReal || took >= world.lease.stopMs,
        `its node had ${world.lease.stopMs} ms to obey, not ${took}`,
      );
      check(
        world.isTimeReal || took <= world.lease.stopMs + 1_000,
        `carried out soon after ${world.lease.stopMs} ms, not ${took}`,
      );
      checkEqual(only(events, "done").reason, "aborted", "the reason");
      const log = await world.log(there, conversationId);
      checkEqual(
        transcript(log),
        ["user: Hi", "assistant: Working.  [wait {}]", `tool: ${interrupted}`],
        "the log",
      );
      here.faults.heal();
      at.open();
      await world.until(() => near.has("turn-sealed", turnId), "the silent node is notified");
      checkEqual(JSON.stringify(near.state.chunks), JSON.stringify(log), "what its client has folded");
      const next = await world.turn(there, "Next", { conversationId });
      checkEqual(only(next.events, "done").reason, "stop", "the next turn");
    },
  },
  {
    name: "a stop in the middle of a commit is obeyed behind it",
    async run(world) {
      const node = await world.node({
        script: [[toolCall("quick")], [text("Never.")]],
        tools: [{ name: "quick", execute: () => "done" }],
      });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const commit = node.faults.hold("commitStep");
      const { turnId } = await world.start(node, "Hi", { conversationId });
      await world.pass(commit.reached, "the commit is on its way");
      await node.me.stop(conversationId);
      commit.open();
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      follow.checkOrder();
      checkEqual(only(follow.events, "done").reason, "aborted", "the reason");
      checkEqual(
        transcript(await world.log(node, conversationId)),
        ["user: Hi", "assistant: [quick {}]", `tool: ${interrupted}`],
        "the log",
      );
      checkEqual(node.provider.calls.length, 1, "calls of the model");
    },
  },
  {
    name: "a stop is obeyed when the store is back, whatever was under way when it went",
    async run(world) {
      const at = gate();
      const node = await world.node({
        script: [[text("On it. "), toolCall("wait")], [text("Never.")]],
        tools: [waiting(at)],
      });
      const { conversationId, turnId } = await world.start(node);
      await world.pass(at.reached, "the tool runs");
      checkEqual(await node.me.stop(conversationId), { abortedTurn: true }, "the stop");
      node.faults.cutOff();
      await world.advance(world.lease.ttlMs / 4);
      node.faults.heal();
      const events = await world.turnEvents(node, conversationId, turnId);
      checkEqual(only(events, "done").reason, "aborted", "the reason");
      await world.log(node, conversationId);
    },
  },
  {
    name: "closing a conversation stops its turn, pauses its queue and hides it",
    async run(world) {
      const at = gate();
      const node = await world.node({
        script: (_, index) => (index === 0 ? [text("A "), pause(at)] : [text("B.")]),
      });
      const { conversationId, turnId } = await world.start(node);
      await world.pass(at.reached, "the model writes");
      await node.me.queue.add({ conversationId, message: "later" });
      checkEqual(await node.me.close(conversationId), { abortedTurn: true }, "closing");
      const events = await world.turnEvents(node, conversationId, turnId);
      checkEqual(only(events, "done").reason, "aborted", "the reason");
      const meta = await node.me.meta(conversationId);
      checkEqual(
        [meta.status, meta.queue.paused, meta.queue.messages.length],
        ["closed", true, 1],
        "the meta",
      );
      checkEqual(
        (await node.me.list({ status: ["closed"] })).conversations.length,
        1,
        "closed ones in the list",
      );
      await node.me.open(conversationId);
      checkEqual((await node.me.meta(conversationId)).status, "idle", "the status when it is open again");
      checkEqual(node.provider.calls.length, 1, "calls of the model");
    },
  },
];
