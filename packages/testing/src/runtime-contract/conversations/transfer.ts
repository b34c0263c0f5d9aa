import type { ExportLine } from "@parley/wire";
import { check, checkEqual } from "../../contract-case.js";
import { reasoning, text, toolCall, usage } from "../../provider/script.js";
import { callsFor, shownTo, summing } from "../compaction/summing.js";
import { adder } from "../turns/turns.js";
import { type RuntimeTopicCase, type TestNode, transcript, type World } from "../world.js";

async function exported(node: TestNode, conversationId: string): Promise<ExportLine[]> {
  const lines: ExportLine[] = [];
  for await (const line of node.me.exportLines(conversationId)) lines.push(JSON.parse(JSON.stringify(line)));
  return lines;
}

/** Creates a conversation with reasoning, tools and a compaction whose newest two messages stay as they are. */
async function conversation(world: World): Promise<{ node: TestNode; conversationId: string }> {
  const node = await summing(
    world,
    {
      answer: (index) =>
        index === 1
          ? [reasoning("Hm.", { size: 1 }), toolCall("add", { a: 1, b: 2 }), usage(10, 5)]
          : [text(`Answer ${index}.`), usage(20, 6)],
    },
    { tools: [adder] },
  );
  const conversationId = world.id("c");
  for (const question of ["Sum?", "And then?"]) await world.turn(node, question, { conversationId });
  await node.me.set(conversationId, { instructions: "Be brief.", metadata: { a: 1 } });
  await world.pass(node.me.compact(conversationId, { keepLastN: 2 }), "the compaction");
  return { node, conversationId };
}

/** Cases of conversations that are exported and imported as lines. */
export const transferCases: RuntimeTopicCase[] = [
  {
    name: "a conversation that moves by its lines shows the same, and its model is shown the same",
    async run(world) {
      const { node, conversationId } = await conversation(world);
      const lines = await exported(node, conversationId);
      const id = world.id("c");
      const imported = await node.me.importLines(lines, { id });
      checkEqual(
        [imported.created, imported.messages, imported.turns, imported.conversation.id],
        [true, 7, 2, id],
        "the answer",
      );
      const [before, after] = [await world.log(node, conversationId), await world.log(node, id)];
      checkEqual(JSON.stringify(after), JSON.stringify(before), "the log");
      checkEqual(await node.me.metrics(id), await node.me.metrics(conversationId), "the metrics");
      for (const { turnId } of await node.me.metrics(id)) {
        const { conversationId: _, ...detail } = await node.me.turn(id, turnId);
        const { conversationId: _id, ...origin } = await node.me.turn(conversationId, turnId);
        checkEqual(detail, origin, "a turn");
      }
      const asked = [];
      for (const of of [conversationId, id]) {
        await world.turn(node, "Go on", { conversationId: of });
        const params = callsFor(node, "answer").at(-1)?.params;
        // The number of messages that a summary covers is not in its lines, and no provider receives it.
        const messages = params?.messages.map(({ role, content, origin }) => ({ role, content, origin }));
        asked.push({ messages, tools: params?.tools });
      }
      check(JSON.stringify(asked[0]).includes("SUMMARY"), "the summary is read");
      checkEqual(asked[1], asked[0], "what the model is shown");
      check(!shownTo(callsFor(node, "answer").at(-1)?.params).includes("Sum?"), "what it stands for is not");
    },
  },
  {
    name: "the same lines again change nothing; other lines under that id are refused, another owner's id is free",
    async run(world) {
      const { node, conversationId } = await conversation(world);
      const lines = await exported(node, conversationId);
      const again = await node.me.importLines(lines);
      checkEqual([again.created, again.conversation.id], [false, conversationId], "where it came from");
      const id = world.id("c");
      await node.me.importLines(lines, { id });
      checkEqual((await node.me.importLines(lines, { id })).created, false, "the second import");
      const { receipt } = await world.turn(node, "Something else");
      const others = await exported(node, receipt.conversationId);
      const conflict = node.me.importLines(others, { id });
      checkEqual(await world.refusal(conflict, "other lines"), "message_conflict", "the code");
      const stranger = node.runtime.forOwner(world.id("stranger"));
      check((await stranger.importLines(lines, { id })).created, "another owner's import under the same id");
      await stranger.remove(id);
      checkEqual((await node.me.meta(id)).id, id, "the first one's conversation");
    },
  },
  {
    name: "lines that are refused, or cut, leave nothing behind; watchers are notified of the others",
    async run(world) {
      const { node, conversationId } = await conversation(world);
      const lines = await exported(node, conversationId);
      const id = world.id("c");
      async function* cut() {
        yield* lines.slice(0, 3);
        throw new Error("the connection is gone");
      }
      const received: string[] = [];
      const stop = await node.me.watch(({ type, conversationId: of }) => received.push(`${type} ${of}`));
      const bad = [
        lines.slice(0, -1),
        lines.slice(1),
        [...lines, { type: "surprise" } as unknown as ExportLine],
      ];
      for (const each of bad) {
        const refusal = world.refusal(node.me.importLines(each, { id }), "bad lines");
        checkEqual(await refusal, "invalid_request", "the code");
      }
      await node.me.importLines(cut(), { id }).then(
        () => check(false, "a cut import is refused"),
        () => {},
      );
      checkEqual(await world.refusal(node.me.meta(id), "the meta"), "conversation_not_found", "the code");
      await node.me.importLines(lines, { id });
      await world.until(() => received.includes(`conversation.updated ${id}`), "a watcher is notified");
      stop();
    },
  },
  {
    name: "an import that is larger than the limit is refused as too large",
    async run(world) {
      const node = await world.node({ limits: { importBytes: 1_000 } });
      const { receipt } = await world.turn(node, "Much ".repeat(300));
      const lines = await exported(node, receipt.conversationId);
      const refusal = node.me.importLines(lines, { id: world.id("c") });
      checkEqual(await world.refusal(refusal, "a large import"), "too_large", "the code");
    },
  },
  {
    name: "a turn that a fork inherited can be read in the fork, and leaves with it",
    async run(world) {
      const node = await world.node();
      const { receipt } = await world.turn(node, "One");
      const { conversationId, turnId } = receipt;
      await world.turn(node, "Two", { conversationId });
      const fork = await node.me.fork({ conversationId, atSeq: 2 });
      const { id } = fork.conversation;
      const { conversationId: _, ...inherited } = await node.me.turn(id, turnId);
      const { conversationId: _id, ...origin } = await node.me.turn(conversationId, turnId);
      checkEqual(inherited, origin, "the turn");
      const other = world.id("c");
      await node.me.importLines(await exported(node, id), { id: other });
      await node.me.remove(conversationId, { cascade: true });
      checkEqual(transcript(await world.log(node, other)), ["user: One", "assistant: Hello."], "the log");
      checkEqual((await node.me.turn(other, turnId)).turnId, turnId, "its turn");
    },
  },
];
