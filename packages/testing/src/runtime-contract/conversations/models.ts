import type { WatchEvent } from "@parley/core/runtime";
import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { pause, refuse, text, usage } from "../../provider/script.js";
import { createScriptedProvider, type ScriptedProvider } from "../../provider/scripted-provider.js";
import { only, type RuntimeTopicCase, type TestNode, testModel, type World } from "../world.js";

interface TwoModels {
  readonly node: TestNode;
  readonly two: ScriptedProvider;
}

/** Starts a node whose default is `test/one`, with `test/two` beside it. */
async function twoModels(world: World, options: Parameters<World["node"]>[0] = {}): Promise<TwoModels> {
  const two = createScriptedProvider(() => [text("I am two."), usage(3, 3)]);
  const node = await world.node({
    ...options,
    moreModels: [testModel("two", two, { contextWindow: 4_321 })],
  });
  return { node, two };
}

const purposes = (provider: ScriptedProvider) =>
  provider.calls.map(({ params }) => params.metadata?.extensions?.["parley.purpose"] ?? "step");

/**
 * Cases of models: a conversation continues with its model, and nothing goes to another vendor because a choice was
 * omitted.
 */
export const modelCases: RuntimeTopicCase[] = [
  {
    name: "a conversation continues with the model of its last turn, and reports which one is in use and why",
    async run(world) {
      const { node, two } = await twoModels(world);
      const conversationId = world.id("c");
      const effective = async () => (await node.me.meta(conversationId)).effective;
      await node.me.create({ id: conversationId });
      const byDefault = { model: "test/one", modelFrom: "default", reasoningEffort: "high" };
      checkEqual(await effective(), byDefault, "before the first turn");
      await world.turn(node, "1", { conversationId, model: "test/two" });
      await world.turn(node, "2", { conversationId });
      checkEqual([node.provider.calls.length, two.calls.length], [0, 2], "calls of the models");
      checkEqual(await effective(), { ...byDefault, model: "test/two", modelFrom: "last-turn" }, "after it");
      const meta = await node.me.meta(conversationId);
      checkEqual([meta.model, meta.contextWindow], [undefined, 4_321], "the setting and the window");
      const { conversations } = await node.me.list();
      checkEqual(conversations[0]?.effective?.model, "test/two", "the model in the list");
      await node.me.set(conversationId, { model: "test/one", reasoningEffort: "low" });
      const set = { model: "test/one", modelFrom: "conversation", reasoningEffort: "low" };
      checkEqual(await effective(), set, "behind a setting");
      checkEqual((await node.me.settings(conversationId)).effective, set, "beside the settings");
      await world.turn(node, "3", { conversationId, model: "test/two" });
      await world.turn(node, "4", { conversationId });
      checkEqual([node.provider.calls.length, two.calls.length], [1, 3], "calls with a setting");
    },
  },
  {
    name: "a list has pinned ones first, and those of a model as they show it; a search stays in its conversation",
    async run(world) {
      const { node } = await twoModels(world);
      const [a, b, c] = [world.id("a"), world.id("b"), world.id("c")];
      await world.turn(node, "otters", { conversationId: a, model: "test/two" });
      await world.advance(10);
      await world.turn(node, "otters", { conversationId: b, model: "test/one" });
      await world.advance(10);
      await node.me.create({ id: c });
      const received: WatchEvent[] = [];
      const stop = await node.me.watch((event) => received.push(event));
      const listed = async (query: Parameters<typeof node.me.list>[0] = {}) =>
        (await node.me.list(query)).conversations.map(({ id }) => id);
      checkEqual(await listed({ model: "test/two" }), [a], "of a model");
      checkEqual(
        await listed({ model: "test/one" }),
        [c, b],
        "of the default, which one without turns would use",
      );
      checkEqual((await node.me.set(a, { pinned: true })).pinned, true, "what setting it returns");
      await world.until(
        () => received.some((event) => event.type === "conversation.updated" && event.meta.pinned === true),
        "watchers receive the pin",
      );
      stop();
      checkEqual(await listed({ pinned: "first" }), [a, c, b], "pinned first");
      checkEqual(await listed({ pinned: "first", limit: 1 }), [a], "a page of them");
      checkEqual(await listed(), [c, b, a], "newest activity first");
      checkEqual((await node.me.settings(a)).pinned, true, "its settings");
      const lines = [];
      for await (const line of node.me.exportLines(a)) lines.push(line);
      const { conversation } = await node.me.importLines(lines, { id: world.id("copy") });
      checkEqual(conversation.pinned, true, "an import of its export");
      checkEqual((await node.me.set(a, { pinned: null })).pinned, undefined, "when it is taken away");
      const { hits } = await node.me.search({ q: "otters", conversationId: b });
      checkEqual(
        hits.map(({ conversationId, seq }) => [conversationId, seq]),
        [[b, 1]],
        "found in one",
      );
      checkEqual(
        await world.refusal(node.me.search({ q: "otters", conversationId: "unknown" }), "in an unknown one"),
        "conversation_not_found",
        "the code",
      );
    },
  },
  {
    name: "what waits, and what a fork begins, is answered by the conversation's model",
    async run(world) {
      const at = gate();
      const two = createScriptedProvider((_, index) => [...(index === 0 ? [pause(at)] : []), text("Two.")]);
      const node = await world.node({ moreModels: [testModel("two", two)] });
      const { conversationId } = await world.start(node, "1", { model: "test/two" });
      await world.pass(at.reached, "the model is asked");
      await node.me.queue.add({ conversationId, message: "2", mode: "queue" });
      at.open();
      await world.until(() => two.calls.length === 2, "what waited is asked");
      await world.idle(node, conversationId);
      const { conversation, turnId } = await node.me.fork({ conversationId, atSeq: 0, message: "1, better" });
      check(turnId !== undefined, "the fork begins with a turn");
      await world.turnEvents(node, conversation.id, turnId);
      checkEqual([node.provider.calls.length, two.calls.length], [0, 3], "calls of the models");
    },
  },
  {
    name: "a node with another default does not change the model of a conversation",
    async run(world) {
      const { node } = await twoModels(world);
      const { receipt } = await world.turn(node, "1");
      const { conversationId } = receipt;
      const other = createScriptedProvider(() => [text("Other.")]);
      const second = await world.node({
        moreModels: [testModel("other", other)],
        defaultModel: "test/other",
      });
      const { events } = await world.turn(second, "2", { conversationId });
      checkEqual(only(events, "turn-start").model, "test/one", "the model of the next turn");
      await world.turn(second, "A first message");
      checkEqual(other.calls.length, 1, "calls of the other default");
    },
  },
  {
    name: "a model that is gone is named, in a turn and in a compaction, and nothing else is asked",
    async run(world) {
      const { node } = await twoModels(world);
      const conversationId = world.id("c");
      await world.turn(node, "1", { conversationId, model: "test/two" });
      const poorer = await world.node();
      const { events } = await world.turn(poorer, "2", { conversationId });
      const error = only(events, "error");
      checkEqual(error.code, "model_unavailable", "the code");
      check(error.message.includes('"test/two"'), `the message names the model: ${error.message}`);
      const compaction = poorer.me.compact(conversationId, { keepLastN: 0 });
      checkEqual(await world.refusal(compaction, "a compaction"), "model_unavailable", "its code");
      checkEqual(poorer.provider.calls.length, 0, "calls of the default");
      const meta = await poorer.me.meta(conversationId);
      checkEqual(meta.effective?.model, "test/two", "the model in use");
      await world.turn(poorer, "3", { conversationId, model: "test/one" });
      await world.turn(poorer, "4", { conversationId });
      checkEqual(poorer.provider.calls.length, 2, "calls after another choice");
    },
  },
  {
    name: "a compaction by hand asks the conversation's model, unless it names one",
    async run(world) {
      const { node, two } = await twoModels(world);
      const conversationId = world.id("c");
      await world.turn(node, "1", { conversationId, model: "test/two" });
      await world.turn(node, "2", { conversationId });
      await world.pass(node.me.compact(conversationId, { keepLastN: 0 }), "a compaction");
      checkEqual(
        [node.provider.calls.length, purposes(two)],
        [0, ["step", "step", "compaction"]],
        "who is asked",
      );
      await world.turn(node, "3", { conversationId });
      await world.pass(
        node.me.compact(conversationId, { keepLastN: 0, modelName: "test/one" }),
        "a compaction by another model",
      );
      checkEqual(purposes(node.provider), ["compaction"], "calls of the model that was named");
      await world.turn(node, "4", { conversationId });
      checkEqual(purposes(two).at(-1), "step", "the next turn's model");
      checkEqual(node.provider.calls.length, 1, "calls of the default");
    },
  },
  {
    name: "a title is asked from the conversation's model where the configuration says so",
    async run(world) {
      const { node, two } = await twoModels(world, { titleModel: "conversation" });
      const { receipt } = await world.turn(node, "Hello there", { model: "test/two" });
      let title = "";
      await world.until(() => {
        void node.me.meta(receipt.conversationId).then((meta) => {
          title = meta.title;
        });
        return title === "I am two.";
      }, "the title is there");
      checkEqual([node.provider.calls.length, purposes(two)], [0, ["step", "title"]], "who is asked");
    },
  },
  {
    name: "a title is asked after the first turn that was answered, not after one that failed",
    async run(world) {
      const node = await world.node({
        titleModel: "conversation",
        script: (_, index) => (index === 0 ? [refuse("invalid_request")] : [text("Fine."), usage(3, 3)]),
      });
      const { receipt } = await world.turn(node, "Hello there");
      const { conversationId } = receipt;
      await world.turn(node, "Once more", { conversationId });
      let title = "";
      await world.until(() => {
        void node.me.meta(conversationId).then((meta) => {
          title = meta.title;
        });
        return title === "Fine.";
      }, "the title is there");
      checkEqual(purposes(node.provider), ["step", "step", "title"], "the calls");
      await world.turn(node, "And again", { conversationId });
      checkEqual(purposes(node.provider).at(-1), "step", "the call after it");
    },
  },
  {
    name: "a model that writes no titles is not asked for one",
    async run(world) {
      const plain = createScriptedProvider(() => [text("I am plain."), usage(3, 3)]);
      const node = await world.node({
        titleModel: "conversation",
        moreModels: [testModel("plain", plain, { writesTitles: false })],
      });
      const { receipt } = await world.turn(node, "Hello there", { model: "test/plain" });
      await world.turn(node, "And again", { conversationId: receipt.conversationId });
      checkEqual(purposes(plain), ["step", "step"], "the calls");
    },
  },
];
