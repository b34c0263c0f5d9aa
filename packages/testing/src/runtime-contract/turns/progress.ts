import { checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { pause, text, toolCall, usage } from "../../provider/script.js";
import { summing } from "../compaction/summing.js";
import type { Follow } from "../follow.js";
import { always, ofType, type RuntimeTopicCase } from "../world.js";

const progressIn = (follow: Follow) =>
  ofType(follow.events, "turn-progress").map(({ progress }) => progress?.activity);

/** Cases of the state of a turn that shows nothing new: published live, and not stored. */
export const progressCases: RuntimeTopicCase[] = [
  {
    name: "a call that is made again says so, with its cause, until something new can be seen",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: always(pause(at), text("Here."), usage(10, 2)) });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Hi", { conversationId });
      await world.pass(at.reached, "the model is asked");
      node.provider.calls[0]?.params.onRetry?.({ code: "rate_limited", delayMs: 2_000 });
      const [published] = ofType(follow.events, "turn-progress");
      const { since = 0, ...rest } = published?.progress ?? {};
      checkEqual(
        rest,
        { activity: "retrying", retryAt: since + 2_000, code: "rate_limited" },
        "what is published",
      );
      const joined = await world.joined(node, conversationId);
      checkEqual(progressIn(joined), ["retrying"], "what a reader of events receives that joins");
      const { activeTurn } = await node.me.meta(conversationId);
      checkEqual(activeTurn?.progress, published?.progress, "the metadata");
      at.open();
      await world.until(() => follow.has("turn-sealed", turnId), "the turn is sealed");
      follow.checkOrder();
      checkEqual(progressIn(follow), ["retrying", undefined], "it ends with the first word");
      const later = await world.turnEvents(node, conversationId, turnId);
      checkEqual(ofType(later, "turn-progress"), [], "what is published of it later");
      const exported = JSON.stringify(await node.me.turn(conversationId, turnId));
      checkEqual(exported.includes("retrying"), false, "it is in the log");
    },
  },
  {
    name: "a compaction in the middle of a turn says so while it writes",
    async run(world) {
      const at = gate();
      const reading = { name: "read", recovery: "retry" as const, execute: () => "word ".repeat(150) };
      const node = await summing(
        world,
        {
          answer: (index) => (index <= 6 ? [toolCall("read"), usage(100, 10)] : [text("Read it all.")]),
          summary: () => [pause(at), text("SUMMARY")],
        },
        { tools: [reading], contextWindow: 2_000, compactAt: 0.5 },
      );
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      await world.start(node, "Read everything", { conversationId });
      await world.pass(at.reached, "the model writes a summary");
      checkEqual(progressIn(follow), ["compacting"], "while it writes");
      const { activeTurn } = await node.me.meta(conversationId);
      checkEqual(activeTurn?.progress?.activity, "compacting", "the metadata");
      at.open();
      await world.idle(node, conversationId);
      checkEqual(progressIn(follow).slice(0, 2), ["compacting", undefined], "when the summary is there");
      checkEqual(progressIn(follow).at(-1), undefined, "at the end of the turn");
      follow.checkOrder();
    },
  },
];
