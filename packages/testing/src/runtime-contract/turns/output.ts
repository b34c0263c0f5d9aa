import type { SendInput } from "@parley/core/runtime";
import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { finish, pause, type ScriptEntry, text, toolCall, usage } from "../../provider/script.js";
import { ofType, only, type RuntimeTopicCase, transcript } from "../world.js";
import { allow, payment, waits } from "./waiting.js";

const output: NonNullable<SendInput["output"]> = {
  name: "city",
  schema: {
    type: "object",
    properties: { name: { type: "string" }, people: { type: "integer", minimum: 0 } },
    required: ["name", "people"],
    additionalProperties: false,
  },
};

const bern = '{"name": "Bern", "people": 134794}';
const half: ScriptEntry[] = [text('{"name": "Bern"}', { size: 4 }), usage(5, 2)];
const whole: ScriptEntry[] = [text(bern, { size: 4 }), usage(9, 3)];
const value = { name: "Bern", people: 134_794 };

/** Cases of turns that have to return data. */
export const outputCases: RuntimeTopicCase[] = [
  {
    name: "an answer that matches is the value of the turn, live, on replay and in the metrics",
    async run(world) {
      const node = await world.node({ script: [whole] });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Which city?", { conversationId, output });
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      follow.checkOrder();
      const expected = { valid: true, attempts: 1, value };
      checkEqual(only(follow.events, "turn-sealed").output, expected, "the value");
      const replayed = await world.turnEvents(node, conversationId, turnId);
      checkEqual(only(replayed, "turn-sealed").output, expected, "the value on replay");
      const [metrics] = await node.me.metrics(conversationId);
      checkEqual(metrics?.output, { valid: true, attempts: 1 }, "the metrics");
      checkEqual(
        transcript(await world.log(node, conversationId)),
        ["user: Which city?", `assistant: ${bern}`],
        "the log",
      );
    },
  },
  {
    name: "an answer that does not match is asked for again, without tools, and both are in the log",
    async run(world) {
      const tools = [payment([], { approval: "never" })];
      const node = await world.node({ script: [half, whole], tools });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Which city?", { conversationId, output });
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      follow.checkOrder();
      checkEqual(
        only(follow.events, "turn-sealed").output,
        { valid: true, attempts: 2, value },
        "the value of the second answer",
      );
      const invalid = only(follow.events, "output-invalid");
      checkEqual([invalid.output.name, invalid.output.attempt], ["city", 1], "the entry");
      check(invalid.output.errors.join().includes("people"), "the errors name what is missing");
      const [first, second] = node.provider.calls.map(({ params }) => params);
      checkEqual(
        first?.tools?.map(({ name }) => name),
        ["pay", "city"],
        "the tools of the first step",
      );
      checkEqual(
        second?.tools?.map(({ name }) => name),
        ["city"],
        "the tools when asked again",
      );
      checkEqual(
        second?.messages.map(({ role }) => role),
        ["user", "assistant", "user"],
        "what the model is shown",
      );
      const log = await world.log(node, conversationId);
      checkEqual(
        transcript(log).map((line) => line.split(":")[0]),
        ["user", "assistant", "system", "assistant"],
        "the log",
      );
      const late = await world.joined(node, conversationId);
      checkEqual(late.state.messages, follow.state.messages, "what a client sees that comes later");
    },
  },
  {
    name: "after the last retry the turn ends with what is wrong, and never with half a value",
    async run(world) {
      const node = await world.node({ script: () => half });
      const ask = { ...output, retries: 1 };
      const { conversationId, turnId } = await world.start(node, "Which city?", { output: ask });
      const events = await world.turnEvents(node, conversationId, turnId);
      const sealed = only(events, "turn-sealed");
      checkEqual(sealed.reason, "stop", "the reason");
      const { valid, attempts, errors = [], ...rest } = sealed.output ?? { valid: true, attempts: 0 };
      checkEqual([valid, attempts, errors.length, rest], [false, 2, 1, {}], "the output");
      checkEqual(node.provider.calls.length, 2, "calls of the model");
      for (const reason of ["length", "content-filter"] as const) {
        const other = await world.node({ script: () => [text(bern), finish(reason)] });
        const sent = await world.start(other, "Which city?", { output });
        const ended = await world.turnEvents(other, sent.conversationId, sent.turnId);
        checkEqual(only(ended, "turn-sealed").output?.valid, false, `an answer that ended by ${reason}`);
      }
    },
  },
  {
    name: "tools run in the same turn, and the data may come by a call of its own that is in no log",
    async run(world) {
      const ran: string[] = [];
      const tools = [payment(ran, { approval: "never" })];
      const node = await world.node({
        script: [
          [text("Let me pay. "), toolCall("pay", { amount: 1 }), usage(3, 1)],
          [text("Here: "), toolCall("city", bern, { progress: true }), usage(9, 3)],
        ],
        tools,
      });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Which city?", { conversationId, output });
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      follow.checkOrder();
      checkEqual(ran, ["1"], "what has run");
      checkEqual(only(follow.events, "turn-sealed").output?.value, value, "the value");
      checkEqual(only(follow.events, "turn-sealed").reason, "stop", "the reason");
      const streamed = ofType(follow.events, "text-delta").filter(({ partIndex }) => partIndex === 1);
      check(streamed.length > 1, "the data is streamed as text");
      checkEqual(streamed.map(({ delta }) => delta).join(""), bern, "what was streamed");
      checkEqual(
        transcript(await world.log(node, conversationId)).slice(-2),
        ["tool: [paid 1]", `assistant: Here:  ${bern}`],
        "the log",
      );
    },
  },
  {
    name: "a queued message keeps what it asks for, and a message that joins a turn cannot ask",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: [[text("One "), pause(at), text("moment.")], whole] });
      const { conversationId } = await world.start(node, "Hi");
      await world.pass(at.reached, "the first turn runs");
      const steer = node.me.send({ conversationId, message: "x", ifBusy: "steer", output });
      checkEqual(await world.refusal(steer, "data from a steer"), "invalid_request", "the code");
      const messageId = world.id("m");
      await node.me.send({ conversationId, messageId, message: "Which city?", ifBusy: "queue", output });
      const edited = node.me.queue.edit(conversationId, messageId, { mode: "steer" });
      checkEqual(await world.refusal(edited, "turning it into a steer"), "invalid_request", "the code");
      at.open();
      await world.until(() => node.provider.calls.length === 2, "the queued message has its turn");
      const receipt = await node.me.send({ conversationId, messageId, message: "Which city?", output });
      const events = await world.turnEvents(node, conversationId, receipt.turnId ?? "");
      checkEqual(only(events, "turn-sealed").output?.value, value, "the value");
    },
  },
  {
    name: "a turn that waited for a person still returns its data",
    async run(world) {
      const ran: string[] = [];
      const node = await world.node({
        script: [[toolCall("pay", { amount: 3 })], half, whole],
        tools: [payment(ran)],
      });
      const { conversationId, turnId, follow, pending } = await waits(world, node, "Which city?", { output });
      await world.until(() => node.runtime.status().runningTurns === 0, "nothing runs");
      await allow(node, pending[0]);
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      follow.checkOrder();
      checkEqual(only(follow.events, "turn-sealed").output, { valid: true, attempts: 2, value }, "the value");
      await world.log(node, conversationId);
    },
  },
  {
    name: "a node that dies between two answers leaves the turn to another one, which asks again and counts on",
    async run(world) {
      const at = gate();
      const here = await world.node({ script: [half, [pause(at)]] });
      const there = await world.node({ script: [whole] });
      const conversationId = world.id("c");
      await here.me.create({ id: conversationId });
      const far = await world.joined(there, conversationId);
      const { turnId } = await world.start(here, "Which city?", { conversationId, output });
      await world.pass(at.reached, "the model is asked again");
      here.faults.cutOff();
      await world.until(() => far.has("turn-sealed", turnId), "the turn is taken over and ends");
      far.checkOrder();
      checkEqual(only(far.events, "turn-sealed").output, { valid: true, attempts: 2, value }, "the value");
      at.open();
      here.faults.heal();
    },
  },
  {
    name: "a turn that is stopped, or that died in the middle of its answer, returns no data",
    async run(world) {
      const at = gate();
      const script = () => [text('{"name": "Bern", '), pause(at), text('"people": 1}')];
      const node = await world.node({ script });
      const { conversationId, turnId } = await world.start(node, "Which city?", { output });
      await world.pass(at.reached, "the answer has begun");
      await node.me.stop(conversationId);
      const events = await world.turnEvents(node, conversationId, turnId);
      const { reason, output: stopped } = only(events, "turn-sealed");
      checkEqual([reason, stopped?.valid, stopped?.attempts], ["aborted", false, 0], "the stopped turn");
      at.open();
    },
  },
  {
    name: "what cannot be asked for is refused with the field that is wrong",
    async run(world) {
      const node = await world.node();
      const wrong: NonNullable<SendInput["output"]>[] = [
        { ...output, name: "two words" },
        { ...output, retries: -1 },
        { schema: { type: "string" } },
        { schema: { "~standard": { version: 1, vendor: "none", validate: (given) => ({ value: given }) } } },
      ];
      for (const each of wrong) {
        const refused = world.refusal(node.me.send({ message: "Hi", output: each }), "an output");
        checkEqual(await refused, "invalid_request", "the code");
      }
      checkEqual(node.provider.calls.length, 0, "calls of the model");
    },
  },
];
