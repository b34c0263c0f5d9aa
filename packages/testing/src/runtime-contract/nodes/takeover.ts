import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { hang, pause, reasoning, text, toolCall, usage } from "../../provider/script.js";
import { waiting } from "../turns/queue.js";
import {
  always,
  ofType,
  only,
  type RuntimeTopicCase,
  type TestNode,
  transcript,
  type World,
} from "../world.js";

const interrupted = "[failed: The call was interrupted before it had a result.]";

/** Starts two nodes, the first of which runs a turn that a client on each of them follows. */
async function running(
  world: World,
  here: TestNode,
  there: TestNode,
): Promise<{ conversationId: string; turnId: string; clients: Awaited<ReturnType<World["joined"]>>[] }> {
  const conversationId = world.id("c");
  await here.me.create({ id: conversationId });
  const clients = [await world.joined(here, conversationId), await world.joined(there, conversationId)];
  const { turnId } = await world.start(here, "Hi", { conversationId });
  return { conversationId, turnId, clients };
}

/** Waits for the end of a turn whose node is gone, and checks that it was taken over in time. */
async function takenOver(world: World, isOver: () => boolean): Promise<void> {
  const before = world.passedMs;
  await world.until(isOver, "the turn is taken over and ends");
  const took = world.passedMs - before;
  check(took <= world.lease.ttlMs + 2_000, `a take-over within the TTL and 2 s, not ${took} ms`);
}

/** Checks that clients on both nodes have folded the log, also on the node that was away. */
async function checkClients(
  world: World,
  here: TestNode,
  there: TestNode,
  conversationId: string,
  clients: readonly { readonly state: { readonly chunks: readonly unknown[] } }[],
): Promise<void> {
  here.faults.heal();
  const log = JSON.stringify(await world.log(there, conversationId));
  for (const client of clients) {
    await world.until(() => JSON.stringify(client.state.chunks) === log, "a client has the whole log");
  }
}

/** Cases of nodes that die, lose contact or leave, and of their turns. */
export const takeoverCases: RuntimeTopicCase[] = [
  {
    name: "a turn whose node dies in a tool that may be retried continues elsewhere",
    async run(world) {
      const at = gate();
      const tool = { ...waiting(at), recovery: "retry" as const };
      const again = { name: "wait", execute: () => "waited again" };
      const here = await world.node({
        script: [[text("Working. "), toolCall("wait"), usage(5, 2)]],
        tools: [tool],
      });
      const there = await world.node({
        script: [[text("Done."), usage(9, 3)]],
        tools: [{ ...again, recovery: "retry" }],
      });
      const { conversationId, turnId, clients } = await running(world, here, there);
      await world.pass(at.reached, "the tool runs");
      here.faults.cutOff();
      const [near, far] = clients;
      check(near !== undefined && far !== undefined, "two clients");
      await takenOver(world, () => far.has("turn-sealed", turnId));
      far.checkOrder();
      checkEqual(only(far.events, "done").reason, "stop", "the reason");
      checkEqual(
        transcript(await world.log(there, conversationId)),
        ["user: Hi", "assistant: Working.  [wait {}]", "tool: [waited again]", "assistant: Done."],
        "the log",
      );
      const [metrics] = await there.me.metrics(conversationId);
      checkEqual(
        [metrics?.steps.length, metrics?.usage, metrics?.contextSize],
        [2, { inputTokens: 14, outputTokens: 5 }, 12],
        "the metrics of both nodes' steps",
      );
      await checkClients(world, here, there, conversationId, clients);
      near.checkOrder();
    },
  },
  {
    name: "a turn whose node dies in a tool that may not be retried is sealed as interrupted",
    async run(world) {
      const at = gate();
      const here = await world.node({
        script: [[text("Working. "), toolCall("wait", {}, { id: "k1" }), usage(5, 2)]],
        tools: [waiting(at)],
      });
      const there = await world.node({ tools: [waiting(gate())] });
      const { conversationId, turnId, clients } = await running(world, here, there);
      await world.pass(at.reached, "the tool runs");
      await here.me.queue.add({ conversationId, message: "later", mode: "queue" });
      here.faults.cutOff();
      const [near, far] = clients;
      check(near !== undefined && far !== undefined, "two clients");
      await takenOver(world, () => far.has("turn-sealed", turnId));
      checkEqual(ofType(far.events, "done")[0]?.reason, "interrupted", "the reason");
      checkEqual(ofType(far.events, "turn-sealed")[0]?.reason, "interrupted", "the reason of the seal");
      await world.until(() => far.count("turn-sealed") === 2, "what waited gets its turn on the other node");
      far.checkOrder();
      checkEqual(
        transcript(await world.log(there, conversationId)),
        [
          "user: Hi",
          "assistant: Working.  [wait {}]",
          `tool: ${interrupted}`,
          "user: later",
          "assistant: Hello.",
        ],
        "the log",
      );
      await checkClients(world, here, there, conversationId, clients);
      near.checkOrder();
    },
  },
  {
    name: "what a model had written when its node died is kept, short by at most one flush",
    async run(world) {
      const [durable, published] = [gate(), gate()];
      const here = await world.node({
        script: always(
          text("One two ", { size: 1 }),
          pause(durable),
          text("three ", { size: 1 }),
          pause(published),
          hang(),
        ),
      });
      const there = await world.node();
      const { conversationId, turnId, clients } = await running(world, here, there);
      const [near, far] = clients;
      check(near !== undefined && far !== undefined, "two clients");
      await world.pass(durable.reached, "the model writes");
      await world.until(() => far.lines.at(-1) === "assistant: One two ", "the text is durable");
      here.faults.cutOff();
      durable.open();
      await world.until(() => near.lines.at(-1) === "assistant: One two three ", "more was published here");
      await takenOver(world, () => far.has("turn-sealed", turnId));
      far.checkOrder();
      checkEqual(only(far.events, "done").reason, "interrupted", "the reason");
      checkEqual(
        transcript(await world.log(there, conversationId)),
        ["user: Hi", "assistant: One two "],
        "the log",
      );
      const next = await world.turn(there, "Go on", { conversationId });
      checkEqual(only(next.events, "done").reason, "stop", "the next turn");
      await checkClients(world, here, there, conversationId, clients);
      checkEqual(near.lines, far.lines, "what both clients show");
    },
  },
  {
    name: "of two calls the one whose result was published is kept, and only the other is made again",
    async run(world) {
      const at = gate();
      let quick = 0;
      const quickTool = {
        name: "quick",
        recovery: "retry" as const,
        execute: () => {
          quick += 1;
          return `quick ${quick}`;
        },
      };
      const here = await world.node({
        script: [[toolCall("quick"), toolCall("wait")]],
        tools: [quickTool, { ...waiting(at), recovery: "retry" }],
      });
      const there = await world.node({
        script: [[text("Done.")]],
        tools: [quickTool, { name: "wait", recovery: "retry", execute: () => "waited" }],
      });
      const { conversationId, turnId, clients } = await running(world, here, there);
      const [near, far] = clients;
      check(near !== undefined && far !== undefined, "two clients");
      await world.until(() => near.has("tool-result"), "the quick result is published");
      here.faults.cutOff();
      await takenOver(world, () => far.has("turn-sealed", turnId));
      far.checkOrder();
      checkEqual(quick, 1, "how often the quick tool ran");
      checkEqual(
        transcript(await world.log(there, conversationId)),
        [
          "user: Hi",
          "assistant: [quick {}] [wait {}]",
          "tool: [quick 1]",
          "tool: [waited]",
          "assistant: Done.",
        ],
        "the log",
      );
      const [metrics] = await there.me.metrics(conversationId);
      checkEqual(
        metrics?.steps[0]?.tools?.map(({ toolName, isError }) => [toolName, isError]),
        [
          ["quick", false],
          ["wait", false],
        ],
        "the tools of the step",
      );
      await checkClients(world, here, there, conversationId, clients);
      near.checkOrder();
    },
  },
  {
    name: "a turn whose node died before the model's first word starts again elsewhere",
    async run(world) {
      const here = await world.node({ script: always(hang()) });
      const there = await world.node({ script: always(text("Here I am.")) });
      const { conversationId, turnId, clients } = await running(world, here, there);
      await here.provider.called(1);
      here.faults.cutOff();
      const [near, far] = clients;
      check(near !== undefined && far !== undefined, "two clients");
      await takenOver(world, () => far.has("turn-sealed", turnId));
      far.checkOrder();
      checkEqual(
        transcript(await world.log(there, conversationId)),
        ["user: Hi", "assistant: Here I am."],
        "the log",
      );
      await checkClients(world, here, there, conversationId, clients);
      near.checkOrder();
    },
  },
  {
    name: "a turn whose node died while its model was reasoning continues elsewhere, and keeps what was thought",
    async run(world) {
      const at = gate();
      const here = await world.node({
        script: always(reasoning("Let me see. ", { size: 4 }), pause(at), text("Never.")),
      });
      const there = await world.node({
        script: always(reasoning("Again. "), text("Here I am."), usage(7, 2)),
      });
      const { conversationId, turnId, clients } = await running(world, here, there);
      const [near, far] = clients;
      check(near !== undefined && far !== undefined, "two clients");
      await world.pass(at.reached, "the model reasons");
      const thought = () =>
        far.events.map((event) => (event.type === "reasoning-delta" ? event.delta : "")).join("");
      await world.until(() => thought() === "Let me see. ", "all of its reasoning is durable");
      here.faults.cutOff();
      await takenOver(world, () => far.has("turn-sealed", turnId));
      far.checkOrder();
      checkEqual(only(far.events, "done").reason, "stop", "the reason");
      const log = await world.log(there, conversationId);
      checkEqual(
        log.map(({ role, chunk }) => [role, chunk.type, "text" in chunk ? chunk.text : ""]),
        [
          ["user", "text", "Hi"],
          ["assistant", "thinking", "Let me see. "],
          ["assistant", "thinking", "Again. "],
          ["assistant", "text", "Here I am."],
        ],
        "the log",
      );
      const [metrics] = await there.me.metrics(conversationId);
      checkEqual(
        [metrics?.steps.length, metrics?.usage, metrics?.contextSize],
        [2, { inputTokens: 7, outputTokens: 2 }, 9],
        "the metrics",
      );
      await checkClients(world, here, there, conversationId, clients);
      near.checkOrder();
    },
  },
  {
    name: "a turn outlives two nodes",
    async run(world) {
      const gates = [gate(), gate()];
      const tools = (at = gate()) => [{ ...waiting(at), recovery: "retry" as const }];
      const script = [[text("On it. "), toolCall("wait")]];
      const first = await world.node({ script, tools: tools(gates[0]) });
      const { conversationId, turnId } = await world.start(first, "Hi");
      await world.pass(gates[0]?.reached ?? Promise.resolve(), "the tool runs");
      const second = await world.node({ script: [[text("Never.")]], tools: tools(gates[1]) });
      first.faults.cutOff();
      await world.pass(gates[1]?.reached ?? Promise.resolve(), "the tool runs on the second node");
      second.faults.cutOff();
      const third = await world.node({
        script: [[text("Done.")]],
        tools: [{ name: "wait", recovery: "retry", execute: () => "waited" }],
      });
      const events = await world.turnEvents(third, conversationId, turnId);
      checkEqual(only(events, "done").reason, "stop", "the reason");
      checkEqual(
        transcript(await world.log(third, conversationId)),
        ["user: Hi", "assistant: On it.  [wait {}]", "tool: [waited]", "assistant: Done."],
        "the log",
      );
    },
  },
  {
    name: "a node that starts takes over what dead nodes have left",
    async run(world) {
      const at = gate();
      const here = await world.node({ script: always(text("Half"), pause(at)) });
      const { conversationId, turnId } = await world.start(here);
      await world.pass(at.reached, "the model writes");
      await world.advance(200);
      here.faults.cutOff();
      await world.advance(world.lease.ttlMs + 100);
      const there = await world.node();
      const turn = await there.me.turn(conversationId, turnId);
      checkEqual(
        [turn.status, turn.reason],
        ["sealed", "interrupted"],
        "the turn, when the node has started",
      );
    },
  },
  {
    name: "a node that lost touch publishes nothing and starts no tool past its deadline, and comes back under a new name",
    async run(world) {
      const [writing, late] = [gate(), gate()];
      let started = 0;
      const tool = {
        name: "act",
        execute: () => {
          started += 1;
          return "acted";
        },
      };
      const here = await world.node({
        script: (_, index) =>
          index === 0
            ? [text("One "), pause(writing), pause(late), text("two. "), toolCall("act")]
            : [text("Back.")],
        // It continues although it was stopped, as a careless provider does.
        tools: [tool],
      });
      const { conversationId, turnId } = await world.start(here);
      const near = await world.joined(here, conversationId);
      await world.pass(writing.reached, "the model writes");
      const name = here.runtime.status().node;
      here.faults.cutOff();
      writing.open();
      await world.advance(world.lease.ttlMs + 100);
      checkEqual(here.runtime.status().alive, false, "the node believes in itself");
      const frames = near.frames.length;
      late.open();
      await world.advance(1_000);
      checkEqual([near.frames.length, started], [frames, 0], "what it publishes and starts");
      const refused = here.me.send({ conversationId, message: "Now?" });
      checkEqual(await world.refusal(refused, "a send"), "store_unavailable", "the code");

      here.faults.heal();
      await world.until(() => here.runtime.status().alive, "the node is back");
      check(here.runtime.status().node !== name, "it comes back under a new name");
      const events = await world.turnEvents(here, conversationId, turnId);
      checkEqual(only(events, "done").reason, "interrupted", "the reason");
      checkEqual(started, 0, "tools that started");
      const next = await world.turn(here, "Again", { conversationId });
      checkEqual(only(next.events, "done").reason, "stop", "the next turn");
      await world.until(() => near.has("turn-sealed", next.receipt.turnId), "its client receives everything");
      const log = await world.log(here, conversationId);
      checkEqual(JSON.stringify(near.state.chunks), JSON.stringify(log), "what its client has folded");
    },
  },
  {
    name: "the late writes of a node that lost its turn are refused",
    async run(world) {
      const [writing, finish] = [gate(), gate()];
      const here = await world.node({
        script: [[text("Mine. "), pause(writing), text("All mine."), pause(finish)]],
      });
      const there = await world.node();
      const { conversationId, turnId, clients } = await running(world, here, there);
      await world.pass(writing.reached, "the model writes");
      await world.advance(200);
      // The seal is in transit when the node loses contact, and arrives after another node has sealed.
      const seal = here.faults.hold("seal");
      writing.open();
      finish.open();
      await world.pass(seal.reached, "the seal is on its way");
      const heartbeats = [here.faults.hold("heartbeat")];
      const far = clients[1];
      check(far !== undefined, "a client on the other node");
      await takenOver(world, () => far.has("turn-sealed", turnId));
      checkEqual(only(far.events, "done").reason, "interrupted", "the reason");
      const before = JSON.stringify(await world.log(there, conversationId));
      seal.open();
      for (const held of heartbeats) held.open();
      await world.until(() => here.runtime.status().runningTurns === 0, "the node has given the turn up");
      await world.until(() => here.runtime.status().alive, "the node is back");
      checkEqual(
        JSON.stringify(await world.log(there, conversationId)),
        before,
        "the log after the late write",
      );
      await checkClients(world, here, there, conversationId, clients);
    },
  },
  {
    name: "a stop that was asked for before its node died is obeyed by the one that takes over",
    async run(world) {
      const at = gate();
      const tool = { ...waiting(at), recovery: "retry" as const };
      const here = await world.node({ script: [[text("Working. "), toolCall("wait")]], tools: [tool] });
      const { conversationId, turnId } = await world.start(here);
      await world.pass(at.reached, "the tool runs");
      await here.me.queue.add({ conversationId, message: "later" });
      here.faults.cutOff();
      const there = await world.node({
        tools: [tool],
        lease: { ...world.lease, stopMs: world.lease.ttlMs * 10 },
      });
      checkEqual(await there.me.stop(conversationId), { abortedTurn: true }, "the stop");
      const events = await world.turnEvents(there, conversationId, turnId);
      checkEqual(only(events, "done").reason, "aborted", "the reason");
      checkEqual((await there.me.queue.list(conversationId)).paused, true, "the queue is paused");
      await world.log(there, conversationId);
    },
  },
  {
    name: "a claim whose answer is lost leaves no turn behind",
    async run(world) {
      const here = await world.node({ script: always(hang()) });
      const there = await world.node({ script: always(text("Taken over.")) });
      const { conversationId, turnId, clients } = await running(world, here, there);
      await here.provider.called(1);
      here.faults.cutOff();
      there.faults.fail("claimExpired", "after", 8);
      there.faults.fail("takeOver", "after");
      const far = clients[1];
      check(far !== undefined, "a client on the other node");
      await world.until(() => far.has("turn-sealed", turnId), "the turn is taken over");
      far.checkOrder();
      checkEqual(
        transcript(await world.log(there, conversationId)),
        ["user: Hi", "assistant: Taken over."],
        "the log",
      );
    },
  },
];
