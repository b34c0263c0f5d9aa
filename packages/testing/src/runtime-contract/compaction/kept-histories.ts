import type { ProviderMessage } from "@parley/core/ports";
import { check, checkEqual } from "../../contract-case.js";
import { text, toolCall } from "../../provider/script.js";
import type { RuntimeTopicCase, TestNode, World } from "../world.js";
import { callsFor, summing } from "./summing.js";

/** Returns the texts of the request for the newest answer. */
function shown(node: TestNode): string[] {
  const messages: readonly ProviderMessage[] = callsFor(node, "answer").at(-1)?.params.messages ?? [];
  return messages.map(({ content }) => content.map((part) => String(part.text ?? part.type)).join(" "));
}

/** Runs a turn, and returns what its model was shown. */
async function asked(world: World, node: TestNode, conversationId: string, question: string) {
  await world.turn(node, question, { conversationId });
  return shown(node);
}

/**
 * Cases of kept histories: what a node keeps of a conversation between requests is never shown in place of the log.
 */
export const keptHistoryCases: RuntimeTopicCase[] = [
  {
    name: "a request continues from the node's last one, and holds what other nodes have added",
    async run(world) {
      const here = await summing(world, { answer: () => [text("From here.")] });
      const there = await summing(world, { answer: () => [text("From there.")] });
      const conversationId = world.id("c");
      await asked(world, here, conversationId, "One");
      await asked(world, there, conversationId, "Two");
      checkEqual(
        await asked(world, here, conversationId, "Three"),
        ["One", "From here.", "Two", "From there.", "Three"],
        "what is shown here",
      );
      checkEqual(
        await asked(world, there, conversationId, "Four"),
        ["One", "From here.", "Two", "From there.", "Three", "From here.", "Four"],
        "what is shown there",
      );
      const calls = callsFor(here, "answer").length;
      await here.me.hide(conversationId, {
        messageId: (await world.log(here, conversationId))[0]?.messageId ?? "",
      });
      const after = await asked(world, here, conversationId, "Five");
      checkEqual([after[0], after.at(-1)], ["From here.", "Five"], "without what was hidden");
      checkEqual(callsFor(here, "answer").length, calls + 1, "calls of the model");
    },
  },
  {
    name: "a compaction elsewhere, its undoing, and another conversation under the same id are seen at once",
    async run(world) {
      const here = await summing(world, { answer: () => [text("Answer.")] });
      const there = await summing(world, { answer: () => [text("Answer.")] });
      const conversationId = world.id("c");
      await asked(world, here, conversationId, "One");
      await asked(world, here, conversationId, "Two");
      await world.pass(there.me.compact(conversationId, { keepLastN: 2 }), "the compaction");
      checkEqual(
        await asked(world, here, conversationId, "Three"),
        ["SUMMARY", "Two", "Answer.", "Three"],
        "with the summary",
      );
      await world.pass(there.me.undoCompaction(conversationId), "the undoing");
      checkEqual(
        await asked(world, here, conversationId, "Four"),
        ["One", "Answer.", "Two", "Answer.", "Three", "Answer.", "Four"],
        "without the summary",
      );
      await world.pass(there.me.remove(conversationId), "the removal");
      await asked(world, there, conversationId, "Again");
      checkEqual(
        await asked(world, here, conversationId, "And more"),
        ["Again", "Answer.", "And more"],
        "another log under the same id",
      );
    },
  },
  {
    name: "a fork is shown what it shares and what is its own, wherever its origin has continued",
    async run(world) {
      const node = await summing(world, { answer: () => [text("Answer.")] });
      const conversationId = world.id("c");
      await asked(world, node, conversationId, "One");
      await asked(world, node, conversationId, "Two");
      const fork = world.id("f");
      await node.me.fork({ conversationId, atSeq: 2, id: fork });
      checkEqual(await asked(world, node, fork, "Other"), ["One", "Answer.", "Other"], "in the fork");
      checkEqual(
        await asked(world, node, conversationId, "Three"),
        ["One", "Answer.", "Two", "Answer.", "Three"],
        "in the origin",
      );
      checkEqual(
        await asked(world, node, fork, "Further"),
        ["One", "Answer.", "Other", "Answer.", "Further"],
        "in the fork, further",
      );
    },
  },
  {
    name: "the steps of a turn keep the prefix of the request before, on one node and on the next",
    async run(world) {
      let looks = 0;
      const look = () => {
        looks += 1;
        return `seen ${looks}`;
      };
      const tools = [{ name: "look", execute: look }];
      const answer = (index: number) => (index % 3 === 0 ? [text("Done.")] : [text("Hm."), toolCall("look")]);
      const here = await summing(world, { answer }, { tools });
      const there = await summing(world, { answer }, { tools });
      const conversationId = world.id("c");
      const kept: (boolean | undefined)[] = [];
      for (const node of [here, here, there, here]) {
        const { receipt } = await world.turn(node, "Look", { conversationId });
        const { providerCalls } = await node.me.turn(conversationId, receipt.turnId);
        checkEqual(providerCalls.length, 3, "the calls of a turn");
        kept.push(...providerCalls.map(({ manifest }) => manifest?.prefixKept));
      }
      checkEqual(kept, [undefined, ...Array.from({ length: 11 }, () => true)], "whether the prefix was kept");
      check(looks === 8, `the tool ran ${looks} times`);
    },
  },
];
