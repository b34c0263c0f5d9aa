import type { WindowChange } from "@parley/core/runtime";
import { check, checkEqual } from "../../contract-case.js";
import { fail, text, usage } from "../../provider/script.js";
import { only, type RuntimeTopicCase, type TestNode } from "../world.js";

/** Cases of learning a model's window: the evidence, the owners it holds for, and its expiry. */
export const windowCases: RuntimeTopicCase[] = [
  {
    name: "no answer to a short request keeps anyone from asking the provider again",
    async run(world) {
      const answers = [
        fail("too_large", "status 413"),
        fail("context_overflow", "too long"),
        fail("context_overflow", "too long", { details: { contextWindow: 1 } }),
        fail("context_overflow", "too long", { details: { contextWindow: 300 } }),
      ];
      for (const answer of answers) {
        for (const isOtherFirst of [true, false]) {
          const node = await world.node({
            script: (_, index) => (index === 0 ? [answer] : [text("Fine."), usage(900, 3)]),
            instructions: "Be brief. ".repeat(200),
          });
          const other = asOwner(node, world.id("owner"));
          const failed = await world.turn(node, "Hi");
          checkEqual(only(failed.events, "done").reason, "error", "the first turn");
          for (const next of isOtherFirst ? [other, node] : [node, other]) {
            const { receipt, events } = await world.turn(next, "Hi again");
            checkEqual(only(events, "done").reason, "stop", "the next turn of either owner");
            checkEqual(await windowOf(next, receipt.conversationId), 100_000, "the window after a success");
          }
          checkEqual(node.provider.calls.length, 3, "calls of the model");
        }
      }
    },
  },
  {
    name: "a limit that the provider names holds for its owner at once, and shortens the next request",
    async run(world) {
      const changes: WindowChange[] = [];
      const node = await world.node({
        script: (_, index) =>
          index === 2
            ? [fail("context_overflow", undefined, { details: { contextWindow: 900 } })]
            : [text("Fine."), usage(20, 3)],
        compactAt: 0,
        hooks: { onWindowChange: (change) => changes.push(change) },
      });
      const other = asOwner(node, world.id("owner"));
      const conversationId = world.id("c");
      for (const message of ["word ".repeat(1_500), "Short", "And now?"]) {
        await world.turn(node, message, { conversationId });
      }
      checkEqual(
        changes,
        [
          {
            model: "test/one",
            owner: world.owner,
            scope: "owner",
            from: 100_000,
            to: 900,
            source: "named",
          },
        ],
        "what is logged",
      );
      checkEqual(await windowOf(node, conversationId), 900, "the gauge's window");
      checkEqual(
        node.runtime.models().modelInfo?.["test/one"]?.contextWindow,
        100_000,
        "the declared window",
      );
      const next = await world.turn(node, "Once more", { conversationId });
      checkEqual(only(next.events, "done").reason, "stop", "the next turn");
      const shown = JSON.stringify(node.provider.calls.at(-1)?.params.messages);
      check(!shown.includes("word word"), "what does not fit is left out");

      const theirs = await world.turn(other, "word ".repeat(1_500));
      checkEqual(await windowOf(other, theirs.receipt.conversationId), 100_000, "another owner's window");
      checkEqual(only(theirs.events, "done").reason, "stop", "another owner's turn");
    },
  },
  {
    name: "a limit that was learned refuses nothing: what must stay is sent, and a success disproves the limit",
    async run(world) {
      const changes: WindowChange[] = [];
      const node = await world.node({
        script: (_, index) =>
          index === 0
            ? [fail("context_overflow", undefined, { details: { contextWindow: 500 } })]
            : [text("Fine.")],
        hooks: { onWindowChange: (change) => changes.push(change) },
      });
      const conversationId = world.id("c");
      await world.turn(node, "Hi", { conversationId });
      checkEqual(await windowOf(node, conversationId), 500, "the learned window");
      const long = await world.turn(node, "word ".repeat(2_000), { conversationId });
      checkEqual(only(long.events, "done").reason, "stop", "a turn longer than the learned window");
      checkEqual(await windowOf(node, conversationId), 100_000, "the window after it");
      checkEqual(
        changes.map(({ source, from, to }) => [source, from, to]),
        [
          ["named", 100_000, 500],
          ["disproved", 500, 100_000],
        ],
        "what is logged",
      );
    },
  },
  {
    name: "an overflow near the declared window is learned for its owner, and compaction fits the learned window",
    async run(world) {
      const node = await world.node({
        script: ({ messages }, index) =>
          messages[0]?.role === "system"
            ? [text("Summary.")]
            : index === 1
              ? [fail("context_overflow", "too long")]
              : [text("Fine.")],
        contextWindow: 2_000,
        compactAt: 0.95,
      });
      const conversationId = world.id("c");
      await world.turn(node, "word ".repeat(700), { conversationId });
      const refused = await world.turn(node, "word ".repeat(720), { conversationId });
      checkEqual(only(refused.events, "error").code, "context_overflow", "the provider's refusal");
      const learned = await windowOf(node, conversationId);
      check(learned < 1_450 && learned > 1_300, `the inferred window: ${learned}`);
      const next = await world.turn(node, "And now?", { conversationId });
      checkEqual(only(next.events, "done").reason, "stop", "the next turn");
    },
  },
];

function asOwner(node: TestNode, owner: string): TestNode {
  return { ...node, me: node.runtime.forOwner(owner) };
}

/** Returns the window that the gauge shows, the same in the detail and in a snapshot. */
async function windowOf(node: TestNode, conversationId: string): Promise<number> {
  const { contextWindow = 0 } = await node.me.meta(conversationId);
  return contextWindow;
}
