import type { MessageReceipt } from "@parley/wire";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Link, OutgoingMessage } from "../connection/link.js";
import type { Request } from "../requests/request.js";
import { ParleyRequestError } from "../requests/request-error.js";
import { applyQueue } from "../state/apply-history.js";
import type { ConversationState } from "../state/conversation-state.js";
import { initialState } from "../state/fold.js";
import { conversationId } from "../state/frames.test-support.js";
import { Outbox } from "./outbox.js";
import type { OutboxStorage, StoredMessage } from "./outbox-storage.js";

const loadMs = 30_000;
const backoffMs = 1_000;
const away = new ParleyRequestError("network", "The server cannot be reached");

type Reply = MessageReceipt["outcome"] | Promise<MessageReceipt> | ParleyRequestError;

let state: ConversationState;
/** Requests, in order. */
let asked: string[];
/** The server's replies to each request; without one, it queues and removes everything. */
let replies: Reply[];
let isOpen: boolean;
let outcomes: number;
let stored: Map<string, StoredMessage>;
let adopted: ((messages: readonly StoredMessage[]) => void) | undefined;
let outbox: Outbox;

const pendingIds = () => state.pending.map(({ id }) => id);

async function reply(messageId: string): Promise<MessageReceipt> {
  const next = replies.shift() ?? "queued";
  if (next instanceof Error) throw next;
  if (typeof next !== "string") return next;
  const receipt = { conversationId, messageId, outcome: next };
  return next === "queued" ? receipt : { ...receipt, turnId: "t1" };
}

beforeEach(() => {
  vi.useFakeTimers();
  state = initialState(conversationId);
  asked = [];
  replies = [];
  isOpen = true;
  outcomes = 0;
  stored = new Map();
  adopted = undefined;
  const link: Link = {
    isOpen: () => isOpen,
    follow: () => {},
    unfollow: () => {},
    send: ({ messageId, message, ifBusy }: OutgoingMessage) => {
      asked.push(`${ifBusy} ${message}`);
      return reply(messageId);
    },
  };
  const request = (_: string, { params }: { readonly params: { readonly messageId: string } }) => {
    asked.push(`DELETE ${params.messageId}`);
    return reply(params.messageId);
  };
  const storage: OutboxStorage = {
    save: (message) => void stored.set(message.messageId, message),
    remove: (messageId) => void stored.delete(messageId),
    adopt: (_, signal, take) => {
      adopted = (messages) => {
        if (!signal.aborted) take(messages);
      };
    },
  };
  outbox = new Outbox({
    conversationId,
    link,
    request: request as unknown as Request,
    storage,
    loadMs,
    backoffMs: () => backoffMs,
    now: () => 7,
    state: () => state,
    change: (by) => {
      state = by(state);
    },
    onOutcome: () => {
      outcomes += 1;
    },
  });
});
afterEach(() => vi.useRealTimers());

/** Lets the backoff of one attempt pass. */
const pass = () => vi.advanceTimersByTimeAsync(backoffMs);

describe("the outbox", () => {
  it("keeps messages pending until the server has them, and sends one after the other", async () => {
    replies = [away, away];
    const both = [
      outbox.send("First", { ifBusy: "queue", messageId: "q1" }),
      outbox.send("Second", { ifBusy: "steer", messageId: "q2" }),
    ];
    expect(state.pending).toEqual([
      { id: "q1", text: "First", ifBusy: "queue", status: "sending", createdAt: 7, shownIn: "messages" },
      { id: "q2", text: "Second", ifBusy: "steer", status: "sending", createdAt: 7, shownIn: "queue" },
    ]);
    expect(outbox.isBusy).toBe(true);
    await pass();
    expect(pendingIds()).toEqual(["q1", "q2"]);
    await pass();
    expect(await Promise.all(both)).toMatchObject([{ messageId: "q1" }, { messageId: "q2" }]);
    expect(asked).toEqual(["queue First", "queue First", "queue First", "steer Second"]);
    expect(pendingIds()).toEqual([]);
    expect(outbox.isBusy).toBe(false);
    expect(outcomes).toBe(2);
  });

  it.each(["network", "timeout", "draining", "store_unavailable"] as const)(
    "sends, and withdraws, again after %s, which decides nothing",
    async (code) => {
      const passing = new ParleyRequestError(code, "Not now");
      replies = [passing];
      const first = outbox.send("First", { ifBusy: "queue", messageId: "q1" });
      await pass();
      await first;
      replies = [passing, passing];
      const second = outbox.send("Second", { ifBusy: "queue", messageId: "q2" });
      await vi.advanceTimersByTimeAsync(0);
      outbox.cancel("q2");
      await expect(second).rejects.toMatchObject({ code: "canceled" });
      expect(outbox.isBusy).toBe(true);
      await pass();
      expect(asked).toEqual(["queue First", "queue First", "queue Second", "DELETE q2", "DELETE q2"]);
      expect(outbox.isBusy).toBe(false);
    },
  );

  it.each(["turn_active", "queue_full", "limit_exceeded", "rate_limited", "internal"] as const)(
    "shows a message that is refused with %s as failed, and sends the next one",
    async (code) => {
      replies = [new ParleyRequestError(code, "No", { retryable: true })];
      const refused = outbox.send("First", { messageId: "m1" });
      const next = outbox.send("Second", { messageId: "m2" });
      await expect(refused).rejects.toMatchObject({ code });
      await next;
      expect(asked).toEqual(["reject First", "reject Second"]);
      expect(state.pending).toMatchObject([{ id: "m1", status: "failed", error: { code, message: "No" } }]);
      expect(stored.has("m1")).toBe(true);
    },
  );

  it("sends a failed message again as it was, once", async () => {
    replies = [new ParleyRequestError("queue_full", "The queue is full")];
    await expect(outbox.send("First", { ifBusy: "steer", messageId: "m1" })).rejects.toThrow();
    const retried = outbox.retry("m1");
    expect(state.pending).toMatchObject([{ id: "m1", status: "sending" }]);
    expect(state.pending[0]).not.toHaveProperty("error");
    await retried;
    expect(asked).toEqual(["steer First", "steer First"]);
    await expect(outbox.retry("m1")).rejects.toMatchObject({ code: "invalid_request" });
    expect(stored.size).toBe(0);
  });

  it("holds one message under one id", async () => {
    const sent = outbox.send("First", { messageId: "m1" });
    expect(outbox.send("First", { messageId: "m1" })).toBe(sent);
    await sent;
    expect(asked).toEqual(["reject First"]);
  });

  it("waits for the link, without asking in between", async () => {
    isOpen = false;
    const sent = outbox.send("First", { messageId: "m1" });
    const canceled = outbox.send("Second", { messageId: "m2" });
    await vi.advanceTimersByTimeAsync(loadMs * 10);
    outbox.cancel("m2");
    expect(asked).toEqual([]);
    isOpen = true;
    outbox.wake();
    await sent;
    await expect(canceled).rejects.toMatchObject({ code: "canceled" });
    expect(asked).toEqual(["reject First"]);
  });

  it("does not pause after an attempt during which it was woken", async () => {
    let fail: (error: Error) => void = () => {};
    replies = [
      new Promise<MessageReceipt>((_, reject) => {
        fail = reject;
      }),
    ];
    const sent = outbox.send("First", { messageId: "m1" });
    outbox.wake();
    fail(away);
    await sent;
    expect(asked).toHaveLength(2);
  });

  it("gives up an attempt that takes too long, and makes another", async () => {
    replies = [new Promise(() => {})];
    const sent = outbox.send("First", { messageId: "m1" });
    await vi.advanceTimersByTimeAsync(loadMs - 1);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1 + backoffMs);
    expect(await sent).toMatchObject({ messageId: "m1" });
    expect(asked).toHaveLength(2);
  });

  it("does not send a message that is canceled before that, nor withdraw it", async () => {
    const first = outbox.send("First", { messageId: "m1" });
    const second = outbox.send("Second", { ifBusy: "queue", messageId: "m2" });
    outbox.cancel("m2");
    outbox.cancel("other");
    expect(pendingIds()).toEqual(["m1"]);
    await first;
    await expect(second).rejects.toMatchObject({ code: "canceled" });
    expect(asked).toEqual(["reject First"]);
  });

  it("withdraws a canceled message that comes through after all, unless it opened a turn", async () => {
    for (const outcome of ["queued", "started"] as const) {
      let arrive: (receipt: MessageReceipt) => void = () => {};
      const late = new Promise<MessageReceipt>((resolve) => {
        arrive = resolve;
      });
      replies = [late, new ParleyRequestError("message_conflict", "It was delivered")];
      const sent = outbox.send(outcome, { ifBusy: "queue", messageId: outcome });
      outbox.cancel(outcome);
      expect(pendingIds()).toEqual([]);
      arrive({ conversationId, messageId: outcome, outcome });
      await expect(sent).rejects.toMatchObject({ code: "canceled" });
      await vi.advanceTimersByTimeAsync(0);
      expect(outbox.isBusy).toBe(false);
    }
    expect(asked).toEqual(["queue queued", "DELETE queued", "queue started"]);
  });

  it("never withdraws a message that could not have waited, nor sends it again once it is canceled", async () => {
    replies = [away];
    const sent = outbox.send("First", { messageId: "m1" });
    await vi.advanceTimersByTimeAsync(0);
    outbox.cancel("m1");
    await expect(sent).rejects.toMatchObject({ code: "canceled" });
    await pass();
    expect(asked).toEqual(["reject First"]);
    expect(outbox.isBusy).toBe(false);
  });

  it("sends a message again that was canceled, after it was withdrawn", async () => {
    replies = [away];
    const canceled = outbox.send("First", { ifBusy: "queue", messageId: "q1" });
    await vi.advanceTimersByTimeAsync(0);
    outbox.cancel("q1");
    const again = outbox.send("First", { ifBusy: "queue", messageId: "q1" });
    await expect(canceled).rejects.toMatchObject({ code: "canceled" });
    await again;
    expect(asked).toEqual(["queue First", "DELETE q1", "queue First"]);
  });

  it("fails what has no outcome when it ends, and what comes after", async () => {
    replies = [new Promise(() => {})];
    const both = [outbox.send("First", { messageId: "m1" }), outbox.send("Second", { messageId: "m2" })];
    outbox.end();
    both.push(outbox.send("Third", { messageId: "m3" }));
    for (const sent of both) await expect(sent).rejects.toMatchObject({ code: "canceled", retryable: true });
    expect(asked).toEqual(["reject First"]);
    expect([...stored.keys()]).toEqual(["m1", "m2", "m3"]);
    expect(outbox.isBusy).toBe(false);
  });
});

describe("the storage of an outbox", () => {
  const left = (messageId: string): StoredMessage => ({
    conversationId,
    messageId,
    message: "Left",
    ifBusy: "queue",
    model: "test/one",
    createdAt: 3,
  });

  it("has a message with all that a retry needs, until the server has it or it is canceled", async () => {
    isOpen = false;
    const sent = outbox.send("First", { ifBusy: "queue", messageId: "m1", model: "test/one" });
    const canceled = outbox.send("Second", { messageId: "m2" });
    expect([...stored.values()]).toEqual([
      { ...left("m1"), message: "First", createdAt: 7 },
      { conversationId, messageId: "m2", message: "Second", ifBusy: "reject", createdAt: 7 },
    ]);
    outbox.cancel("m2");
    await expect(canceled).rejects.toThrow();
    expect([...stored.keys()]).toEqual(["m1"]);
    isOpen = true;
    outbox.wake();
    await sent;
    expect(stored.size).toBe(0);
  });

  it("gives back what another page has left behind, as failed, to be sent under its id", async () => {
    stored.set("m1", left("m1"));
    outbox.adopt();
    adopted?.([left("m1")]);
    expect(asked).toEqual([]);
    expect(state.messages).toMatchObject([{ id: "m1", status: "failed", createdAt: 3 }]);
    expect(state.pending).toMatchObject([{ id: "m1", error: { code: "canceled", retryable: true } }]);
    adopted?.([left("m1")]);
    expect(state.pending).toHaveLength(1);
    await outbox.retry("m1");
    expect(asked).toEqual(["queue Left"]);
    expect(stored.size).toBe(0);
  });

  it("gives back neither what the server has nor what is under way here", async () => {
    state = applyQueue(state, { messages: [{ id: "m1", text: "Left", queuedAt: 1 }] });
    stored.set("m1", left("m1"));
    isOpen = false;
    void outbox.send("Left", { messageId: "m2" }).catch(() => {});
    outbox.adopt();
    adopted?.([left("m1"), left("m2")]);
    expect(state.pending).toMatchObject([{ id: "m2", status: "sending" }]);
    expect([...stored.keys()]).toEqual(["m2"]);
    outbox.end();
    adopted?.([left("m3")]);
    expect(pendingIds()).toEqual(["m2"]);
  });
});
