import { checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import type { StoreCall, StoreFault } from "../../memory-log/memory-log-store.js";
import { pause, text, toolCall, usage } from "../../provider/script.js";
import { waiting } from "../turns/queue.js";
import { adder } from "../turns/turns.js";
import { only, type RuntimeTopicCase, transcript } from "../world.js";

const twoSteps = (_: unknown, index: number) =>
  index % 2 === 0
    ? [text("Let me add. "), toolCall("add", { a: 1, b: 2 }), usage(10, 5)]
    : [text("It is 3."), usage(20, 6)];

const twoStepLog = [
  "user: Hi",
  'assistant: Let me add.  [add {"a":1,"b":2}]',
  "tool: [3]",
  "assistant: It is 3.",
];

/** Cases of durability: an unreachable store loses and doubles nothing. */
export const durabilityCases: RuntimeTopicCase[] = [
  {
    name: "a tool starts after its call is durable, and its result is durable before the next step",
    async run(world) {
      const seen: string[][] = [];
      const at: { conversationId: string } = { conversationId: "" };
      const node = await world.node({
        script: (_, index) => {
          if (index === 0) return [text("Checking. "), toolCall("look")];
          return [
            async () => {
              seen.push(transcript((await node.me.history({ ...at, open: true })).chunks));
            },
            text("Done."),
          ];
        },
        tools: [
          {
            name: "look",
            async execute() {
              seen.push(transcript((await node.me.history({ ...at, open: true })).chunks));
              return "looked";
            },
          },
        ],
      });
      at.conversationId = world.id("c");
      await world.turn(node, "Hi", at);
      checkEqual(
        seen,
        [
          ["user: Hi", "assistant: Checking.  [look {}]"],
          ["user: Hi", "assistant: Checking.  [look {}]", "tool: [looked]"],
        ],
        "what is durable when the tool starts, and when the next step starts",
      );
      checkEqual((await node.me.history(at)).chunks.length, 5, "chunks of the sealed turn");
    },
  },
  {
    name: "history shows sealed turns, and the open one's rows only when asked for",
    async run(world) {
      const at = gate();
      const node = await world.node({
        script: [[text("One. ")], [text("Two. "), toolCall("wait")], [text("Three.")]],
        tools: [waiting(at)],
      });
      const { receipt } = await world.turn(node);
      const { conversationId } = receipt;
      await world.start(node, "More", { conversationId });
      await world.pass(at.reached, "the tool runs");
      checkEqual((await node.me.history({ conversationId })).latestSeq, 2, "the last seq of sealed turns");
      checkEqual((await node.me.history({ conversationId, open: true })).latestSeq, 5, "with the open one");
      const window = await node.me.history({
        conversationId,
        sinceSeq: 1,
        beforeSeq: 5,
        limit: 2,
        open: true,
      });
      checkEqual([window.chunks.map(({ seq }) => seq), window.latestSeq], [[3, 4], 4], "a window");
      at.open();
      await world.idle(node, conversationId);
      const nothing = await node.me.history({ conversationId, sinceSeq: 7 });
      checkEqual([nothing.chunks, nothing.latestSeq], [[], 7], "nothing newer");
      const bad = node.me.history({ conversationId, sinceSeq: -1 });
      checkEqual(await world.refusal(bad, "a bad bound"), "invalid_request", "the code");
    },
  },
  {
    name: "a tool's result is published only when its journal flush is done",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: [[toolCall("wait")], [text("Done.")]], tools: [waiting(at)] });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Hi", { conversationId });
      await world.pass(at.reached, "the tool runs");
      const flush = node.faults.hold("flushJournal");
      at.open();
      await world.pass(flush.reached, "the flush of the result is under way");
      const late = node.follow(conversationId);
      await world.until(() => late.has("tool-call"), "a late client joins");
      checkEqual(
        [follow.has("tool-result"), late.has("tool-result")],
        [false, false],
        "published before the flush",
      );
      flush.open();
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is over");
      follow.checkOrder();
      late.checkOrder();
      checkEqual(late.count("tool-result"), 1, "results sent to the late client");
    },
  },
  ...faultCases(),
  ...admissionFaultCases(),
  {
    name: "a store that is away for a while in the middle of a turn delays it, and nothing else",
    async run(world) {
      const at = gate();
      const node = await world.node({
        script: [[text("One "), pause(at), text("two. "), toolCall("add", { a: 1, b: 2 })], [text("Three.")]],
        tools: [adder],
      });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Hi", { conversationId });
      await world.pass(at.reached, "the model writes");
      node.faults.cutOff();
      at.open();
      await world.until(() => follow.has("step-complete"), "the step is published");
      await world.advance(world.lease.ttlMs / 4);
      checkEqual(
        [follow.has("tool-result"), node.provider.calls.length],
        [false, 1],
        "what happens meanwhile",
      );
      const refused = node.me.send({ conversationId, message: "Now?" });
      checkEqual(await world.refusal(refused, "a send meanwhile"), "store_unavailable", "the code");
      node.faults.heal();
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is over");
      follow.checkOrder();
      const log = await world.log(node, conversationId);
      checkEqual(
        transcript(log),
        ["user: Hi", 'assistant: One two.  [add {"a":1,"b":2}]', "tool: [3]", "assistant: Three."],
        "the log",
      );
    },
  },
];

/** Returns cases with one fault in each call that a turn makes to the store. */
function faultCases(): RuntimeTopicCase[] {
  const methods: [StoreCall["method"], StoreFault[]][] = [
    ["get", ["before"]],
    ["lastCall", ["before"]],
    ["readNewest", ["before"]],
    ["readAfter", ["before"]],
    ["flushJournal", ["before", "after"]],
    ["commitStep", ["before", "after"]],
    ["seal", ["before", "after"]],
  ];
  return methods.flatMap(([method, faults]) =>
    faults.map((fault) => ({
      name: `a turn outlives a ${method} that fails ${fault} its effect, and loses and doubles nothing`,
      async run(world) {
        const node = await world.node({ script: twoSteps, tools: [adder] });
        const conversationId = world.id("c");
        await node.me.create({ id: conversationId });
        const follow = await world.joined(node, conversationId);
        node.faults.fail(method, fault, method === "commitStep" ? 3 : 2);
        const { turnId } = await world.start(node, "Hi", { conversationId });
        await world.until(() => follow.has("turn-sealed", turnId), "the turn is over");
        await world.idle(node, conversationId);
        follow.checkOrder();
        const log = await world.log(node, conversationId);
        checkEqual(transcript(log), twoStepLog, "the log");
        checkEqual(JSON.stringify(follow.state.chunks), JSON.stringify(log), "what the follower has folded");
        checkEqual(node.provider.calls.length, 2, "calls of the model");
        checkEqual(only(follow.events, "done").reason, "stop", "the reason");
        const [metrics] = await node.me.metrics(conversationId);
        checkEqual(metrics?.usage, { inputTokens: 30, outputTokens: 11 }, "the usage that is kept");
        const next = await world.turn(node, "Again", { conversationId });
        checkEqual(only(next.events, "done").reason, "stop", "the next turn");
      },
    })),
  );
}

/** Returns cases in which a call that opens a turn fails with an unknown outcome. */
function admissionFaultCases(): RuntimeTopicCase[] {
  return (["before", "after"] as const).flatMap((fault): RuntimeTopicCase[] => [
    {
      name: `a send whose admission fails ${fault} its effect can be made again: one message, one turn`,
      async run(world) {
        const node = await world.node({ script: twoSteps, tools: [adder] });
        const input = { conversationId: world.id("c"), messageId: world.id("m"), message: "Hi" };
        node.faults.fail("admit", fault);
        checkEqual(await world.refusal(node.me.send(input), "the send"), "store_unavailable", "the code");
        const receipt = await world.pass(node.me.send(input), "the same send");
        checkEqual([receipt.outcome, receipt.repeated], ["started", fault === "after"], "the receipt");
        await world.turnEvents(node, input.conversationId, receipt.turnId ?? "");
        checkEqual(transcript(await world.log(node, input.conversationId)), twoStepLog, "the log");
        checkEqual(node.provider.calls.length, 2, "calls of the model");
      },
    },
    {
      name: `a send whose admission fails ${fault} its effect, and is given up, leaves ${fault === "after" ? "a turn that runs" : "nothing"}`,
      async run(world) {
        const node = await world.node({ script: twoSteps, tools: [adder] });
        const input = { conversationId: world.id("c"), messageId: world.id("m"), message: "Hi" };
        node.faults.fail("admit", fault);
        checkEqual(await world.refusal(node.me.send(input), "the send"), "store_unavailable", "the code");
        if (fault === "before") {
          await world.advance(world.lease.ttlMs);
          checkEqual((await node.me.list()).conversations, [], "conversations");
          return;
        }
        await world.until(() => node.provider.calls.length === 2, "the turn runs");
        await world.idle(node, input.conversationId);
        checkEqual(transcript(await world.log(node, input.conversationId)), twoStepLog, "the log");
      },
    },
    {
      name: `resuming a queue that fails ${fault} its effect can be done again, and opens one turn`,
      async run(world) {
        const at = gate();
        const node = await world.node({
          script: (_, index) => (index === 0 ? [text("A"), pause(at)] : [text("B.")]),
        });
        const { conversationId, turnId } = await world.start(node, "Hi");
        await world.pass(at.reached, "the model writes");
        await node.me.queue.add({ conversationId, message: "later" });
        await node.me.stop(conversationId);
        await world.turnEvents(node, conversationId, turnId);
        node.faults.fail("queue", fault);
        const resume = () => node.me.queue.resume(conversationId);
        checkEqual(await world.refusal(resume(), "resuming"), "store_unavailable", "the code");
        if (fault === "before") await resume();
        await world.until(() => node.provider.calls.length === 2, "what waited gets its turn");
        await world.idle(node, conversationId);
        const log = await world.log(node, conversationId);
        checkEqual(transcript(log), ["user: Hi", "assistant: A", "user: later", "assistant: B."], "the log");
      },
    },
    {
      name: `a fork with a message that fails ${fault} its effect can be made again: one fork, one turn`,
      async run(world) {
        const node = await world.node();
        const { receipt } = await world.turn(node);
        const input = {
          conversationId: receipt.conversationId,
          atSeq: 2,
          id: world.id("f"),
          message: "And?",
          messageId: world.id("m"),
        };
        node.faults.fail("fork", fault);
        checkEqual(await world.refusal(node.me.fork(input), "the fork"), "store_unavailable", "the code");
        const forked = await world.pass(node.me.fork(input), "the same fork");
        checkEqual(forked.conversation.id, input.id, "the fork");
        await world.until(() => node.provider.calls.length === 2, "the fork's turn runs");
        await world.idle(node, input.id);
        checkEqual((await world.log(node, input.id)).length, 4, "the fork's log");
        checkEqual(node.provider.calls.length, 2, "calls of the model");
      },
    },
  ]);
}
