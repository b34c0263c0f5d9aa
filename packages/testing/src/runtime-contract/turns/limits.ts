import { interruptedResultText } from "@parley/core/messages";
import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import {
  delay,
  hang,
  pause,
  reasoning,
  type Script,
  type ScriptAction,
  text,
  toolCall,
} from "../../provider/script.js";
import { always, ofType, only, type RuntimeTopicCase, transcript } from "../world.js";

/** Cases of every limit, with its refusal or ending. */
export const limitCases: RuntimeTopicCase[] = [
  {
    name: "a node takes no more turns than it may run, but still what waits and what it knows",
    async run(world) {
      const at = gate();
      const node = await world.node({
        script: (_, index) => (index < 2 ? [text("A"), pause(at)] : [text("B")]),
        limits: { runningTurns: 2 },
      });
      const first = await world.start(node, "1", { messageId: "m1" });
      await world.start(node, "2");
      await world.pass(at.reached, "both run");
      const codes = [
        await world.refusal(node.me.send({ message: "3" }), "a third turn"),
        await world.refusal(
          node.me.fork({ conversationId: first.conversationId, atSeq: 0, message: "x" }),
          "a fork with a turn",
        ),
        await world.refusal(node.me.queue.resume(first.conversationId), "resuming"),
      ];
      checkEqual(codes, ["limit_exceeded", "limit_exceeded", "limit_exceeded"], "the codes");
      const waits = await node.me.send({
        conversationId: first.conversationId,
        message: "later",
        ifBusy: "steer",
      });
      checkEqual(waits.outcome, "queued", "a message that waits");
      const known = await node.me.send({
        conversationId: first.conversationId,
        message: "1",
        messageId: "m1",
      });
      checkEqual(known.repeated, true, "a message that is known");
      at.open();
      await world.until(() => node.provider.calls.length === 3, "what waited gets its turn");
      await world.until(() => node.runtime.status().runningTurns === 0, "everything is over");
      await world.turn(node, "3");
    },
  },
  {
    name: "a burst of sends cannot slip past the limits of the node and of an owner",
    async run(world) {
      const at = gate();
      const limits = { runningTurns: 6, runningTurnsPerOwner: 4 };
      const node = await world.node({ script: always(text("A"), pause(at)), limits });
      const other = node.runtime.forOwner(world.id("owner"));
      const outcomes = async (me: typeof other) => {
        const sends = Array.from({ length: 10 }, () =>
          me.send({ message: "Hi" }).then(
            ({ outcome }) => outcome as string,
            (error: { code: string }) => error.code,
          ),
        );
        return world.pass(Promise.all(sends), "all sends are answered");
      };
      const count = (list: string[]) => list.filter((outcome) => outcome === "started").length;
      const mine = await outcomes(node.me);
      checkEqual(count(mine), 4, "turns of one owner");
      checkEqual(count(await outcomes(other)), 2, "turns of the other one");
      check(
        mine.every((outcome) => outcome === "started" || outcome === "limit_exceeded"),
        "the rest is refused",
      );
      at.open();
      await world.until(() => node.runtime.status().runningTurns === 0, "everything is over");
    },
  },
  {
    name: "a queue has its length, a message its size, and an edited one too",
    async run(world) {
      const at = gate();
      const node = await world.node({
        script: always(text("A"), pause(at)),
        limits: { queueLength: 2, messageBytes: 100 },
      });
      const { conversationId } = await world.start(node, "Hi");
      const add = (message: string) => node.me.queue.add({ conversationId, message });
      const first = await add("one");
      await add("two");
      checkEqual(await world.refusal(add("three"), "one too many"), "queue_full", "the code");
      const large = "ä".repeat(60);
      const calls = [
        () => node.me.send({ message: large }),
        () => node.me.queue.edit(conversationId, first.messageId, { text: large }),
      ];
      for (const call of calls) {
        const code = await world.refusal((async () => call())(), "a message that is too large");
        checkEqual(code, "too_large", "the code");
      }
      await node.me.stop(conversationId);
      at.open();
      await world.idle(node, conversationId);
      checkEqual((await node.me.queue.list(conversationId)).messages.length, 2, "what waits");
    },
  },
  {
    name: "a tool's answer is cut at its bound, and says so",
    async run(world) {
      const node = await world.node({
        script: [[toolCall("long")], [text("Long.")]],
        tools: [{ name: "long", execute: () => "é".repeat(500) }],
        limits: { toolOutputBytes: 101 },
      });
      const { receipt, events } = await world.turn(node);
      const { content } = only(events, "tool-result");
      check(content.startsWith("é".repeat(50)) && !content.startsWith("é".repeat(51)), "the answer is cut");
      check(content.includes("of 1000 bytes"), `it says so: ${content.slice(50)}`);
      const log = await world.log(node, receipt.conversationId);
      checkEqual(
        log.find(({ chunk }) => chunk.type === "tool-result")?.chunk,
        { ...log.find(({ chunk }) => chunk.type === "tool-result")?.chunk, content },
        "what is kept",
      );
    },
  },
  {
    name: "what a tool prints is cut at the same bound, for each call by itself, and says so once",
    async run(world) {
      const printed = "é".repeat(40);
      const node = await world.node({
        script: [[toolCall("print"), toolCall("print")], [text("Long.")]],
        tools: [
          {
            name: "print",
            execute(_, { output }) {
              for (let count = 0; count < 50; count += 1) output(printed, count % 2 ? "stderr" : "stdout");
              return "printed";
            },
          },
        ],
        limits: { toolOutputBytes: 201 },
      });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const client = await world.joined(node, conversationId);
      await world.start(node, "Hi", { conversationId });
      await world.until(() => client.has("turn-sealed"), "the turn is sealed");
      const calls = ofType(client.events, "tool-result").map(({ toolCallId }) => toolCallId);
      const shown = calls.map((id) =>
        ofType(client.events, "tool-output")
          .filter(({ toolCallId }) => toolCallId === id)
          .map(({ data }) => data)
          .join(""),
      );
      const expected = `${"é".repeat(100)}\n[cut: only the first 201 bytes of this output are shown]`;
      checkEqual(shown, [expected, expected], "what is shown of each call");
    },
  },
  {
    name: "a turn makes at most so many steps, and every call has its result",
    async run(world) {
      const node = await world.node({
        script: () => [text("Again. "), toolCall("more")],
        tools: [{ name: "more", execute: () => "more" }],
        limits: { maxSteps: 3 },
      });
      const { receipt, events } = await world.turn(node);
      checkEqual(only(events, "done").reason, "max-steps", "the reason");
      checkEqual([ofType(events, "step-complete").length, node.provider.calls.length], [3, 3], "steps");
      checkEqual((await world.log(node, receipt.conversationId)).length, 10, "the log's length");
    },
  },
  {
    name: "an answer that passes a bound is cut off there, keeps what came, and the conversation continues",
    async run(world) {
      const bounds: { limits: object; script: Script; kept: string[] }[] = [
        {
          limits: { answerBytes: 8 },
          script: [text("Hello "), text("you there")],
          kept: ["assistant: Hello yo"],
        },
        {
          limits: { answerCalls: 2 },
          script: [text("All."), ...Array.from({ length: 40 }, () => toolCall("more"))],
          kept: [
            "assistant: All. [more {}] [more {}]",
            ...Array(2).fill(`tool: [failed: ${interruptedResultText}]`),
          ],
        },
        {
          limits: { answerParts: 2 },
          script: [reasoning("Hm."), text("A"), reasoning("Or?"), text("B")],
          kept: ["assistant: Hm. A"],
        },
      ];
      for (const { limits, script, kept } of bounds) {
        let ran = 0;
        const node = await world.node({
          script: (_, index) => (index === 0 ? [...script, hang()] : [text("Short.")]),
          tools: [{ name: "more", execute: () => (ran += 1) }],
          limits,
        });
        const { receipt, events } = await world.turn(node);
        const { code, message } = only(events, "error");
        checkEqual(code, "answer_too_large", "the error");
        const [name = ""] = Object.keys(limits);
        check(message.includes(`limits.${name}`), `the bound is named: ${message}`);
        checkEqual([only(events, "done").reason, ran], ["error", 0], "the end, and tools that ran");
        await world.until(() => node.provider.calls[0]?.state === "canceled", "the call is canceled");
        checkEqual(
          transcript(await world.log(node, receipt.conversationId)),
          ["user: Hi", ...kept, "assistant: [error answer_too_large]"],
          "the log",
        );
        const next = await world.turn(node, "Shorter", { conversationId: receipt.conversationId });
        checkEqual(only(next.events, "done").reason, "stop", "the next turn");
      }
    },
  },
  {
    name: "a provider without content fails the turn with timeout, and a later one keeps what came",
    async run(world) {
      const limits = { firstContentMs: 400, betweenContentMs: 300 };
      const pings: ScriptAction = async (context) => {
        for (;;) {
          await context.emit({ type: "usage", usage: { inputTokens: 1, outputTokens: 0 } });
          await context.emit({ type: "reasoning-delta", textDelta: "" });
          await delay(50)(context);
        }
      };
      const silences: { script: Script; limit: string; kept: string[] }[] = [
        { script: [hang()], limit: "firstContentMs", kept: [] },
        { script: [pings], limit: "firstContentMs", kept: [] },
        { script: [text("So "), pings], limit: "betweenContentMs", kept: ["assistant: So "] },
      ];
      for (const { script, limit, kept } of silences) {
        const node = await world.node({
          script: (_, index) => (index === 0 ? script : [text("Quick.")]),
          limits,
        });
        const { receipt, events } = await world.turn(node);
        const { code, message } = only(events, "error");
        checkEqual([code, only(events, "done").reason], ["timeout", "error"], "the end");
        check(message.includes(`limits.${limit}`), `the bound is named: ${message}`);
        checkEqual(node.provider.calls.length, 1, "calls");
        checkEqual(
          transcript(await world.log(node, receipt.conversationId)),
          ["user: Hi", ...kept, "assistant: [error timeout]"],
          "the log",
        );
        const next = await world.turn(node, "Again", { conversationId: receipt.conversationId });
        checkEqual(only(next.events, "done").reason, "stop", "the next turn");
      }
    },
  },
  {
    name: "a turn that takes too long ends with the error timeout, and keeps what exists",
    async run(world) {
      const node = await world.node({
        script: (_, index) => (index === 0 ? [text("Slow "), hang()] : [text("Quick.")]),
        limits: { turnDurationMs: 500 },
      });
      const { receipt, events } = await world.turn(node);
      checkEqual([only(events, "error").code, only(events, "done").reason], ["timeout", "error"], "the end");
      checkEqual(
        transcript(await world.log(node, receipt.conversationId)),
        ["user: Hi", "assistant: Slow ", "assistant: [error timeout]"],
        "the log",
      );
      const next = await world.turn(node, "Again", { conversationId: receipt.conversationId });
      checkEqual(only(next.events, "done").reason, "stop", "the next turn");
    },
  },
  {
    name: "a tool that takes too long is answered for, and the turn continues",
    async run(world) {
      const node = await world.node({
        script: [[toolCall("slow")], [text("I see.")]],
        tools: [{ name: "slow", execute: () => new Promise(() => {}) }],
        limits: { toolTimeoutMs: 300 },
      });
      const { events } = await world.turn(node);
      check(only(events, "tool-result").isError, "its result is an error");
      checkEqual(only(events, "done").reason, "stop", "the reason");
    },
  },
  {
    name: "an input that alone exceeds the model's window fails the turn with context_overflow",
    async run(world) {
      const node = await world.node({ contextWindow: 100 });
      const { receipt, events } = await world.turn(node, "word ".repeat(500));
      checkEqual(only(events, "error").code, "context_overflow", "the code");
      checkEqual(node.provider.calls.length, 0, "calls of the model");
      const next = await world.turn(node, "Shorter", { conversationId: receipt.conversationId });
      checkEqual(only(next.events, "done").reason, "stop", "the next turn");
    },
  },
];
