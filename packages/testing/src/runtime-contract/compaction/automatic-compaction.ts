import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { fail, hang, pause, text, toolCall, usage } from "../../provider/script.js";
import { createScriptedProvider } from "../../provider/scripted-provider.js";
import { ofType, only, type RuntimeTopicCase } from "../world.js";
import { callsFor, isSummary, shownTo, summing } from "./summing.js";

/** Creates a tool whose answers are long and different. */
function reader(words: number) {
  let reads = 0;
  return {
    name: "read",
    recovery: "retry" as const,
    execute: () => {
      reads += 1;
      return `page ${reads}: ${`word${reads} `.repeat(words)}`;
    },
  };
}

/** Cases of compaction in the middle of a turn, before a request grows too long. */
export const automaticCompactionCases: RuntimeTopicCase[] = [
  {
    name: "a long turn is compacted in its middle, continues, and can recall what was summed up",
    async run(world) {
      const node = await summing(
        world,
        {
          answer: (index) =>
            index <= 6
              ? [text(`Step ${index}. `), toolCall("read"), usage(100, 10)]
              : index === 7
                ? [toolCall("recall", { fromSeq: 3, toSeq: 4 })]
                : [text("Read it all.")],
        },
        { tools: [reader(150)], contextWindow: 2_000, compactAt: 0.5 },
      );
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { receipt, events } = await world.turn(node, "Read everything", { conversationId });
      follow.checkOrder();
      checkEqual(only(events, "done").reason, "stop", "the reason");
      const summaries = callsFor(node, "summary").length;
      check(summaries >= 1 && summaries <= 7, `at most one compaction per step, not ${summaries}`);
      const log = await world.log(node, conversationId);
      check(
        log.some(({ role, turnId }) => role === "system" && turnId === receipt.turnId),
        "a summary stands in the turn",
      );
      const shown = shownTo(callsFor(node, "answer")[6]?.params);
      check(shown.includes("SUMMARY") && shown.includes("Read everything"), "summary and input are shown");
      check(!shown.includes("page 1:"), "what was summed up is not shown");
      const recalled = ofType(events, "tool-result").find(({ toolName }) => toolName === "recall");
      check(recalled?.isError === false && recalled.content.includes("page 1:"), "it can be recalled");
      const sizes = (await node.me.turn(conversationId, receipt.turnId)).providerCalls.map(
        ({ manifest }) => manifest?.estimatedTokens ?? 0,
      );
      check(
        sizes.every((size) => size <= 1_500),
        `every request fits: ${sizes.join(", ")}`,
      );
      checkEqual(JSON.stringify(follow.state.chunks), JSON.stringify(log), "what a client has folded");
      const meta = await node.me.meta(conversationId);
      check(meta.compactedFrom !== undefined, "the meta names the archive");
      checkEqual((await node.me.list()).conversations.length, 1, "archives are not in the list");
    },
  },
  {
    name: "the calls for summaries stand among the turn's, in front of their step's, and count to no step",
    async run(world) {
      const node = await summing(
        world,
        {
          summary: () => [text("SUMMARY"), usage(1_000, 50)],
          answer: (index) =>
            index <= 4
              ? [text(`Step ${index}. `), toolCall("read"), usage(100, 10)]
              : [text("Done."), usage(100, 10)],
        },
        { tools: [reader(150)], contextWindow: 2_000, compactAt: 0.5 },
      );
      const { receipt, events } = await world.turn(node, "Read everything");
      const { conversationId, turnId } = receipt;
      const { providerCalls, metrics } = await node.me.turn(conversationId, turnId);
      const made = providerCalls.map(({ purpose = "step", stepId }) => [purpose, stepId]);
      const models = new Set(providerCalls.map(({ model }) => model));
      checkEqual([...models], [metrics?.model], "the model's name, of steps and summaries alike");
      const summaries = providerCalls.filter(({ purpose }) => purpose === "compaction");
      checkEqual(summaries.length, callsFor(node, "summary").length, "the calls for summaries");
      check(summaries.length > 0, "there are some");
      for (const [
        index,
        { purpose, stepId, usage: used, model, provider, manifest },
      ] of providerCalls.entries()) {
        if (purpose !== "compaction") continue;
        checkEqual(
          [used?.inputTokens, provider, model, manifest],
          [1_000, "test", "test/one", undefined],
          "a call",
        );
        checkEqual(made[index + 1], ["step", stepId], "the call behind it");
      }
      checkEqual(metrics?.usage, { inputTokens: 500, outputTokens: 50 }, "what the steps took");
      checkEqual(only(events, "done").usage, metrics?.usage, "what is published");
    },
  },
  {
    name: "a summary that saves nothing is not written, is said why, and is not tried before every step",
    async run(world) {
      const node = await summing(
        world,
        {
          summary: () => [text("blah ".repeat(3_000))],
          answer: (index) => (index <= 6 ? [toolCall("read")] : [text("Done.")]),
        },
        { tools: [reader(120)], contextWindow: 4_000, compactAt: 0.2 },
      );
      const { receipt, events } = await world.turn(node, "Read everything");
      checkEqual(only(events, "done").reason, "stop", "the reason");
      const log = await world.log(node, receipt.conversationId);
      check(
        log.every(({ role }) => role !== "system"),
        "no summary is written",
      );
      const reasons = node.errors
        .filter(({ where }) => where === "compaction")
        .map(({ error }) => error.code);
      check(reasons.includes("nothing_to_compact"), `it is said why: ${reasons.join(", ")}`);
      const tries = callsFor(node, "summary").length;
      check(tries >= 1 && tries <= 4, `it is tried now and then, not ${tries} times`);
    },
  },
  {
    name: "a model that fails to sum up in the middle of a turn does not end it",
    async run(world) {
      const node = await summing(
        world,
        {
          summary: () => [fail("provider_overloaded")],
          answer: (index) => (index <= 4 ? [toolCall("read")] : [text("Done.")]),
        },
        { tools: [reader(100)], contextWindow: 4_000, compactAt: 0.1 },
      );
      const { receipt, events } = await world.turn(node, "Read everything");
      checkEqual(only(events, "done").reason, "stop", "the reason");
      await world.log(node, receipt.conversationId);
      check(
        node.errors.some(({ error }) => error.code === "provider_overloaded"),
        "the failure is reported",
      );
    },
  },
  {
    name: "a stop while a turn sums up ends the turn, also where the model ignores it",
    async run(world) {
      const at = gate();
      const provider = createScriptedProvider(
        (params, index) =>
          isSummary(params) ? [pause(at), hang()] : index < 4 ? [toolCall("read")] : [text("Done.")],
        { ignoreSignal: true },
      );
      const node = await world.node({ provider, tools: [reader(200)], contextWindow: 4_000, compactAt: 0.1 });
      const { conversationId, turnId } = await world.start(node, "Read everything");
      await world.pass(at.reached, "the model sums up");
      await node.me.stop(conversationId);
      const events = await world.turnEvents(node, conversationId, turnId);
      checkEqual(only(events, "done").reason, "aborted", "the reason");
      await world.log(node, conversationId);
    },
  },
  ...(["before", "after"] as const).map(
    (fault): RuntimeTopicCase => ({
      name: `a compaction in the middle of a turn that fails ${fault} its effect is written once`,
      async run(world) {
        const node = await summing(
          world,
          { answer: (index) => (index <= 4 ? [toolCall("read")] : [text("Done.")]) },
          { tools: [reader(150)], contextWindow: 4_000, compactAt: 0.15 },
        );
        const conversationId = world.id("c");
        await node.me.create({ id: conversationId });
        const follow = await world.joined(node, conversationId);
        node.faults.fail("compact", fault, 2);
        const { events } = await world.turn(node, "Read everything", { conversationId });
        checkEqual(only(events, "done").reason, "stop", "the reason");
        const log = await world.log(node, conversationId);
        checkEqual(JSON.stringify(follow.state.chunks), JSON.stringify(log), "what a client has folded");
        const summaries = log.filter(({ role }) => role === "system").length;
        checkEqual(summaries, callsFor(node, "summary").length, "summaries in the log");
      },
    }),
  ),
  {
    name: "a threshold of 0 compacts by hand only, and a conversation's own threshold wins",
    async run(world) {
      const answer = (index: number) => (index <= 4 ? [toolCall("read")] : [text("Done.")]);
      const options = { tools: [reader(120)], contextWindow: 8_000, compactAt: 0.05 };
      const manual = await summing(world, { answer }, options);
      const conversationId = world.id("c");
      await manual.me.create({ id: conversationId, compactThreshold: 0 });
      await world.turn(manual, "Read", { conversationId });
      checkEqual(callsFor(manual, "summary").length, 0, "compactions by themselves");
      const own = await summing(world, { answer }, { ...options, compactAt: 0 });
      const other = world.id("c");
      await own.me.create({ id: other });
      const { compactThreshold, defaultThreshold } = await own.me.settings(other);
      checkEqual([compactThreshold, defaultThreshold], [undefined, 0], "the default threshold");
      await own.me.set(other, { compactThreshold: 400 });
      checkEqual((await own.me.settings(other)).compactThreshold, 400, "the conversation's threshold");
      await world.turn(own, "Read", { conversationId: other });
      check(callsFor(own, "summary").length > 0, "it is compacted at its own threshold");
      const bad = own.me.set(other, { compactThreshold: -1 });
      checkEqual(await world.refusal(bad, "a bad threshold"), "invalid_request", "the code");
    },
  },
];
