import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { pause, text, toolCall } from "../../provider/script.js";
import { waiting } from "../turns/queue.js";
import { only, type RuntimeTopicCase, type TestNode, transcript, type World } from "../world.js";

async function twoTurns(world: World, node: TestNode): Promise<string> {
  const conversationId = world.id("c");
  await world.turn(node, "First", { conversationId });
  await world.turn(node, "Second", { conversationId });
  return conversationId;
}

const counting = (_: unknown, index: number) => [text(`Answer ${index + 1}.`)];

/**
 * Cases of forks, which share the log up to a point; edit and regenerate are forks with a message; deleting always
 * succeeds.
 */
export const forkCases: RuntimeTopicCase[] = [
  {
    name: "a fork shares the log up to a sealed turn and continues by itself",
    async run(world) {
      const node = await world.node({ script: counting });
      const conversationId = await twoTurns(world, node);
      const origin = await world.log(node, conversationId);
      const { conversation } = await node.me.fork({ conversationId, atSeq: 2 });
      checkEqual(
        [conversation.parentId, conversation.forkedAtSeq],
        [conversationId, 2],
        "where it comes from",
      );
      const { id } = conversation;
      checkEqual(
        JSON.stringify(await world.log(node, id)),
        JSON.stringify(origin.slice(0, 2)),
        "what it shares",
      );
      await world.turn(node, "Other", { conversationId: id });
      const log = await world.log(node, id);
      checkEqual(
        transcript(log),
        ["user: First", "assistant: Answer 1.", "user: Other", "assistant: Answer 3."],
        "the fork's log",
      );
      checkEqual(JSON.stringify(await world.log(node, conversationId)), JSON.stringify(origin), "the origin");
      const follow = await world.joined(node, id);
      await world.until(() => follow.state.chunks.length === 4, "a client of the fork");
      checkEqual(JSON.stringify(follow.state.chunks), JSON.stringify(log), "what it has folded");
      checkEqual((await node.me.metrics(id)).length, 2, "turns with metrics, inherited ones included");
      const shown = JSON.stringify(node.provider.calls.at(-1)?.params.messages);
      check(shown.includes("First") && !shown.includes("Second"), "the model is shown what the fork holds");
    },
  },
  {
    name: "editing a message is a fork before it with another one; regenerating, one with the same",
    async run(world) {
      const node = await world.node({ script: counting });
      const conversationId = await twoTurns(world, node);
      const edited = await node.me.fork({ conversationId, atSeq: 2, message: "Second, but better" });
      check(edited.turnId !== undefined, "its turn runs at once");
      await world.turnEvents(node, edited.conversation.id, edited.turnId);
      checkEqual(
        transcript(await world.log(node, edited.conversation.id)),
        ["user: First", "assistant: Answer 1.", "user: Second, but better", "assistant: Answer 3."],
        "the edited one",
      );
      const again = await node.me.fork({
        conversationId,
        atSeq: 0,
        message: "First",
        reasoningEffort: "low",
      });
      const events = await world.turnEvents(node, again.conversation.id, again.turnId ?? "");
      checkEqual(only(events, "turn-sealed").firstSeq, 1, "its first seq");
      checkEqual(node.provider.calls.at(-1)?.params.reasoningEffort, "low", "the effort that was asked for");
      checkEqual((await node.me.list()).conversations.length, 3, "conversations");
    },
  },
  {
    name: "a fork leaves only where a sealed turn ends, and its id makes it idempotent",
    async run(world) {
      const at = gate();
      const node = await world.node({
        script: (_, index) => (index < 2 ? [text("Yes.")] : [text("A"), pause(at)]),
      });
      const conversationId = await twoTurns(world, node);
      for (const atSeq of [1, 3, 5, 99, -1, 1.5]) {
        const fork = node.me.fork({ conversationId, atSeq });
        checkEqual(await world.refusal(fork, `a fork at ${atSeq}`), "invalid_request", "the code");
      }
      const unknown = node.me.fork({ conversationId: world.id("c"), atSeq: 0 });
      checkEqual(await world.refusal(unknown, "of an unknown one"), "conversation_not_found", "the code");
      const id = world.id("f");
      const input = { conversationId, atSeq: 4, id, message: "Go", messageId: world.id("m") };
      const first = await node.me.fork(input);
      await world.pass(at.reached, "its turn runs");
      const second = await node.me.fork(input);
      checkEqual([second.conversation.id, second.turnId], [id, first.turnId], "the same fork again");
      const taken = node.me.fork({ ...input, atSeq: 2 });
      checkEqual(await world.refusal(taken, "another fork under this id"), "invalid_request", "the code");
      at.open();
      await world.turnEvents(node, id, first.turnId ?? "");
      const third = await node.me.fork(input);
      checkEqual(third.turnId, first.turnId, "the same fork again, when its turn is over");
      checkEqual(node.provider.calls.length, 3, "calls of the model");
      await world.log(node, id);
    },
  },
  {
    name: "deleting a conversation keeps what its forks share, and cascading takes them too",
    async run(world) {
      const node = await world.node({ script: counting });
      const conversationId = await twoTurns(world, node);
      const { conversation } = await node.me.fork({ conversationId, atSeq: 2 });
      const before = JSON.stringify(await world.log(node, conversation.id));
      checkEqual(await node.me.remove(conversationId), [conversationId], "what goes");
      const read = () => node.me.history({ conversationId });
      checkEqual(await world.refusal(read(), "the deleted one"), "conversation_not_found", "the code");
      checkEqual(JSON.stringify(await world.log(node, conversation.id)), before, "the fork's log");
      await world.turn(node, "Still here", { conversationId: conversation.id });
      const leaf = await node.me.fork({ conversationId: conversation.id, atSeq: 4 });
      const gone = await node.me.remove(conversation.id, { cascade: true });
      checkEqual(gone.toSorted(), [conversation.id, leaf.conversation.id].toSorted(), "what goes with it");
      checkEqual((await node.me.list()).conversations, [], "conversations");
      checkEqual(await node.me.remove(conversation.id), [], "deleting again");
      // Its id is free again.
      const { receipt } = await world.turn(node, "Again", { conversationId });
      checkEqual((await world.log(node, receipt.conversationId)).length, 2, "the new one's log");
    },
  },
  {
    name: "a conversation can be deleted while its turn runs, here, elsewhere and in a fork",
    async run(world) {
      const at = gate();
      let started = 0;
      let aborted = 0;
      const tool = {
        ...waiting(at),
        execute(input: unknown, context: { signal: AbortSignal }) {
          started += 1;
          context.signal.addEventListener("abort", () => {
            aborted += 1;
          });
          return waiting(at).execute(input, context);
        },
      };
      const here = await world.node({
        script: [[toolCall("wait")], [toolCall("wait")], [toolCall("wait")]],
        tools: [tool],
      });
      const there = await world.node();
      const own = await world.start(here, "Mine");
      await world.until(() => started === 1, "its tool runs");
      checkEqual(await here.me.remove(own.conversationId), [own.conversationId], "deleted here");
      const far = await world.start(here, "Yours");
      await world.until(() => started === 2, "its tool runs");
      checkEqual(await there.me.remove(far.conversationId), [far.conversationId], "deleted elsewhere");
      await world.until(() => here.runtime.status().runningTurns === 0, "nothing runs any more");
      const origin = world.id("c");
      await here.me.create({ id: origin });
      const forked = await here.me.fork({ conversationId: origin, atSeq: 0, message: "Fork" });
      await world.until(() => started === 3, "its tool runs");
      const gone = await here.me.remove(origin, { cascade: true });
      checkEqual(gone.length, 2, "deleted with its origin");
      await world.until(() => here.runtime.status().runningTurns === 0, "nothing runs any more");
      checkEqual(aborted, 3, "tools that were aborted");
      const meta = here.me.meta(forked.conversation.id);
      checkEqual(await world.refusal(meta, "the fork"), "conversation_not_found", "the code");
      checkEqual((await there.me.list()).conversations, [], "conversations");
    },
  },
  {
    name: "a fork takes on the settings of its origin, and each changes its own from then on",
    async run(world) {
      const node = await world.node({ script: counting });
      const conversationId = world.id("c");
      await node.me.create({
        id: conversationId,
        instructions: "Be brief.",
        reasoningEffort: "low",
        title: "T",
      });
      await world.turn(node, "First", { conversationId });
      const { conversation } = await node.me.fork({ conversationId, atSeq: 2 });
      await node.me.set(conversationId, { instructions: "Be long." });
      await world.turn(node, "Second", { conversationId: conversation.id });
      const { params } = node.provider.calls.at(-1) ?? {};
      checkEqual(
        [params?.messages[0]?.content[0]?.text, params?.reasoningEffort],
        ["Be brief.", "low"],
        "what the fork's model was given",
      );
    },
  },
  {
    name: "a compaction that is in force before the fork is in force in it",
    async run(world) {
      const node = await world.node({
        script: ({ messages }) =>
          String(messages[0]?.content[0]?.text).includes("memory of a conversation")
            ? [text("SUMMARY")]
            : [text("Yes.")],
      });
      const conversationId = await twoTurns(world, node);
      await node.me.compact(conversationId, { keepLastN: 0 });
      const { conversation } = await node.me.fork({ conversationId, atSeq: 5 });
      await world.turn(node, "Third", { conversationId: conversation.id });
      let shown = JSON.stringify(node.provider.calls.at(-1)?.params.messages);
      check(shown.includes("SUMMARY") && !shown.includes("First"), "the fork's model is shown the summary");
      await node.me.undoCompaction(conversation.id);
      await world.turn(node, "Fourth", { conversationId: conversation.id });
      shown = JSON.stringify(node.provider.calls.at(-1)?.params.messages);
      check(!shown.includes("SUMMARY") && shown.includes("First"), "it is undone in the fork");
      await world.turn(node, "Fifth", { conversationId });
      shown = JSON.stringify(node.provider.calls.at(-1)?.params.messages);
      check(shown.includes("SUMMARY"), "and still in force in the origin");
    },
  },
];
