import type { ParleyClient } from "@parley/client";
import type { QueuedMessage, QueuePayload, SseMessage } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { ifBusyOf, waitInQueue } from "./wait-in-queue.js";

const own: QueuedMessage = { id: "m", text: "next", mode: "queue", queuedAt: 0 };
const request = { conversationId: "c", messageId: "m", message: "next", ifBusy: "queue" } as const;

const changed = (queue: QueuePayload): SseMessage => ({ type: "queue.changed", conversationId: "c", queue });

/** A client whose sends return these turns, one after the other, and whose conversation has these changes. */
function clientOf(turnIds: readonly (string | undefined)[], frames: readonly SseMessage[] = []) {
  const calls: string[] = [];
  let sends = 0;
  let onFollowed = () => {};
  const client = {
    async send() {
      calls.push("send");
      return { conversationId: "c", messageId: "m", outcome: "queued", turnId: turnIds[sends++] };
    },
    async request(route: string) {
      calls.push(route.split(" ")[0] ?? "");
      return { cursor: "0" };
    },
    async *follow(_: string, { signal }: { signal: AbortSignal }) {
      yield* frames;
      const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
      onFollowed();
      await aborted;
    },
  };
  const notes: string[] = [];
  let interrupt = () => {};
  const context = {
    io: { note: (text: string) => notes.push(text) },
    signal: new AbortController().signal,
    onInterrupt(handler: () => void) {
      interrupt = handler;
      return () => {};
    },
  };
  return {
    calls,
    notes,
    followed: new Promise<void>((resolve) => {
      onFollowed = resolve;
    }),
    interrupt: () => interrupt(),
    wait: () => waitInQueue(client as unknown as ParleyClient, request, context as never),
  };
}

describe("a message that may wait in the queue", () => {
  it("does not wait if its turn starts at once", async () => {
    const { wait, calls, notes } = clientOf(["t"]);
    expect(await wait()).toBe(true);
    expect({ calls, notes }).toEqual({ calls: ["send"], notes: [] });
  });

  it("waits until a turn takes it", async () => {
    const { wait, calls, notes } = clientOf(
      [undefined, "t"],
      [changed({ messages: [own] }), changed({ messages: [] })],
    );
    expect(await wait()).toBe(true);
    expect(calls).toEqual(["send", "GET", "send"]);
    expect(notes).toEqual(["Waits in c, for the next turn."]);
  });

  it("is reported as removed if another client removed it", async () => {
    const { wait } = clientOf([undefined, undefined], [changed({ messages: [] })]);
    await expect(wait()).rejects.toThrow("The message was removed from the queue by another client.");
  });

  it("is left in a queue that is paused, with advice", async () => {
    const { wait } = clientOf([undefined], [changed({ messages: [own], paused: true })]);
    await expect(wait()).rejects.toMatchObject({ advice: expect.stringContaining("queue resume c") });
  });

  it("is removed by an interrupt", async () => {
    const { wait, calls, followed, interrupt } = clientOf([undefined], [changed({ messages: [own] })]);
    const waited = wait();
    await followed;
    interrupt();
    expect(await waited).toBe(false);
    expect(calls).toEqual(["send", "GET", "DELETE"]);
  });
});

describe("--queue and --steer", () => {
  it("are a choice of one, or of none", () => {
    expect([ifBusyOf({}), ifBusyOf({ queue: true }), ifBusyOf({ steer: true })]).toEqual([
      "reject",
      "queue",
      "steer",
    ]);
    expect(() => ifBusyOf({ queue: true, steer: true })).toThrow("exclude each other");
  });
});
