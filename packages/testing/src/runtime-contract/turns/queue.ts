import type { QueueApi } from "@parley/core/runtime";
import { check, checkEqual } from "../../contract-case.js";
import { type Gate, gate } from "../../gate.js";
import { fail, pause, text, toolCall } from "../../provider/script.js";
import {
  always,
  ofType,
  only,
  type RuntimeTopicCase,
  type TestNode,
  transcript,
  type World,
} from "../world.js";

/** Creates a tool that waits at a gate, so that a case can act while a step runs. */
export function waiting(at: Gate, name = "wait") {
  return {
    name,
    async execute(_: unknown, { signal }: { signal: AbortSignal }) {
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      await Promise.race([at.wait(), aborted]);
      return "waited";
    },
  };
}

/** Lets messages wait, each in its own request, in order. */
async function waitIn(
  node: TestNode,
  conversationId: string,
  ...inputs: (string | Partial<Parameters<QueueApi["add"]>[0]>)[]
) {
  const ids: string[] = [];
  for (const input of inputs) {
    const { message = "", ...more } = typeof input === "string" ? { message: input } : input;
    const receipt = await node.me.queue.add({ ...more, conversationId, message });
    checkEqual(receipt.outcome, "queued", "what a message does while a turn runs");
    checkEqual(receipt.turnId, undefined, "the turn of a message that waits");
    ids.push(receipt.messageId);
  }
  return ids;
}

/** Starts a turn that waits in its tool, at a gate. */
async function inTool(world: World, answers: (index: number) => string = (index) => `Answer ${index}.`) {
  const at = gate();
  const node = await world.node({
    script: (_, index) => (index === 0 ? [text("On it. "), toolCall("wait")] : [text(answers(index))]),
    tools: [waiting(at)],
  });
  const conversationId = world.id("c");
  await node.me.create({ id: conversationId });
  const follow = await world.joined(node, conversationId);
  const { turnId } = await world.start(node, "Go", { conversationId });
  await world.pass(at.reached, "the tool runs");
  return { at, node, conversationId, turnId, follow };
}

/** Cases of waiting messages: their delivery, and changes until then. */
export const queueCases: RuntimeTopicCase[] = [
  {
    name: "messages that steer are delivered together at the tool-result boundary, each under its own id",
    async run(world) {
      const { at, node, conversationId, turnId, follow } = await inTool(world);
      const ids = await waitIn(node, conversationId, "Shorter!", { message: "And kinder.", mode: "steer" });
      checkEqual((await node.me.queue.list(conversationId)).messages.length, 2, "messages that wait");
      at.open();
      await world.until(() => follow.count("turn-sealed") === 1, "the turn is over");
      follow.checkOrder();
      const steering = only(follow.events, "steering");
      checkEqual(
        [steering.turnId, steering.text, steering.messageIds],
        [turnId, "Shorter!\n\nAnd kinder.", ids],
        "the steering event",
      );
      const log = await world.log(node, conversationId);
      checkEqual(
        transcript(log),
        [
          "user: Go",
          "assistant: On it.  [wait {}]",
          "tool: [waited]",
          "user: Shorter!",
          "user: And kinder.",
          "assistant: Answer 1.",
        ],
        "the log",
      );
      checkEqual(new Set(log.map((chunk) => chunk.turnId)).size, 1, "turns in the log");
      const shown = node.provider.calls[1]?.params.messages.slice(-2).map(({ content }) => content[0]?.text);
      checkEqual(shown, ["Shorter!", "And kinder."], "what the model was shown last");
      checkEqual((await node.me.queue.list(conversationId)).messages, [], "what waits now");
      const receipt = await node.me.send({ conversationId, message: "Shorter!", messageId: ids[0] });
      checkEqual([receipt.outcome, receipt.turnId], ["queued", turnId], "the receipt after delivery");
    },
  },
  {
    name: "at the turn's end the waiting steers open the next turn together, without a steering event",
    async run(world) {
      const at = gate();
      const node = await world.node({
        script: (_, index) => (index === 0 ? [text("Long "), pause(at), text("answer.")] : [text("Right.")]),
      });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const first = await world.start(node, "Go", { conversationId });
      await world.pass(at.reached, "the model writes");
      const ids = await waitIn(node, conversationId, { message: "later", mode: "queue" }, "a", {
        message: "b",
        mode: "steer",
      });
      at.open();
      await world.until(() => follow.count("turn-sealed") === 3, "three turns are over");
      follow.checkOrder();
      checkEqual(ofType(follow.events, "steering"), [], "steering events");
      const inputs = ofType(follow.events, "user-message");
      checkEqual(
        inputs.map(({ text: shown }) => shown),
        ["Go", "a\n\nb", "later"],
        "what opened the turns",
      );
      checkEqual(
        inputs[1]?.messages,
        [
          { messageId: ids[1], text: "a" },
          { messageId: ids[2], text: "b" },
        ],
        "the messages that opened the second turn",
      );
      // The next turn opened in the same commit, so no pause was published in between.
      const statuses = ofType(follow.events, "status").map(({ status }) => status);
      checkEqual(statuses.filter((status) => status === "idle").length, 1, "how often it was idle");
      checkEqual(follow.state.status, "idle", "the status in the end");
      const receipt = await node.me.send({ conversationId, message: "later", messageId: ids[0] });
      const [, , third] = ofType(follow.events, "turn-sealed");
      checkEqual(receipt.turnId, third?.turnId, "the turn of the message that waited longest");
      check(first.turnId !== third?.turnId, "each message got a turn of its own");
      await world.log(node, conversationId);
    },
  },
  {
    name: "messages of mode queue are not steered in: each opens a turn of its own, with its own choices",
    async run(world) {
      const { at, node, conversationId, follow } = await inTool(world);
      await waitIn(
        node,
        conversationId,
        { message: "one", mode: "queue", reasoningEffort: "low" },
        { message: "two", mode: "queue", instructions: "Be brief." },
      );
      at.open();
      await world.until(() => follow.count("turn-sealed") === 3, "three turns are over");
      follow.checkOrder();
      checkEqual(ofType(follow.events, "steering"), [], "steering events");
      const efforts = node.provider.calls.map(({ params }) => params.reasoningEffort);
      checkEqual(efforts, ["high", "high", "low", "high"], "efforts of the calls");
      const first = node.provider.calls.map(({ params }) => params.messages[0]?.role);
      checkEqual(first, ["user", "user", "user", "system"], "who speaks first");
    },
  },
  ...(["stop", "error"] as const).map(
    (how): RuntimeTopicCase => ({
      name: `${how === "stop" ? "a stop" : "an error"} pauses the queue and drops nothing; a send runs its own turn; resuming continues`,
      async run(world) {
        const at = gate();
        const node = await world.node({
          script: (_, index) =>
            index === 0
              ? [text("A "), pause(at), ...(how === "error" ? [fail("network")] : [text("b.")])]
              : [text(`Answer ${index}.`)],
        });
        const { conversationId, turnId } = await world.start(node, "Go");
        await world.pass(at.reached, "the model writes");
        await waitIn(node, conversationId, "steer", { message: "wait", mode: "queue" });
        if (how === "stop") checkEqual(await node.me.stop(conversationId), { abortedTurn: true }, "a stop");
        at.open();
        const events = await world.turnEvents(node, conversationId, turnId);
        checkEqual(only(events, "done").reason, how === "stop" ? "aborted" : "error", "the reason");
        const paused = await node.me.queue.list(conversationId);
        checkEqual([paused.messages.length, paused.paused], [2, true], "what waits, paused");
        checkEqual((await node.me.meta(conversationId)).status, "idle", "the status");

        const own = await world.turn(node, "Now this", { conversationId });
        checkEqual(only(own.events, "user-message").text, "Now this", "what opened the turn");
        checkEqual((await node.me.queue.list(conversationId)).messages.length, 2, "what still waits");

        const resumed = await node.me.queue.resume(conversationId);
        check(resumed.turnId !== undefined, "resuming an idle conversation opens a turn");
        const next = await world.turnEvents(node, conversationId, resumed.turnId);
        checkEqual(only(next, "user-message").text, "steer", "what opened the resumed turn");
        await world.until(() => node.provider.calls.length === 4, "the last message gets its turn");
        await world.idle(node, conversationId);
        const after = await node.me.queue.list(conversationId);
        checkEqual([after.messages, after.paused], [[], undefined], "the queue in the end");
        const users = (await world.log(node, conversationId)).filter(({ role }) => role === "user");
        checkEqual(
          users.map(({ chunk }) => ("text" in chunk ? chunk.text : "")),
          ["Go", "Now this", "steer", "wait"],
          "user messages",
        );
      },
    }),
  ),
  {
    name: "what waits can be edited, moved, switched and removed until it is delivered",
    async run(world) {
      const { at, node, conversationId, follow } = await inTool(world);
      const [a = "", b = "", c = "", d = ""] = await waitIn(
        node,
        conversationId,
        { message: "a", mode: "queue" },
        { message: "b", mode: "queue" },
        { message: "c", mode: "queue" },
        { message: "d", mode: "queue" },
      );
      const { queue } = node.me;
      await queue.edit(conversationId, b, { text: "b, better", reasoningEffort: "max" });
      await queue.edit(conversationId, c, { before: a });
      await queue.edit(conversationId, a, { mode: "steer" });
      await queue.remove(conversationId, d);
      checkEqual((await queue.remove(conversationId, d)).messages.length, 3, "removing twice");
      const list = await queue.list(conversationId);
      checkEqual(
        list.messages.map(({ id, text: shown, mode }) => [id, shown, mode]),
        [
          [c, "c", "queue"],
          [a, "a", "steer"],
          [b, "b, better", "queue"],
        ],
        "the queue",
      );
      at.open();
      await world.until(() => follow.count("turn-sealed") === 3, "three turns are over");
      follow.checkOrder();
      checkEqual(only(follow.events, "steering").messageIds, [a], "what was steered in");
      checkEqual(
        ofType(follow.events, "user-message").map(({ text: shown }) => shown),
        ["Go", "c", "b, better"],
        "what opened the turns",
      );
      checkEqual(node.provider.calls.at(-1)?.params.reasoningEffort, "max", "the effort that was edited in");
      const late = [
        () => queue.edit(conversationId, a, { text: "x" }),
        () => queue.remove(conversationId, b),
      ];
      for (const change of late) {
        checkEqual(await world.refusal(change(), "a change after delivery"), "message_conflict", "the code");
      }
      const unknown = queue.edit(conversationId, "unknown", { text: "x" });
      checkEqual(await world.refusal(unknown, "a message that never waited"), "invalid_request", "the code");
      const empty = queue.edit(conversationId, a, { text: " " });
      checkEqual(await world.refusal(empty, "an empty text"), "invalid_request", "the code");
    },
  },
  {
    name: "adding to the queue of an idle conversation starts a turn, and is idempotent by message id",
    async run(world) {
      const node = await world.node({ script: always(text("Yes.")) });
      const conversationId = world.id("c");
      const messageId = world.id("m");
      const receipt = await node.me.queue.add({ conversationId, message: "Hi", messageId });
      checkEqual([receipt.outcome, receipt.repeated], ["started", false], "the receipt");
      await world.turnEvents(node, conversationId, receipt.turnId ?? "");
      const again = await node.me.queue.add({ conversationId, message: "Hi", messageId });
      checkEqual(again, { ...receipt, repeated: true }, "the receipt of the same message");
    },
  },
  {
    name: "resuming right after a stop waits for its end, and continues with what waits, from any node",
    async run(world) {
      for (const from of ["the turn's node", "another node"]) {
        const at = gate();
        const node = await world.node({
          script: (_, index) => (index === 0 ? [text("A"), pause(at)] : [text("More.")]),
        });
        const other = from === "another node" ? await world.node({ script: always(text("More.")) }) : node;
        const { conversationId, turnId } = await world.start(node, "Go");
        await world.pass(at.reached, "the turn runs");
        await waitIn(node, conversationId, "later");
        checkEqual(await other.me.stop(conversationId), { abortedTurn: true }, `a stop from ${from}`);
        const resumed = await world.pass(other.me.queue.resume(conversationId), "the queue goes on");
        check(resumed.turnId !== undefined && resumed.turnId !== turnId, `${from} opens the next turn`);
        const next = await world.turnEvents(other, conversationId, resumed.turnId);
        checkEqual(only(next, "user-message").text, "later", "what opened it");
        const after = await other.me.queue.list(conversationId);
        checkEqual([after.messages, after.paused], [[], undefined], "the queue in the end");
      }
    },
  },
  {
    name: "resuming while a turn runs only ends the pause",
    async run(world) {
      const gates = [gate(), gate()];
      const node = await world.node({
        script: (_, index) => {
          const at = gates[index];
          return at === undefined ? [text("More.")] : [text("A"), pause(at)];
        },
      });
      const { conversationId, turnId } = await world.start(node, "Go");
      await world.pass(gates[0]?.reached ?? Promise.resolve(), "the first turn runs");
      await waitIn(node, conversationId, "later");
      await node.me.stop(conversationId);
      await world.turnEvents(node, conversationId, turnId);
      const second = await world.start(node, "Other", { conversationId });
      await world.pass(gates[1]?.reached ?? Promise.resolve(), "the second turn runs");
      const resumed = await node.me.queue.resume(conversationId);
      checkEqual([resumed.turnId, resumed.queue.paused], [undefined, undefined], "resuming");
      gates[1]?.open();
      await world.turnEvents(node, conversationId, second.turnId);
      await world.until(() => node.provider.calls.length === 3, "what waited gets its turn");
      await world.idle(node, conversationId);
      await world.log(node, conversationId);
    },
  },
];
