import { check, checkEqual } from "../../contract-case.js";
import { gate } from "../../gate.js";
import { hang, pause, text, toolCall } from "../../provider/script.js";
import { waiting } from "../turns/queue.js";
import { always, ofType, only, type RuntimeTopicCase, transcript } from "../world.js";

/** Cases of a node that shuts down properly: turns finish their step, and other nodes continue them. */
export const leavingCases: RuntimeTopicCase[] = [
  {
    name: "a draining node finishes the step, gives the turn back, and another node continues",
    async run(world) {
      const at = gate();
      const here = await world.node({
        script: [[text("Working. "), toolCall("wait")]],
        tools: [waiting(at)],
      });
      const there = await world.node({ script: [[text("Done.")]], tools: [waiting(gate())] });
      const conversationId = world.id("c");
      await here.me.create({ id: conversationId });
      const near = await world.joined(here, conversationId);
      const far = await world.joined(there, conversationId);
      const { turnId } = await world.start(here, "Hi", { conversationId });
      await world.pass(at.reached, "the tool runs");
      await here.me.queue.add({ conversationId, message: "Shorter!" });
      const drained = here.runtime.drain();
      checkEqual(here.runtime.status().draining, true, "the node drains");
      const refused = (async () => here.me.send({ message: "New" }))();
      checkEqual(await world.refusal(refused, "a send to a draining node"), "draining", "the code");
      at.open();
      await world.pass(drained, "the node has drained");
      checkEqual(
        [here.runtime.status().runningTurns, here.provider.calls.length],
        [0, 1],
        "what it still does",
      );
      await world.until(() => far.has("turn-sealed", turnId), "the other node goes on");
      await world.until(() => near.has("turn-sealed", turnId), "its own clients receive it");
      for (const client of [near, far]) {
        client.checkOrder();
        checkEqual(only(client.events, "done").reason, "stop", "the reason");
        checkEqual(client.count("steering"), 1, "steering events");
      }
      checkEqual(
        transcript(await world.log(there, conversationId)),
        [
          "user: Hi",
          "assistant: Working.  [wait {}]",
          "tool: [waited]",
          "user: Shorter!",
          "assistant: Done.",
        ],
        "the log",
      );
    },
  },
  {
    name: "a draining node lets a last answer finish, and leaves what waits to others",
    async run(world) {
      const at = gate();
      const here = await world.node({ script: always(text("One "), pause(at), text("two.")) });
      const { conversationId, turnId } = await world.start(here);
      await world.pass(at.reached, "the model writes");
      await here.me.queue.add({ conversationId, message: "later", mode: "queue" });
      const drained = here.runtime.drain();
      await world.advance(1_000);
      at.open();
      await world.pass(drained, "the node has drained");
      const turn = await here.me.turn(conversationId, turnId);
      checkEqual([turn.status, turn.reason], ["sealed", "stop"], "the turn");
      checkEqual(here.provider.calls.length, 1, "calls of the draining node");
      const there = await world.node({ script: always(text("Three.")) });
      await world.until(() => there.provider.calls.length === 1, "the other node takes what waits");
      await world.idle(there, conversationId);
      checkEqual(
        transcript(await world.log(there, conversationId)),
        ["user: Hi", "assistant: One two.", "user: later", "assistant: Three."],
        "the log",
      );
    },
  },
  {
    name: "past its deadline a drain seals what exists as interrupted, and the queue continues elsewhere",
    async run(world) {
      const here = await world.node({ script: always(text("Endless "), hang()) });
      const conversationId = world.id("c");
      await here.me.create({ id: conversationId });
      const near = await world.joined(here, conversationId);
      const { turnId } = await world.start(here, "Hi", { conversationId });
      await world.until(() => near.has("text-delta"), "the model writes");
      await here.me.queue.add({ conversationId, message: "later", mode: "queue" });
      await world.pass(here.runtime.drain({ deadlineMs: 500 }), "the node has drained");
      const turn = await here.me.turn(conversationId, turnId);
      checkEqual([turn.status, turn.reason], ["sealed", "interrupted"], "the turn");
      const there = await world.node({ script: always(text("Next.")) });
      await world.until(() => there.provider.calls.length === 1, "the other node takes what waits");
      await world.idle(there, conversationId);
      await world.until(() => near.count("turn-sealed") === 2, "its own clients receive it");
      near.checkOrder();
      checkEqual(
        transcript(await world.log(there, conversationId)),
        ["user: Hi", "assistant: Endless ", "user: later", "assistant: Next."],
        "the log",
      );
    },
  },
  {
    name: "a turn that is admitted while the node begins to drain is left to another node, whole",
    async run(world) {
      const here = await world.node({ script: always(text("Never.")) });
      const conversationId = world.id("c");
      const admission = here.faults.hold("admit");
      const sent = here.me.send({ conversationId, message: "Hi" });
      await world.pass(admission.reached, "the admission is on its way");
      const drained = here.runtime.drain();
      admission.open();
      const receipt = await world.pass(sent, "the send is answered");
      await world.pass(drained, "the node has drained");
      await world.until(() => here.runtime.status().runningTurns === 0, "it holds no turn");
      const there = await world.node({ script: always(text("Here.")) });
      const events = await world.turnEvents(there, conversationId, receipt.turnId ?? "");
      checkEqual(only(events, "done").reason, "stop", "the reason");
      checkEqual([here.provider.calls.length, there.provider.calls.length], [0, 1], "calls of the models");
    },
  },
  {
    name: "closing ends turns at once, and again does nothing more",
    async run(world) {
      const at = gate();
      const here = await world.node({ script: [[toolCall("wait")], [text("Never.")]], tools: [waiting(at)] });
      const { conversationId, turnId } = await world.start(here);
      await world.pass(at.reached, "the tool runs");
      await world.pass(Promise.all([here.runtime.close(), here.runtime.close()]), "the node closes");
      const there = await world.node();
      const turn = await there.me.turn(conversationId, turnId);
      checkEqual([turn.status, turn.reason], ["sealed", "interrupted"], "the turn");
      const log = await world.log(there, conversationId);
      check(
        log.some(({ chunk }) => chunk.type === "tool-result" && chunk.isError),
        "the open call has its result",
      );
    },
  },
  {
    name: "a node that cannot reach the store closes nevertheless, and its turn is taken over",
    async run(world) {
      const here = await world.node({ script: always(text("Half"), hang()) });
      const conversationId = world.id("c");
      await here.me.create({ id: conversationId });
      const near = await world.joined(here, conversationId);
      const { turnId } = await world.start(here, "Hi", { conversationId });
      await world.until(() => near.has("text-delta"), "the model writes");
      await world.advance(500);
      here.faults.cutOff();
      await world.pass(here.runtime.close(), "the node closes");
      const there = await world.node();
      const events = await world.turnEvents(there, conversationId, turnId);
      checkEqual(ofType(events, "done")[0]?.reason, "interrupted", "the reason");
    },
  },
];
