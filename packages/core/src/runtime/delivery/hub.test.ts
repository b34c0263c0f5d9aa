import { formatCursor, type SubscriptionFrame } from "@parley/fold";
import { gate, settle } from "@parley/testing";
import { describe, expect, it } from "vitest";
import { ParleyError } from "../../errors.js";
import { Hub, type JoinPoint } from "./hub.js";
import { delta } from "./turn-event.test-support.js";

const conversationId = "c";

function event(n: number, seq = 1, turn = { turnId: "t", epoch: 1 }): SubscriptionFrame {
  return {
    type: "chat.delta",
    event: delta("text-delta", 0, String(n)),
    cursor: formatCursor({ seq, open: { ...turn, n } }),
  };
}

function chunks(...seqs: number[]): SubscriptionFrame {
  const list = seqs.map((seq) => ({
    seq,
    role: "user" as const,
    chunk: { type: "text" as const, text: "x" },
  }));
  return {
    type: "chat.chunks",
    conversationId,
    chunks: list,
    cursor: formatCursor({ seq: seqs.at(-1) ?? 0 }),
  };
}

function listener() {
  const frames: SubscriptionFrame[] = [];
  const ends: (string | undefined)[] = [];
  return {
    frames,
    ends,
    onFrame: (frame: SubscriptionFrame) => void frames.push(frame),
    onEnd: (error?: ParleyError) => void ends.push(error?.code),
  };
}

/** The logs that are followed. */
const log = 1;
const otherLog = 2;

const nothing: JoinPoint = { frames: [], seq: 0 };

describe("the hub", () => {
  it("delivers to all subscribers of a conversation, and to no others", async () => {
    const hub = new Hub();
    const [a, b, other] = [listener(), listener(), listener()];
    hub.join(log, a, async () => nothing);
    hub.join(log, b, async () => nothing);
    hub.join(otherLog, other, async () => nothing);
    await settle();
    const frame = event(0);
    hub.publish(log, frame);
    expect([a.frames, b.frames, other.frames]).toEqual([[frame], [frame], []]);
    expect(a.frames[0]).toBe(b.frames[0]);
  });

  it("gives a reader of events a turn that began and ended while its join point was read, whole", async () => {
    const hub = new Hub();
    const at = gate();
    const late: JoinPoint = { frames: [], seq: 3 };
    const [events, rows] = [listener(), listener()];
    hub.join(log, events, () => at.wait().then(() => late), "events");
    hub.join(log, rows, () => at.wait().then(() => late));
    const start: SubscriptionFrame = {
      type: "chat.delta",
      event: { type: "turn-start", conversationId, turnId: "t" },
      cursor: formatCursor({ seq: 1, open: { turnId: "t", epoch: 1, n: 0 } }),
    };
    const turn = [start, event(1), event(2)];
    for (const frame of turn) hub.publish(log, frame);
    at.open();
    await settle();
    expect([events.frames, rows.frames]).toEqual([turn, []]);
  });

  it("loses no frame between joining and the join point, and sends none twice", async () => {
    const hub = new Hub();
    const late = listener();
    const reading = gate();
    hub.join(log, late, async () => {
      await reading.wait();
      return { frames: [event(2)], seq: 1, open: { turnId: "t", epoch: 1, n: 2 } };
    });
    // The point is read somewhere among these: it covers the events up to 2.
    for (const n of [1, 2, 3]) hub.publish(log, event(n));
    expect(late.frames).toEqual([]);
    reading.open();
    await settle();
    hub.publish(log, event(4));
    expect(late.frames).toEqual([event(2), event(3), event(4)]);
  });

  it("may receive the past in pieces while the join point is read, until it leaves", async () => {
    const hub = new Hub();
    const late = listener();
    const reading = gate();
    let isOver: boolean | undefined;
    const leave = hub.join(log, late, async (joining) => {
      joining.send([chunks(1), chunks(2)]);
      await reading.wait();
      joining.send([chunks(3)]);
      leave();
      isOver = joining.isOver;
      joining.send([chunks(4)]);
      return { frames: [chunks(5)], seq: 5 };
    });
    hub.publish(log, event(0, 5));
    expect(late.frames).toEqual([chunks(1), chunks(2)]);
    reading.open();
    await settle();
    expect(late.frames).toEqual([chunks(1), chunks(2), chunks(3)]);
    expect([isOver, late.ends]).toEqual([true, []]);
  });

  it("leaves out what the join point's seq covers, and the covered part of chunks", async () => {
    const hub = new Hub();
    const late = listener();
    const reading = gate();
    hub.join(log, late, async () => {
      await reading.wait();
      return { frames: [], seq: 3, open: { turnId: "t", epoch: 2, n: 0 } };
    });
    const reset: SubscriptionFrame = { type: "chat.reset", conversationId, turnId: "t" };
    const status: SubscriptionFrame = {
      type: "chat.delta",
      event: { type: "status", conversationId, status: "idle" },
      cursor: formatCursor({ seq: 3 }),
    };
    const older = event(9, 3, { turnId: "t", epoch: 1 });
    const newer = event(0, 3, { turnId: "t", epoch: 3 });
    const other = event(0, 3, { turnId: "u", epoch: 1 });
    for (const frame of [event(5, 2), chunks(2, 3), chunks(3, 4), older, newer, other, reset, status]) {
      hub.publish(log, frame);
    }
    reading.open();
    await settle();
    expect(late.frames).toEqual([
      { ...chunks(4), cursor: formatCursor({ seq: 4 }) },
      newer,
      other,
      reset,
      status,
    ]);
  });

  it("sends nothing more to a subscriber that left, and keeps a value as long as there is one", async () => {
    const hub = new Hub();
    hub.keep(log, "before anyone came");
    const [a, b] = [listener(), listener()];
    const leaveA = hub.join(log, a, async () => nothing);
    const leaveB = hub.join(log, b, async () => nothing);
    leaveA();
    leaveA();
    expect([hub.occupied(log), hub.kept(log)]).toEqual([true, undefined]);
    hub.keep(log, "kept");
    expect(hub.allKept()).toEqual([[log, "kept"]]);
    hub.publish(log, event(0));
    await settle();
    leaveB();
    hub.publish(log, event(1));
    expect([a.frames, b.frames.length, a.ends, b.ends]).toEqual([[], 1, [], []]);
    expect([hub.occupied(log), hub.kept(log), hub.allKept()]).toEqual([false, undefined, []]);
  });

  it("ends a subscriber whose join point cannot be read, or who falls behind before it is", async () => {
    const hub = new Hub(2);
    const [unreadable, slow] = [listener(), listener()];
    hub.join(log, unreadable, () => Promise.reject(new ParleyError("store_unavailable")));
    hub.join(log, slow, () => new Promise(() => {}));
    await settle();
    for (const n of [0, 1, 2, 3]) hub.publish(log, event(n));
    expect([unreadable.ends, slow.ends]).toEqual([["store_unavailable"], ["limit_exceeded"]]);
    expect([unreadable.frames, slow.frames, hub.occupied(log)]).toEqual([[], [], false]);
  });

  it("removes a subscriber that throws, and no other notices", async () => {
    const hub = new Hub();
    const good = listener();
    const ends: unknown[] = [];
    hub.join(
      log,
      {
        onFrame() {
          throw new Error("careless");
        },
        onEnd(error) {
          ends.push(error?.code);
          throw new Error("careless to the end");
        },
      },
      async () => nothing,
    );
    hub.join(log, good, async () => nothing);
    await settle();
    hub.publish(log, event(0));
    hub.publish(log, event(1));
    expect([good.frames.length, ends]).toEqual([2, ["internal"]]);
  });

  it("ends one conversation's subscriptions, or all of them", async () => {
    const hub = new Hub();
    const [a, b] = [listener(), listener()];
    hub.join(log, a, async () => nothing);
    hub.join(otherLog, b, async () => nothing);
    hub.end(log, new ParleyError("conversation_not_found"));
    expect([a.ends, b.ends]).toEqual([["conversation_not_found"], []]);
    hub.end(undefined);
    expect(b.ends).toEqual([undefined]);
    hub.publish(otherLog, event(0));
    await settle();
    expect([a.frames, b.frames]).toEqual([[], []]);
  });
});
