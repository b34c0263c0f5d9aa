import { parseCursor } from "@parley/fold";
import { check, checkEqual } from "../contract-case.js";
import { FrameFold } from "../fold-frames.js";
import { gate } from "../gate.js";
import { pause, reasoning, text, toolCall, usage } from "../provider/script.js";
import { Follow } from "./follow.js";
import { waiting } from "./turns/queue.js";
import { always, ofType, type RuntimeTopicCase } from "./world.js";

/** Cases of clients that connect, reconnect and leave, without any effect on a turn. */
export const followingCases: RuntimeTopicCase[] = [
  {
    name: "a client that joins late receives a running turn of 5,000 deltas with one event per part",
    async run(world) {
      const at = gate();
      const words = Array.from({ length: 5_000 }, (_, index) => `w${index} `).join("");
      const node = await world.node({
        script: always(reasoning("Hm.", { size: 1 }), text(words, { size: 5 }), pause(at), text("End.")),
      });
      const { conversationId } = await world.start(node);
      await world.pass(at.reached, "the model has written");
      const early = node.follow(conversationId);
      const read = () => ofType(early.events, "text-delta").map(({ delta }) => delta);
      await world.until(() => read().join("").length === words.length, "the turn has read it");
      const late = node.follow(conversationId);
      await world.until(() => late.has("text-delta"), "the late client receives it");
      checkEqual(
        late.events.map(({ type }) => type),
        ["user-message", "turn-start", "reasoning-delta", "text-delta"],
        "events sent to the late client",
      );
      checkEqual(ofType(late.events, "text-delta")[0]?.delta, words, "the text");
      const withCursor = await world.joined(node, conversationId);
      await world.until(() => withCursor.has("text-delta"), "the client with a cursor receives it");
      check(withCursor.frames.length <= 6, `few frames with a cursor, not ${withCursor.frames.length}`);
      at.open();
      await world.until(() => late.has("turn-sealed") && withCursor.has("turn-sealed"), "the turn is over");
      late.checkOrder();
      const log = await world.log(node, conversationId);
      checkEqual(JSON.stringify(withCursor.state.chunks), JSON.stringify(log), "what a client has folded");
    },
  },
  {
    name: "a subscriber that does not read ends by itself, with a bounded buffer, and never slows the turn",
    async run(world) {
      const node = await world.node({
        script: always(text("x".repeat(2_000), { size: 1 })),
        limits: { subscriberFrames: 100 },
      });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const slow = node.me.subscribe(conversationId, "0")[Symbol.asyncIterator]();
      await world.pass(slow.next(), "the slow reader joins");
      const other = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Hi", { conversationId });
      await world.until(() => other.has("turn-sealed", turnId), "the turn is over");
      let read = 0;
      const readAll = async () => {
        for (let next = await slow.next(); !next.done; next = await slow.next()) read += 1;
      };
      checkEqual(await world.refusal(readAll(), "reading on"), "limit_exceeded", "how it ended");
      check(read <= 101, `at most 101 frames were kept, not ${read}`);
      // It reconnects with the cursor of its last frame, and has missed nothing.
      const back = await world.joined(node, conversationId, "0");
      await world.until(() => back.state.chunks.length === 2, "it is back");
    },
  },
  {
    name: "a subscriber that throws, leaves or was never there touches neither the turn nor the others",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: always(text("One "), pause(at), text("two.")) });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const good = await world.joined(node, conversationId);
      const ends: unknown[] = [];
      node.me.attach(conversationId, "0", {
        onFrame(frame) {
          if (frame.type === "chat.delta") throw new Error("a careless subscriber");
        },
        onEnd: (error) => ends.push(error?.code),
      });
      const leaver = await world.joined(node, conversationId);
      const { turnId } = await world.start(node, "Hi", { conversationId });
      await world.pass(at.reached, "the model writes");
      leaver.close();
      const before = leaver.frames.length;
      at.open();
      await world.until(() => good.has("turn-sealed", turnId), "the turn is over");
      good.checkOrder();
      checkEqual(ends, ["internal"], "how the careless subscriber ended");
      checkEqual(leaver.frames.length, before, "frames behind the leaver's back");
    },
  },
  {
    name: "a client that was cut off in any phase of a turn comes back by its cursor and folds to the same",
    async run(world) {
      const tool = gate();
      const phases = [gate(), gate()];
      const [writing = gate(), closing = gate()] = phases;
      const node = await world.node({
        script: [
          [text("One ", { size: 2 }), pause(writing), text("two. "), toolCall("wait"), usage(5, 5)],
          [text("Three "), pause(closing), text("four."), usage(6, 6)],
        ],
        tools: [waiting(tool)],
      });
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const always = await world.joined(node, conversationId);
      const cut = await world.joined(node, conversationId);
      const fold = new FrameFold();
      const comeBack = async (from: Follow, until: () => boolean) => {
        for (const frame of from.frames) fold.apply(frame);
        from.close();
        const back = new Follow(node.me, conversationId, fold.state.cursor, fold);
        await world.until(() => back.frames.length > 0 && until(), "the client is back");
        checkEqual(back.lines, always.lines, "what both show");
        return back;
      };
      const { turnId } = await world.start(node, "Hi", { conversationId });
      await world.pass(writing.reached, "the model writes");
      let back = await comeBack(cut, () => true);
      // A client that was disconnected for a while: it keeps only the folded state.
      const frames = back.frames.length;
      writing.open();
      await world.pass(tool.reached, "the tool runs");
      check(back.frames.length > frames, "the client goes on live");
      back.close();
      tool.open();
      await world.pass(closing.reached, "the model writes again");
      back = new Follow(node.me, conversationId, fold.state.cursor, fold);
      await world.until(() => back.lines.join() === always.lines.join(), "the client is back again");
      back.close();
      closing.open();
      await world.until(() => always.has("turn-sealed", turnId), "the turn is over");
      back = new Follow(node.me, conversationId, fold.state.cursor, fold);
      await world.until(() => back.has("turn-sealed", turnId), "the client receives the end");
      const log = await world.log(node, conversationId);
      checkEqual(JSON.stringify(fold.state.chunks), JSON.stringify(log), "what the cut client has folded");
      checkEqual(fold.state.messages, always.state.messages, "what both show in the end");
      checkEqual(seqOf(fold.state.cursor), log.length, "the cursor in the end");
      checkEqual(
        fold.state.cursor,
        (await node.me.meta(conversationId)).cursor,
        "the cursor that others get",
      );
    },
  },
  {
    name: "a client that missed a turn's end and all of the next comes back to the end of the log, cursor and all",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: [[text("One "), pause(at), text("two.")], [text("Three.")]] });
      const { conversationId, turnId } = await world.start(node);
      await world.pass(at.reached, "the model writes");
      const cut = await world.joined(node, conversationId);
      await world.until(() => cut.lines.length === 2, "the client receives both lines");
      cut.close();
      at.open();
      await world.idle(node, conversationId);
      await world.turn(node, "And?", { conversationId });
      const log = await world.log(node, conversationId);
      const back = await world.joined(node, conversationId, cut.cursor);
      await world.until(() => back.has("turn-sealed", turnId), "the client receives the first end");
      checkEqual(seqOf(back.cursor), log.length, "the cursor in the end");
      back.close();
    },
  },
  {
    name: "a cursor that cannot be gets a reset of its turn and what is durable; one that is none is refused",
    async run(world) {
      const at = gate();
      const node = await world.node({ script: always(text("One "), pause(at), text("two.")) });
      const { conversationId, turnId } = await world.start(node);
      await world.pass(at.reached, "the model writes");
      for (const cursor of [`1~${turnId}~99~0`, `1~${turnId}~1~999`, "0~another~1~5"]) {
        const follow = await world.joined(node, conversationId, cursor);
        await world.until(() => follow.lines.length === 2, `a client with ${cursor} receives both lines`);
        checkEqual(follow.lines, ["user: Hi", "assistant: One "], "it shows");
        check(
          follow.frames.some(({ type }) => type === "chat.reset"),
          `${cursor} gets a reset`,
        );
        follow.close();
      }
      at.open();
      await world.idle(node, conversationId);
      for (const cursor of ["", "x", "1~", "1~t~1", "1~t~1~2~3", "-1", "1~t~x~1", "1.", "1.A"]) {
        const attach = (async () => node.me.attach(conversationId, cursor, { onFrame() {}, onEnd() {} }))();
        checkEqual(await world.refusal(attach, `the cursor "${cursor}"`), "invalid_request", "the code");
      }
    },
  },
  {
    name: "a cursor of a log that was replaced starts over, shorter or longer, here and on another node",
    async run(world) {
      const node = await world.node({ script: always(text("Yes.")) });
      const other = await world.node({ script: always(text("Yes.")) });
      const { conversationId } = (await world.turn(node, "Hi")).receipt;
      await world.turn(node, "And?", { conversationId });
      const before = await world.joined(node, conversationId);
      const log = await world.log(node, conversationId);
      await world.until(() => before.state.chunks.length === log.length, "the client has the log");
      const { cursor: page } = await node.me.history({ conversationId, limit: 2 });
      const { cursor: meta } = await node.me.meta(conversationId);
      const held = [...before.frames];
      await node.me.remove(conversationId);
      for (const message of ["Again", "More", "And more"]) {
        await world.turn(node, message, { conversationId });
        const now = await world.log(node, conversationId);
        const fresh = await world.joined(node, conversationId);
        await world.until(() => fresh.state.chunks.length === now.length, "a fresh client has the log");
        for (const each of [node, other]) {
          for (const cursor of [before.cursor, page, meta]) {
            const fold = new FrameFold();
            for (const frame of held) fold.apply(frame);
            const back = new Follow(each.me, conversationId, cursor, fold);
            await world.until(
              () => back.frames.at(-1)?.type === "chat.chunks" && seqOf(back.cursor) === now.length,
              `${cursor} leads to the end`,
            );
            const what = `with ${cursor} and ${now.length} chunks`;
            checkEqual(JSON.stringify(fold.state.chunks), JSON.stringify(now), `the chunks ${what}`);
            checkEqual(fold.state.messages, fresh.state.messages, `the messages ${what}`);
            checkEqual(fold.state.cursor, fresh.cursor, `the cursor ${what}`);
            back.close();
          }
          // A cursor without a check, as earlier versions made it, only shows that it is too far.
          const bare = await world.joined(each, conversationId, String(log.length));
          await world.until(() => seqOf(bare.cursor) === now.length, "a cursor without a check is taken");
          checkEqual(
            bare.frames.some((frame) => frame.type === "chat.reset" && frame.turnId === undefined),
            now.length < log.length,
            `whether it starts over at ${now.length} chunks`,
          );
          bare.close();
        }
        fresh.close();
      }
    },
  },
  {
    name: "every cursor that a client is given holds for the log, also in a fork and behind a compaction",
    async run(world) {
      const node = await world.node({ script: always(text("Yes."), usage(5, 5)) });
      const { conversationId } = (await world.turn(node, "Hi")).receipt;
      const follow = await world.joined(node, conversationId);
      for (const message of ["One", "Two"]) await world.turn(node, message, { conversationId });
      await world.pass(node.me.compact(conversationId, { keepLastN: 1 }), "the compaction");
      await world.turn(node, "Three", { conversationId });
      const { length } = await world.log(node, conversationId);
      await world.until(() => seqOf(follow.cursor) === length, "the client is at the end");
      const forkId = (await node.me.fork({ conversationId, atSeq: 2 })).conversation.id;
      const fork = await world.joined(node, forkId);
      await world.turn(node, "Elsewhere", { conversationId: forkId });
      await world.until(() => fork.state.chunks.length === 4, "the fork's client has its log");
      for (const [id, client] of [
        [conversationId, follow],
        [forkId, fork],
      ] as const) {
        const { cursor: page } = await node.me.history({ conversationId: id, limit: 3 });
        const { cursor: meta } = await node.me.meta(id);
        const cursors = new Set(client.frames.map(({ cursor }) => cursor).concat(page, meta as never));
        check(cursors.size > 5, `many cursors, not ${cursors.size}`);
        for (const cursor of cursors) {
          const back = await world.joined(node, id, cursor);
          await world.until(
            () => seqOf(back.cursor) === client.state.chunks.length,
            `${cursor} leads to the end`,
          );
          check(
            back.frames.every((frame) => frame.type !== "chat.reset" || frame.turnId !== undefined),
            `${cursor} does not start over`,
          );
          back.close();
        }
      }
    },
  },
  {
    name: "a client that is far behind gets its chunks in several frames, and may be cut between them",
    async run(world) {
      const node = await world.node();
      const parts = Array.from({ length: 1_200 }, (_, index) => ({
        type: "text" as const,
        text: `p${index}`,
      }));
      const { receipt } = await world.turn(node, parts);
      const { conversationId } = receipt;
      const log = await world.log(node, conversationId);
      const follow = await world.joined(node, conversationId);
      await world.until(() => follow.state.chunks.length === log.length, "all chunks are there");
      const pages = follow.frames.filter((frame) => frame.type === "chat.chunks");
      check(pages.length >= 3, `several frames, not ${pages.length}`);
      const fold = new FrameFold();
      for (const frame of follow.frames.slice(0, 3)) fold.apply(frame);
      check(fold.state.chunks.length < log.length, "the client was cut in the middle");
      const back = new Follow(node.me, conversationId, fold.state.cursor, fold);
      await world.until(() => fold.state.chunks.length === log.length, "the client is back");
      checkEqual(JSON.stringify(fold.state.chunks), JSON.stringify(log), "what it has folded");
      back.close();
    },
  },
  {
    name: "a subscription outlives turns, and ends with its conversation or its node",
    async run(world) {
      const node = await world.node();
      const conversationId = world.id("c");
      await node.me.create({ id: conversationId });
      const follow = await world.joined(node, conversationId);
      for (const message of ["One", "Two", "Three"]) await world.turn(node, message, { conversationId });
      await world.until(() => follow.count("turn-sealed") === 3, "three turns are received");
      follow.checkOrder();
      const other = world.id("c");
      await node.me.create({ id: other });
      const stays = await world.joined(node, other);
      await node.me.remove(conversationId);
      checkEqual(follow.ended?.error?.code, "conversation_not_found", "how it ended");
      checkEqual(stays.ended, undefined, "the other conversation's subscription");
      await world.pass(node.runtime.close(), "the node closes");
      checkEqual(stays.ended?.error?.code, "draining", "how the other one ended");
      const late = node.follow(world.id("c"), "0");
      await world.until(() => late.ended !== undefined, "an unknown conversation is refused");
      checkEqual(late.ended?.error?.code, "conversation_not_found", "the code");
    },
  },
  {
    name: "a client without a cursor receives what comes, and may join between turns",
    async run(world) {
      const node = await world.node();
      const { receipt } = await world.turn(node);
      const { conversationId } = receipt;
      const follow = node.follow(conversationId);
      await world.advance(0);
      const before = follow.events.length;
      const next = await world.turn(node, "More", { conversationId });
      await world.until(() => follow.has("turn-sealed", next.receipt.turnId), "the next turn is received");
      check(before === 0, "nothing is sent of turns that are over");
      follow.checkOrder();
      const meta = await node.me.meta(conversationId);
      checkEqual(seqOf(meta.cursor), 4, "the cursor to come back with");
      const joined = await world.joined(node, conversationId, meta.cursor);
      const [snapshot] = joined.frames;
      check(snapshot?.type === "chat.snapshot", "the first frame is a snapshot");
      checkEqual(
        [snapshot.meta.status, snapshot.cursor, snapshot.queue.messages, snapshot.contextWindow],
        ["idle", meta.cursor, [], 100_000],
        "the snapshot",
      );
    },
  },
];

/** Returns the seq up to which the client with this cursor has everything; NaN while a turn is open there. */
function seqOf(cursor: string | undefined): number {
  const place = parseCursor(cursor ?? "0");
  return place === undefined || place.open !== undefined ? Number.NaN : place.seq;
}
