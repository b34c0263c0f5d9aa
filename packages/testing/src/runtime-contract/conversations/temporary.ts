import type { WatchEvent } from "@parley/core/runtime";
import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { pause, text, toolCall, usage } from "../../provider/script.js";
import { createScriptedProvider } from "../../provider/scripted-provider.js";
import { payment, waits } from "../turns/waiting.js";
import { always, type RuntimeTopicCase, type TestNode, testModel, type World } from "../world.js";

async function listed(node: TestNode): Promise<string[]> {
  return (await node.me.list()).conversations.map(({ id }) => id);
}

/** Waits until a conversation is gone. */
async function untilGone(world: World, node: TestNode, id: string): Promise<void> {
  let isGone = false;
  await world.until(() => {
    node.me.meta(id).catch(() => {
      isGone = true;
    });
    return isGone;
  }, "the conversation is gone");
}

/** Cases of conversations that are deleted at the end. */
export const temporaryCases: RuntimeTopicCase[] = [
  {
    name: "a temporary conversation is in no list and no search, and has no generated title, until it is kept",
    async run(world) {
      const namer = createScriptedProvider(() => [text("A Fine Name")]);
      const node = await world.node({ moreModels: [testModel("namer", namer)], titleModel: "test/namer" });
      const { receipt } = await world.turn(node, "About wombats", { temporary: true });
      const { conversationId } = receipt;
      const meta = await node.me.meta(conversationId);
      checkEqual([meta.temporary, meta.title], [true, "About wombats"], "the conversation");
      const { conversationId: plain } = (await world.turn(node, "Plain")).receipt;
      await world.until(() => namer.calls.length > 0, "the other one is named");
      checkEqual(await listed(node), [plain], "the list");
      checkEqual((await node.me.search({ q: "wombats" })).hits, [], "the search");
      const exported = [];
      for await (const line of node.me.exportLines(conversationId)) exported.push(line);
      check(!JSON.stringify(exported[0]).includes("temporary"), "what is imported from an export is kept");

      const { conversation } = await world.pass(
        node.me.fork({ conversationId, atSeq: 2, message: "Another way" }),
        "a fork",
      );
      checkEqual(conversation.temporary, true, "a fork of it");
      const second = await world.turn(node, "More", { conversationId, temporary: true });
      checkEqual(second.receipt.conversationId, conversationId, "a message that names it so again");
      await world.turn(node, "Even more", { conversationId: plain, temporary: true });
      checkEqual((await node.me.meta(plain)).temporary, undefined, "one that existed");

      const kept = await node.me.set(conversationId, { temporary: null });
      checkEqual(kept.temporary, undefined, "what was kept");
      checkEqual((await listed(node)).sort(), [plain, conversationId].sort(), "the list");
      checkEqual((await node.me.search({ q: "wombats" })).hits.length, 1, "the search");
      checkEqual(namer.calls.length, 1, "how often the model was asked for a title");
      await node.me.remove(conversation.id);
    },
  },
  {
    name: "one that is unused is deleted by every node and for every watcher; its usage stays",
    async run(world) {
      const node = await world.node({ script: always(text("Hello."), usage(30, 3)) });
      const { conversationId } = (await world.turn(node, "Hi", { temporary: true })).receipt;
      const { conversationId: plain } = (await world.turn(node, "Plain")).receipt;
      const { conversationId: keptId } = (await world.turn(node, "Kept", { temporary: true })).receipt;
      await node.me.set(keptId, { temporary: null });
      const received: WatchEvent[] = [];
      const stop = await world.pass(
        node.me.watch((event) => received.push(event)),
        "watching",
      );
      const before = (await node.me.usage()).total;
      const sweepers = [await world.node({ temporaryMs: 40 }), await world.node({ temporaryMs: 40 })];
      await world.until(
        () =>
          received.some(
            (event) => event.type === "conversation.removed" && event.conversationId === conversationId,
          ),
        "watchers of another node are notified",
      );
      checkEqual(
        await world.refusal(node.me.meta(conversationId), "reading it"),
        "conversation_not_found",
        "the refusal",
      );
      checkEqual((await listed(node)).sort(), [plain, keptId].sort(), "what is left");
      checkEqual((await node.me.usage()).total, before, "the usage");
      checkEqual(
        sweepers.flatMap(({ errors }) => errors),
        [],
        "what failed on the nodes that delete",
      );
      stop();
    },
  },
  {
    name: "a turn that runs keeps a temporary conversation; one that waits for input does not",
    async run(world) {
      const asked = gate();
      const slow = createScriptedProvider(() => [pause(asked), text("At last.")]);
      const node = await world.node({
        script: [[toolCall("pay", { amount: 1 })]],
        tools: [payment([])],
        moreModels: [testModel("slow", slow)],
      });
      const running = await world.start(node, "Slowly", { temporary: true, model: "test/slow" });
      await world.pass(asked.reached, "the model is asked");
      const waiting = await waits(world, node);
      await node.me.set(waiting.conversationId, { temporary: true });
      const sweeper = await world.node({ temporaryMs: 40 });
      await untilGone(world, sweeper, waiting.conversationId);
      checkEqual((await node.me.input.pending()).pending, [], "requests that are left");
      checkEqual((await node.me.meta(running.conversationId)).status, "active", "the one with a turn");
      asked.open();
      await untilGone(world, node, running.conversationId);
    },
  },
];
