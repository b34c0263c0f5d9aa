import type { IfBusy } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { applyHistory, applyLoadFailure, applyQueue } from "./apply-history.js";
import { applyCancel, applyPending, applyReceipt, applyRestart, applySendFailure } from "./apply-send.js";
import type { ConversationState } from "./conversation-state.js";
import { initialState } from "./fold.js";
import {
  conversationId,
  fold,
  plain,
  published,
  row,
  rows,
  script,
  snapshot,
  turnId,
} from "./frames.test-support.js";

const message = (id: string, text: string, ifBusy: IfBusy = "reject") => ({
  id,
  text,
  ifBusy,
  status: "sending" as const,
  createdAt: 4,
});
const sending = applyPending(fold([snapshot("0")]), message("u1", "Hello"));
const prompt = rows("1~t1~1~-1", row(1, "u1", "user", "Hello", { createdAt: 5 }));
const receipt = { conversationId, messageId: "u1", outcome: "started" as const, turnId };

describe("a message on its way", () => {
  it("shows at once, behind everything else", () => {
    expect(script(sending)).toEqual(["user (sending): Hello"]);
    expect(sending.messages[0]).toMatchObject({ id: "u1", role: "user", createdAt: 4 });
  });

  it("is the same message as the one in the log", () => {
    const state = fold([prompt], sending);
    expect(script(state)).toEqual(["user (committed): Hello"]);
    expect(state.messages[0]?.parts[0]?.key).toBe(sending.messages[0]?.parts[0]?.key);
  });

  it("is the same message as the published one", () => {
    const state = fold([published(0, { type: "user-message", text: "Hello", messageId: "u1" })], sending);
    expect(script(state)).toEqual(["user (streaming): Hello"]);
  });

  it("is durable with its receipt, whether that comes before or after the row", () => {
    const before = fold([prompt], applyReceipt(sending, receipt));
    const after = applyReceipt(fold([prompt], sending), receipt);
    expect(script(before)).toEqual(["user (committed): Hello"]);
    expect(before.messages).toEqual(after.messages);
  });

  it("leaves the messages when it waits in the queue", () => {
    const { turnId: _, ...queued } = receipt;
    expect(applyReceipt(sending, { ...queued, outcome: "queued" }).messages).toEqual([]);
  });

  it("does not stay when its turn is over and its row is not loaded", () => {
    const over = fold([plain(9, { type: "turn-sealed", firstSeq: 8, lastSeq: 9, reason: "stop" })], sending);
    expect(applyReceipt(over, receipt).messages).toEqual([]);
  });

  it("stays with its error when it is refused, until it is sent again or canceled", () => {
    const error = { code: "turn_active" as const, message: "A turn is running", retryable: true };
    const failed = applySendFailure(sending, "u1", error);
    expect(failed.messages[0]).toMatchObject({ status: "failed", error });
    const again = applyPending(failed, message("u1", "Hello"));
    expect(again.messages[0]).toMatchObject({ status: "sending" });
    expect(again.messages[0]).not.toHaveProperty("error");
    expect(applyCancel(failed, "u1").messages).toEqual([]);
    expect(applyCancel(sending, "other")).toBe(sending);
    expect(applySendFailure(sending, "other", error)).toBe(sending);
  });

  it("is not shown twice when it is known already", () => {
    const known = fold([prompt]);
    expect(applyPending(known, message("u1", "Hello"))).toBe(known);
  });

  it("waits below the answer that still comes", () => {
    const answering = fold([
      prompt,
      published(0, { type: "text-delta", delta: "Hi", messageId: "a1", partIndex: 0 }),
    ]);
    expect(script(applyPending(answering, message("u2", "And?")))).toEqual([
      "user (committed): Hello",
      "assistant (streaming): Hi",
      "user (sending): And?",
    ]);
  });

  it("is kept while the conversation does not exist yet", () => {
    const error = {
      code: "conversation_not_found" as const,
      message: "No such conversation",
      retryable: false,
    };
    const missing = applyLoadFailure(applyPending(initialState(conversationId), message("u1", "Hi")), error);
    expect(missing).toMatchObject({ phase: "missing", error });
    expect(script(missing)).toEqual(["user (sending): Hi"]);
    const failed = applyLoadFailure(missing, { code: "internal", message: "Broken", retryable: false });
    expect(failed.phase).toBe("failed");
  });
});

describe("a message that should wait", () => {
  const running = fold([
    snapshot("0"),
    published(0, { type: "user-message", text: "Hello", messageId: "u1" }),
  ]);
  const both = [message("q1", "First", "queue"), message("q2", "Second", "steer")];
  const pending = both.reduce(applyPending, running);
  const waiting = { messages: [{ id: "q1", text: "First", mode: "queue" as const, queuedAt: 1 }] };
  const idsOf = ({ pending: each }: ConversationState) => each.map(({ id }) => id);

  it("is pending in order, apart from what waits and from the messages", () => {
    expect(pending.pending).toEqual(both.map((each) => ({ ...each, shownIn: "queue" })));
    expect(pending).toMatchObject({ queue: { messages: [] }, messages: [{ id: "u1" }] });
    expect(applyPending(running, message("m2", "Now")).messages.at(-1)).toMatchObject({ id: "m2" });
  });

  it("is one that comes after another, but the first one to an idle conversation is shown at once", () => {
    const state = both.reduce(applyPending, fold([snapshot("0")]));
    expect(state.pending.map(({ shownIn }) => shownIn)).toEqual(["messages", "queue"]);
    expect(script(state)).toEqual(["user (sending): First"]);
    // It stays where it was first shown.
    const failed = applySendFailure(state, "q2", { code: "queue_full", message: "Full", retryable: true });
    expect(applyPending(failed, message("q2", "Second", "steer")).pending[1]?.shownIn).toBe("queue");
  });

  it("goes with its receipt, or when it is canceled", () => {
    const receipt = { conversationId, messageId: "q1", outcome: "queued" as const };
    expect(idsOf(applyReceipt(pending, receipt))).toEqual(["q2"]);
    expect(idsOf(applyCancel(pending, "q2"))).toEqual(["q1"]);
  });

  it("is a message of the turn that it opened after all", () => {
    const state = applyReceipt(pending, {
      conversationId,
      messageId: "q1",
      outcome: "started",
      turnId: "t2",
    });
    expect(script(state).at(-1)).toBe("user (streaming): First");
  });

  it("goes when the queue shows it, by whatever way that comes", () => {
    expect(idsOf(applyQueue(pending, waiting))).toEqual(["q2"]);
    expect(idsOf(fold([snapshot("0", { queue: waiting })], pending))).toEqual(["q2"]);
    expect(idsOf(applyQueue(pending, { messages: [] }))).toEqual(["q1", "q2"]);
  });

  it("goes when the log shows it, published or committed", () => {
    expect(idsOf(fold([rows("1~t1~1~-1", row(1, "q1", "user", "First"))], pending))).toEqual(["q2"]);
    const steered = published(1, { type: "steering", text: "Second", messageIds: ["q2"] });
    expect(idsOf(fold([steered], pending))).toEqual(["q1"]);
    const page = { chunks: [row(1, "q1", "user", "First")], latestSeq: 1 };
    expect(idsOf(applyHistory(pending, page))).toEqual(["q2"]);
  });

  it("is not pending where the server has shown it already, so that the order does not matter", () => {
    const queued = applyQueue(initialState(conversationId), waiting);
    expect(applyPending(queued, message("q1", "First", "queue"))).toBe(queued);
  });

  it("is kept while everything is loaded again, and in JSON", () => {
    expect(idsOf(applyRestart(pending))).toEqual(["q1", "q2"]);
    const stored = JSON.parse(JSON.stringify(pending)) as ConversationState;
    expect(idsOf(applyQueue(stored, waiting))).toEqual(["q2"]);
    expect(script(JSON.parse(JSON.stringify(sending)) as ConversationState)).toEqual(script(sending));
  });
});
