import { omitUndefined } from "@parley/fold";
import type { AgentEvent, StepMetrics, TurnMetrics } from "@parley/wire";
import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import {
  crash,
  cut,
  fail,
  finish,
  part,
  pause,
  reasoning,
  refuse,
  type ScriptEntry,
  text,
  toolCall,
  usage,
} from "../../provider/script.js";
import { always, ofType, only, type RuntimeTopicCase, transcript } from "../world.js";

/** A tool that prints a line, and adds. */
export const adder = {
  name: "add",
  execute({ a, b }: { a: number; b: number }, { output }: { output(data: string): void }) {
    output("adding");
    return a + b;
  },
};

/** Cases of a turn's events, which agree with its log and its metrics. */
export const turnCases: RuntimeTopicCase[] = [
  {
    name: "figures and metadata of a provider that cannot be counted or kept do not cost its answer",
    async run(world) {
      const test = { n: 10n as unknown as number };
      const said = { type: "text" as const, text: "Whole.", providerMetadata: { test } };
      const scripts = [
        [text("Whole."), usage(Number.NaN, 4)],
        [text("Whole."), usage(3, 4, { reasoningTokens: -1, cacheReadTokens: Number.POSITIVE_INFINITY })],
        [part(said), usage(3, 4)],
      ];
      const node = await world.node({ script: (_, index) => scripts[index] ?? [] });
      for (const [index, known] of [undefined, 7, 7].entries()) {
        const { receipt, events } = await world.turn(node);
        checkEqual(only(events, "done").reason, "stop", `the reason of answer ${index}`);
        const log = transcript(await world.log(node, receipt.conversationId));
        checkEqual(log, ["user: Hi", "assistant: Whole."], `answer ${index}`);
        const [metrics] = await node.me.metrics(receipt.conversationId);
        const counted = known === undefined ? [0, 0] : [3, 4];
        checkEqual(metrics?.contextSize, known, `what is known of the context's size after answer ${index}`);
        checkEqual(
          metrics?.usage,
          { inputTokens: counted[0], outputTokens: counted[1] },
          `the usage of answer ${index}`,
        );
      }
      checkEqual(node.errors, [], "what went wrong");
    },
  },
  {
    name: "how long the model reasoned is kept with its reasoning, and is no provider's business",
    async run(world) {
      const at = gate();
      const node = await world.node({
        script: [[reasoning("Hm "), pause(at), reasoning("sums."), text("3")], [text("Yes.")]],
      });
      const { conversationId, turnId } = await world.start(node);
      const follow = await world.joined(node, conversationId);
      await world.pass(at.reached, "the model reasons");
      await world.advance(20);
      at.open();
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is over");
      const log = await world.log(node, conversationId);
      const thought = log.find(({ chunk }) => chunk.type === "thinking")?.chunk;
      check(thought?.type === "thinking" && (thought.durationMs ?? 0) > 0, "the time is kept");
      checkEqual(JSON.stringify(follow.state.chunks), JSON.stringify(log), "what a client has folded");
      await world.turn(node, "Sure?", { conversationId });
      const shown = node.provider.calls.at(-1)?.params.messages.flatMap(({ content }) => content) ?? [];
      const replayed = shown.find(({ type }) => type === "reasoning");
      checkEqual(replayed, { type: "reasoning", text: "Hm sums." }, "what the model is shown of it");
    },
  },
  {
    name: "a turn with reasoning, tools and two steps is published in order, and its log has the same",
    async run(world) {
      const node = await world.node({
        script: [
          [
            reasoning("Hm, sums.", { size: 2 }),
            text("Let me add. ", { size: 3 }),
            toolCall("add", { a: 1, b: 2 }),
            toolCall("add", { a: 3, b: 4 }),
            usage(10, 5),
          ],
          [text("3 and 7.", { size: 2 }), usage(20, 6)],
        ],
        tools: [adder],
      });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { receipt, events } = await world.turn(node, "1+2? 3+4?", { conversationId });
      await world.until(() => follow.count("status") === 2, "the follower receives the end");
      follow.checkOrder();
      const kinds = runs(follow.events.filter(({ type }) => type !== "tool-output"));
      checkEqual(
        kinds,
        [
          ...["status", "user-message", "turn-start"],
          ...["reasoning-delta", "text-delta", "tool-call", "usage", "step-complete", "tool-result"],
          ...["text-delta", "usage", "step-complete", "done", "turn-sealed", "status"],
        ],
        "the kinds of events",
      );
      checkEqual(ofType(follow.events, "tool-output").length, 2, "outputs of tools");
      const log = await world.log(node, conversationId);
      checkEqual(
        transcript(log),
        [
          "user: 1+2? 3+4?",
          'assistant: Hm, sums. Let me add.  [add {"a":1,"b":2}] [add {"a":3,"b":4}]',
          "tool: [3]",
          "tool: [7]",
          "assistant: 3 and 7.",
        ],
        "the log",
      );
      checkEqual(JSON.stringify(follow.state.chunks), JSON.stringify(log), "what the follower has folded");
      const sealed = only(events, "turn-sealed");
      checkEqual([sealed.firstSeq, sealed.lastSeq, sealed.reason], [1, log.length, "stop"], "the seal");
      checkEqual([receipt.repeated, follow.state.status], [false, "idle"], "receipt and status");
    },
  },
  {
    name: "the metrics that are kept equal what the live events said",
    async run(world) {
      const node = await world.node({
        script: [
          [text("One. "), toolCall("add", { a: 1, b: 1 }), usage(10, 5, { cacheReadTokens: 4 })],
          [text("Two. "), toolCall("add", { a: 1, b: 2 }), usage(20, 6)],
          [reasoning("Hm."), text("Three."), usage(31, 7, { reasoningTokens: 2 })],
        ],
        tools: [adder],
      });
      const { receipt, events } = await world.turn(node);
      const [metrics] = await node.me.metrics(receipt.conversationId);
      check(metrics !== undefined, "a sealed turn has metrics");
      const live = metricsFrom(events);
      const kept = { ...metrics, steps: metrics.steps.map(withoutExtras) };
      checkEqual(kept, { ...live, model: "test/one", reason: "stop" }, "metrics");
      checkEqual(metrics.contextSize, 38, "the last step's input and output");
      checkEqual(metrics.usage.inputTokens, 61, "the sum over all steps");
      checkEqual((await node.me.meta(receipt.conversationId)).contextSize, 38, "the gauge");
      checkEqual((await node.me.turn(receipt.conversationId, receipt.turnId)).metrics, metrics, "by turn");
    },
  },
  {
    name: "usage that no provider reported stays unknown",
    async run(world) {
      const node = await world.node({ script: always(text("Hello.")) });
      const { receipt, events } = await world.turn(node);
      checkEqual(ofType(events, "usage"), [], "usage events");
      const done = only(events, "done");
      checkEqual([done.usage, done.contextSize], [undefined, undefined], "usage and size of done");
      const [metrics] = await node.me.metrics(receipt.conversationId);
      checkEqual(metrics?.contextSize, undefined, "the size that is kept");
      const meta = await node.me.meta(receipt.conversationId);
      checkEqual("contextSize" in meta, false, "the gauge has a size");
      const again = await world.turnEvents(node, receipt.conversationId, receipt.turnId);
      checkEqual(only(again, "done").usage, undefined, "usage when the turn is replayed");
    },
  },
  {
    name: "the size of the context is the last step's, also where an earlier step reported more",
    async run(world) {
      const node = await world.node({
        script: [[toolCall("add", { a: 1, b: 1 }), usage(500, 50)], [text("Done.")]],
        tools: [adder],
      });
      const { receipt, events } = await world.turn(node);
      checkEqual(only(events, "done").contextSize, undefined, "a size that the last step did not report");
      checkEqual(only(events, "done").usage, { inputTokens: 500, outputTokens: 50 }, "the sum that is known");
      const [metrics] = await node.me.metrics(receipt.conversationId);
      checkEqual([metrics?.contextSize, metrics?.usage.inputTokens], [undefined, 500], "what is kept");
    },
  },
  ...failureCases(),
  {
    name: "a provider that ends with the finish reason error fails the turn, and keeps what came",
    async run(world) {
      const node = await world.node({ script: always(text("Half an ans"), usage(3, 2), finish("error")) });
      const { receipt, events } = await world.turn(node);
      checkEqual(only(events, "error").code, "provider_rejected", "the error");
      checkEqual(only(events, "done").reason, "error", "the reason");
      const log = await world.log(node, receipt.conversationId);
      checkEqual(
        transcript(log),
        ["user: Hi", "assistant: Half an ans", "assistant: [error provider_rejected]"],
        "the log",
      );
    },
  },
  {
    name: "calls that were streamed run, also where the provider's last word forgets them",
    async run(world) {
      const forgetful: ScriptEntry = {
        type: "done",
        result: {
          id: "r1",
          createdAt: new Date(0),
          message: { role: "assistant", content: [{ type: "text", text: "Adding." }] },
          finishReason: "tool-calls",
        },
      };
      const node = await world.node({
        script: [[text("Adding."), toolCall("add", { a: 2, b: 2 }, { id: "k1" }), forgetful], [text("4.")]],
        tools: [adder],
      });
      const { receipt } = await world.turn(node);
      checkEqual(
        transcript(await world.log(node, receipt.conversationId)),
        ["user: Hi", 'assistant: Adding. [add {"a":2,"b":2}]', "tool: [4]", "assistant: 4."],
        "the log",
      );
    },
  },
  {
    name: "an answer that the length ended says so, and so does one that was filtered",
    async run(world) {
      for (const reason of ["length", "content-filter"] as const) {
        const node = await world.node({ script: always(text("Long"), finish(reason)) });
        const { receipt, events } = await world.turn(node);
        checkEqual(only(events, "done").reason, reason, "the reason");
        const turn = await node.me.turn(receipt.conversationId, receipt.turnId);
        checkEqual([turn.reason, turn.status], [reason, "sealed"], "the turn that is kept");
      }
    },
  },
  {
    name: "a model that says nothing leaves a turn without an answer",
    async run(world) {
      const node = await world.node({ script: always(usage(3, 0)) });
      const { receipt, events } = await world.turn(node);
      checkEqual(only(events, "done").reason, "stop", "the reason");
      checkEqual(transcript(await world.log(node, receipt.conversationId)), ["user: Hi"], "the log");
      const again = await world.turnEvents(node, receipt.conversationId, receipt.turnId);
      checkEqual(ofType(again, "step-complete").length, 1, "steps replayed");
    },
  },
  {
    name: "tools that fail, are unknown or get bad arguments answer the model, and the turn continues",
    async run(world) {
      const node = await world.node({
        script: [
          [
            toolCall("throws", {}, { id: "k1" }),
            toolCall("missing", {}, { id: "k2" }),
            toolCall("strict", "{", { id: "k3" }),
          ],
          [text("I see.")],
        ],
        tools: [
          { name: "throws", execute: () => Promise.reject(new Error("no disk")) },
          { name: "strict", schema: { type: "object" }, execute: () => "never" },
        ],
      });
      const { receipt, events } = await world.turn(node);
      const results = ofType(events, "tool-result");
      checkEqual(
        results.map(({ toolCallId, isError }) => [toolCallId, isError]).toSorted(),
        [
          ["k1", true],
          ["k2", true],
          ["k3", true],
        ],
        "results",
      );
      checkEqual(only(events, "done").reason, "stop", "the reason");
      await world.log(node, receipt.conversationId);
    },
  },
  {
    name: "lastActivityAt moves with each append, and last waits for the running turn",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: always(text("Slow "), pause(at), text("answer.")) });
      const { conversationId, turnId } = await world.start(node);
      const before = (await node.me.meta(conversationId)).lastActivityAt;
      let answered = false;
      const last = node.me.last(conversationId).finally(() => {
        answered = true;
      });
      await at.reached;
      await world.advance(1_000);
      checkEqual(answered, false, "an answer before the turn's end");
      at.open();
      const answer = await world.pass(last, "the last answer");
      checkEqual(
        answer,
        { conversationId, text: "Slow answer.", content: "Slow answer.", turnId, reason: "stop" },
        "the last answer and its turn",
      );
      const after = (await node.me.meta(conversationId)).lastActivityAt;
      check(after > before, `lastActivityAt moves: ${before}, then ${after}`);
    },
  },
  {
    name: "waiting for the last answer can be given up, and the turn continues",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: always(text("A"), pause(at), text("B")) });
      const { conversationId, turnId } = await world.start(node);
      const abort = new AbortController();
      const last = node.me.last(conversationId, { signal: abort.signal });
      await at.reached;
      abort.abort();
      checkEqual(await world.refusal(last, "waiting that was given up"), "canceled", "the code");
      at.open();
      const events = await world.turnEvents(node, conversationId, turnId);
      checkEqual(only(events, "done").reason, "stop", "the reason");
    },
  },
];

function failureCases(): RuntimeTopicCase[] {
  const failures: [string, ScriptEntry[], string, string[]][] = [
    ["refuses the call", [refuse("provider_auth")], "provider_auth", []],
    ["fails before its first word", [fail("provider_overloaded")], "provider_overloaded", []],
    ["fails in the middle", [text("Half"), fail("rate_limited")], "rate_limited", ["assistant: Half"]],
    ["breaks", [text("Ha"), crash(new Error("boom"))], "provider_rejected", ["assistant: Ha"]],
    ["is cut off", [text("Ha"), cut()], "network", ["assistant: Ha"]],
    ["filters", [fail("content_filtered")], "content_filtered", []],
    [
      "fails behind a call",
      [toolCall("add", { a: 1, b: 1 }, { id: "k" }), fail("network")],
      "network",
      ['assistant: [add {"a":1,"b":1}]', "tool: [failed: The call was interrupted before it had a result.]"],
    ],
  ];
  return failures.map(([what, script, code, kept]) => ({
    name: `a provider that ${what} ends the turn with ${code}, and what came is kept`,
    async run(world) {
      const node = await world.node({ script: [script, [text("Better.")]], tools: [adder] });
      const { receipt, events } = await world.turn(node);
      const { conversationId, turnId } = receipt;
      const error = only(events, "error");
      checkEqual(error.code, code, "the code");
      checkEqual(only(events, "done").reason, "error", "the reason");
      const log = await world.log(node, conversationId);
      checkEqual(transcript(log), ["user: Hi", ...kept, `assistant: [error ${code}]`], "the log");
      const again = await world.turnEvents(node, conversationId, turnId);
      checkEqual(
        [only(again, "error").code, only(again, "done")],
        [code, only(events, "done")],
        "the failure, replayed",
      );
      // The next turn finds a history that it can send.
      const next = await world.turn(node, "Again", { conversationId });
      checkEqual(only(next.events, "done").reason, "stop", "the next turn");
      await world.log(node, conversationId);
    },
  }));
}

/** Joins neighbors of one kind. */
function runs(events: readonly AgentEvent[]): string[] {
  return events.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
}

function withoutExtras(step: StepMetrics): StepMetrics {
  const { stepId, usage: used, ttftMs, decodeMs, genTotalMs } = step;
  return {
    stepId,
    usage: used,
    ...omitUndefined({ ttftMs, decodeMs, genTotalMs }),
  };
}

/** Returns the metrics of a turn as a client builds them from its events. */
function metricsFrom(events: readonly AgentEvent[]): TurnMetrics {
  const done = only(events, "done");
  const none = { inputTokens: 0, outputTokens: 0 };
  const steps = ofType(events, "step-complete").map(({ stepId, ttftMs, decodeMs, genTotalMs }) => {
    const used = ofType(events, "usage").find((event) => event.stepId === stepId)?.usage ?? none;
    return withoutExtras({
      stepId,
      usage: used,
      ...omitUndefined({ ttftMs, decodeMs, genTotalMs }),
    });
  });
  return {
    turnId: done.turnId,
    usage: done.usage ?? none,
    steps,
    ...omitUndefined({ durationMs: done.durationMs, contextSize: done.contextSize }),
  };
}
