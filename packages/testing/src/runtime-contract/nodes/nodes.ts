import type { SubscriptionFrame, WatchEvent } from "@parley/core/runtime";
import { check, checkEqual } from "../../contract-case.js";
import { FrameFold } from "../../fold-frames.js";
import { gate } from "../../gate.js";
import { pause, reasoning, text, toolCall, usage } from "../../provider/script.js";
import { Follow, linesOf } from "../follow.js";
import { waiting } from "../turns/queue.js";
import { adder } from "../turns/turns.js";
import { always, ofType, only, type RuntimeTopicCase, transcript } from "../world.js";

const longTurn = [
  [
    reasoning("Hm, sums.", { size: 1 }),
    text("Let me add. ", { size: 1 }),
    toolCall("add", { a: 1, b: 2 }),
    toolCall("add", { a: 3, b: 4 }),
    usage(10, 5),
  ],
  [text("Once more. ", { size: 2 }), toolCall("add", { a: 5, b: 6 }), usage(12, 5)],
  [text("3, 7 and 11.", { size: 1 }), usage(20, 6)],
];

/** Cases of several nodes on one store: each learns what the others do, by wake-ups or by polling alone. */
export const nodeCases: RuntimeTopicCase[] = [
  ...[false, true].flatMap((withoutWake): RuntimeTopicCase[] => {
    const how = withoutWake ? "by polling alone" : "with wake-ups";
    return [
      {
        name: `a turn that runs here is followed there, ${how}: every event, in order, and the same state`,
        async run(world) {
          const here = await world.node({ script: longTurn, tools: [adder], withoutWake });
          const there = await world.node({ withoutWake });
          const conversationId = world.id("c");
          await here.me.create({ id: conversationId });
          const near = await world.joined(here, conversationId);
          const far = await world.joined(there, conversationId);
          const { turnId } = await world.start(here, "Hi", { conversationId });
          await world.until(() => near.has("turn-sealed", turnId), "the turn is over");
          await world.until(
            () => far.state.status === "idle" && far.has("turn-sealed", turnId),
            "it is received there",
          );
          near.checkOrder();
          far.checkOrder();
          const said = (events: typeof near.events) =>
            ofType(events, "text-delta")
              .map(({ delta }) => delta)
              .join("");
          checkEqual(said(far.events), said(near.events), "the text that is published");
          for (const type of ["tool-call", "tool-result", "usage", "step-complete", "done"] as const) {
            checkEqual(ofType(far.events, type), ofType(near.events, type), `${type} events`);
          }
          checkEqual(far.state.messages, near.state.messages, "what both show");
          const log = await world.log(there, conversationId);
          checkEqual(JSON.stringify(far.state.chunks), JSON.stringify(log), "what the far client has folded");
        },
      },
      {
        name: `a turn that runs here can be joined there in its middle, ${how}`,
        async run(world) {
          const [first, second] = [gate(), gate()];
          const here = await world.node({
            script: [
              [
                text("One ", { size: 1 }),
                pause(first),
                text("two. "),
                toolCall("add", { a: 1, b: 2 }),
                usage(3, 3),
              ],
              [text("Three "), pause(second), text("four."), usage(4, 4)],
            ],
            tools: [adder],
            withoutWake,
          });
          const there = await world.node({ withoutWake });
          const { conversationId, turnId } = await world.start(here);
          await world.pass(first.reached, "the model writes");
          const early = there.follow(conversationId);
          await world.until(() => early.lines.length === 2, "the early client receives it");
          first.open();
          await world.pass(second.reached, "the second step");
          const late = there.follow(conversationId);
          const withCursor = await world.joined(there, conversationId);
          await world.until(
            () => [early, late, withCursor].every(({ lines }) => lines.at(-1) === "assistant: Three "),
            "all clients receive it",
          );
          second.open();
          await world.until(
            () => [early, late, withCursor].every((client) => client.has("turn-sealed", turnId)),
            "the turn is over",
          );
          early.checkOrder();
          late.checkOrder();
          const log = await world.log(there, conversationId);
          checkEqual(JSON.stringify(withCursor.state.chunks), JSON.stringify(log), "what was folded there");
          checkEqual(
            await world.turnEvents(there, conversationId, turnId).then((events) => events.length > 0),
            true,
            "replayed there",
          );
        },
      },
      {
        name: `waiting messages, steering and resuming work from the other node, ${how}`,
        async run(world) {
          const at = gate();
          const here = await world.node({
            script: (_, index) => (index === 0 ? [toolCall("wait")] : [text(`Answer ${index}.`)]),
            tools: [waiting(at)],
            withoutWake,
          });
          const there = await world.node({ script: always(text("From there.")), withoutWake });
          const { conversationId, turnId } = await world.start(here);
          await world.pass(at.reached, "the tool runs");
          const refused = there.me.send({ conversationId, message: "Now?" });
          checkEqual(
            await world.refusal(refused, "a send to a busy conversation"),
            "turn_active",
            "the code",
          );
          const steer = await there.me.queue.add({ conversationId, message: "Shorter!" });
          const later = await there.me.queue.add({ conversationId, message: "later", mode: "queue" });
          await there.me.queue.edit(conversationId, later.messageId, { text: "later, then" });
          at.open();
          const events = await world.turnEvents(here, conversationId, turnId);
          checkEqual(only(events, "steering").messageIds, [steer.messageId], "what was steered in");
          await world.until(() => here.provider.calls.length === 3, "what waited gets its turn");
          await world.idle(here, conversationId);
          const log = await world.log(there, conversationId);
          checkEqual(
            transcript(log).filter((line) => line.startsWith("user")),
            ["user: Hi", "user: Shorter!", "user: later, then"],
            "user messages",
          );
          const next = await world.turn(there, "Your turn", { conversationId });
          checkEqual(only(next.events, "done").reason, "stop", "a turn on the other node");
          checkEqual(there.provider.calls.length, 1, "calls of the other node's model");
        },
      },
      {
        name: `a client receives everything in order when turns change nodes, ${how}`,
        async run(world) {
          const nodes = [
            await world.node({ script: longTurn, tools: [adder], withoutWake }),
            await world.node({ script: always(text("Short.")), withoutWake }),
          ];
          const [here, there] = nodes;
          check(here !== undefined && there !== undefined, "two nodes");
          const conversationId = world.id("c");
          await here.me.create({ id: conversationId });
          const clients = [
            await world.joined(here, conversationId),
            await world.joined(there, conversationId),
          ];
          const turnIds: string[] = [];
          for (const node of [here, there, there]) {
            // Immediately, so that the other node may not know of the turn yet.
            await world.idle(node, conversationId);
            const { turnId } = await world.start(node, "Go", { conversationId });
            turnIds.push(turnId);
            await world.turnEvents(node, conversationId, turnId);
          }
          for (const client of clients) {
            await world.until(() => client.count("turn-sealed") === 3, "three turns are received");
            await world.until(() => client.state.status === "idle", "and the end of the last");
            client.checkOrder();
            checkEqual(
              ofType(client.events, "turn-sealed").map(({ turnId }) => turnId),
              turnIds,
              "the turns that were received",
            );
          }
          const log = await world.log(here, conversationId);
          for (const client of clients) {
            checkEqual(JSON.stringify(client.state.chunks), JSON.stringify(log), "what was folded");
          }
        },
      },
      {
        name: `watchers on another node receive status, queue and settings, ${how}`,
        async run(world) {
          const at = gate();
          const here = await world.node({ script: always(text("A"), pause(at)), withoutWake });
          const there = await world.node({ withoutWake });
          const received: WatchEvent[] = [];
          const stop = await there.me.watch((event) => received.push(event));
          const { conversationId } = await world.start(here, "Hi");
          const statuses = () =>
            received.flatMap((event) => (event.type === "conversation.statusChanged" ? [event.status] : []));
          await world.until(() => statuses().includes("active"), "the turn is published");
          await here.me.queue.add({ conversationId, message: "later" });
          await world.until(
            () =>
              received.some((event) => event.type === "queue.changed" && event.queue.messages.length === 1),
            "the queue is published",
          );
          await here.me.set(conversationId, { title: "A new name" });
          await world.until(
            () =>
              received.some(
                (event) => event.type === "conversation.updated" && event.meta.title === "A new name",
              ),
            "the title is published",
          );
          await here.me.stop(conversationId);
          await world.until(() => statuses().at(-1) === "idle", "the end is published");
          await here.me.close(conversationId);
          await world.until(() => statuses().at(-1) === "closed", "closing is published");
          stop();
          const count = received.length;
          await here.me.set(conversationId, { title: "Not received" });
          await world.advance(world.lease.pollMs * 2);
          checkEqual(received.length, count, "events after it has stopped watching");
        },
      },
      {
        name: `watchers on another node receive compactions and deletions, once and in order, ${how}`,
        async run(world) {
          const here = await world.node({ withoutWake });
          const there = await world.node({ withoutWake });
          const { receipt } = await world.turn(here);
          const { conversationId } = receipt;
          await world.turn(here, "And?", { conversationId });
          const [near, far, stranger]: WatchEvent[][] = [[], [], []];
          const stops = [
            await here.me.watch((event) => near?.push(event)),
            await there.me.watch((event) => far?.push(event)),
            await there.runtime.forOwner(world.id("owner")).watch((event) => stranger?.push(event)),
          ];
          const result = await world.pass(
            here.me.compact(conversationId, { keepLastN: 1 }),
            "the compaction",
          );
          await here.me.remove(conversationId);
          await here.me.create({ id: conversationId, title: "Again" });
          const isRecreated = (event: WatchEvent) =>
            event.type === "conversation.updated" && event.meta.title === "Again";
          for (const received of [near, far]) {
            await world.until(
              () => received?.some(isRecreated) === true,
              "the conversation that is created again is published",
            );
            const notices = received?.filter(({ type }) => /compacted|removed/.test(type)) ?? [];
            const { summary: _, ...counts } = result;
            const removed = (id: string) => ({ type: "conversation.removed" as const, conversationId: id });
            checkEqual(
              notices,
              [
                { type: "conversation.compacted" as const, conversationId, ...counts },
                removed(conversationId),
                removed(result.newConversationId),
              ],
              "what is received",
            );
            checkEqual(
              received?.findIndex(isRecreated),
              (received?.length ?? 0) - 1,
              "what is received last",
            );
          }
          checkEqual(stranger, [], "what another owner receives");
          for (const stop of stops) stop();
        },
      },
      {
        name: `a conversation that is deleted here ends the subscriptions there, ${how}`,
        async run(world) {
          const here = await world.node({ withoutWake });
          const there = await world.node({ withoutWake });
          const { receipt } = await world.turn(here);
          const far = await world.joined(there, receipt.conversationId);
          await here.me.remove(receipt.conversationId);
          await world.until(() => far.ended !== undefined, "the subscription ends");
          checkEqual(far.ended?.error?.code, "conversation_not_found", "how it ended");
        },
      },
    ];
  }),
  {
    name: "a client that moves from node to node by its cursor folds to the same",
    async run(world) {
      const gates = [gate(), gate(), gate()];
      const [first = gate(), second = gate(), third = gate()] = gates;
      const here = await world.node({
        script: [
          [
            text("One ", { size: 1 }),
            pause(first),
            text("two. ", { size: 1 }),
            toolCall("add", { a: 1, b: 2 }),
          ],
          [
            text("Three ", { size: 1 }),
            pause(second),
            text("four ", { size: 1 }),
            pause(third),
            text("five."),
          ],
        ],
        tools: [adder],
      });
      const there = await world.node();
      const conversationId = world.id("c");
      await here.me.create({ id: conversationId });
      const stays = await world.joined(here, conversationId);
      let moves = await world.joined(there, conversationId);
      const move = async (node: typeof here) => {
        const { frames } = moves;
        moves.close();
        moves = await world.joined(node, conversationId, moves.cursor);
        moves.frames.unshift(...frames);
        await world.until(() => foldOf(moves.frames) === stays.lines.join("\n"), "the client is there");
      };
      const { turnId } = await world.start(here, "Hi", { conversationId });
      await world.pass(first.reached, "the first step");
      await move(here);
      await move(there);
      first.open();
      await world.pass(second.reached, "the second step");
      await move(there);
      await move(here);
      second.open();
      await world.pass(third.reached, "more of the second step");
      await move(there);
      third.open();
      await world.until(() => stays.has("turn-sealed", turnId), "the turn is over");
      await move(here);
      await move(there);
    },
  },
  {
    name: "a client that is cut off right behind a reset comes back and misses nothing",
    async run(world) {
      const [published, written] = [gate(), gate()];
      const long = "and so on ".repeat(30);
      const here = await world.node({
        script: always(
          text("One "),
          text("two "),
          pause(published),
          text(long),
          pause(written),
          text("three."),
        ),
        // Nothing is written until there is much of it.
        journal: { intervalMs: 3_600_000, bytes: 250 },
      });
      const there = await world.node();
      const conversationId = world.id("c");
      await here.me.create({ id: conversationId });
      const near = await world.joined(here, conversationId);
      const { turnId } = await world.start(here, "Hi", { conversationId });
      await world.pass(published.reached, "the model writes");
      checkEqual(near.lines, ["user: Hi", "assistant: One two "], "what was published, but not written down");
      const fold = new FrameFold();
      for (const frame of near.frames) fold.apply(frame);
      // On the other node the text is unknown: the client discards it, and its connection breaks.
      const cut = await world.joined(there, conversationId, fold.state.cursor);
      const reset = cut.frames.findIndex(({ type }) => type === "chat.reset");
      check(reset >= 0, "the client is asked to forget");
      for (const frame of cut.frames.slice(0, reset + 1)) fold.apply(frame);
      cut.close();
      checkEqual(linesOf(fold.state), ["user: Hi"], "what it shows then");
      published.open();
      await world.pass(written.reached, "the model writes more");
      const watcher = await world.joined(there, conversationId);
      await world.until(() => watcher.lines.length === 2, "it is written down");
      const back = new Follow(there.me, conversationId, fold.state.cursor, fold);
      await world.until(() => back.lines.length === 2, "the client is back");
      checkEqual(back.lines, ["user: Hi", `assistant: One two ${long}`], "what it shows");
      written.open();
      await world.until(() => near.has("turn-sealed", turnId), "the turn is over");
      back.close();
    },
  },
  {
    name: "a turn that began and ended between two polls is received whole",
    async run(world) {
      const pollMs = world.isTimeReal ? 1_000 : 5_000;
      const here = await world.node({ script: (_, index) => longTurn[index % 3] ?? [], tools: [adder] });
      const there = await world.node({ withoutWake: true, lease: { ...world.lease, pollMs } });
      const conversationId = world.id("c");
      await here.me.create({ id: conversationId });
      const far = await world.joined(there, conversationId);
      const one = await world.turn(here, "One", { conversationId });
      const two = await world.turn(here, "Two", { conversationId });
      await world.until(() => far.count("turn-sealed") === 2, "both turns are received");
      far.checkOrder();
      for (const { receipt, events } of [one, two]) {
        const seen = far.events.filter((event) => "turnId" in event && event.turnId === receipt.turnId);
        checkEqual(ofType(seen, "tool-result"), ofType(events, "tool-result"), "the results");
        checkEqual(ofType(seen, "done"), ofType(events, "done"), "the end");
      }
      const unseen = await world.start(here, "Three", { conversationId });
      const events = await world.turnEvents(there, conversationId, unseen.turnId);
      checkEqual(only(events, "done").reason, "stop", "a turn that is asked for there");
    },
  },
];

/** Returns what a client shows that has received all of these frames. */
function foldOf(frames: readonly SubscriptionFrame[]): string {
  const fold = new FrameFold();
  for (const frame of frames) fold.apply(frame);
  return linesOf(fold.state).join("\n");
}
