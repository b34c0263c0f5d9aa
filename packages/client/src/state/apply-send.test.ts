import { describe, expect, it } from "vitest";
import { applyLoadFailure } from "./apply-history.js";
import { applyDiscard, applyOptimistic, applyReceipt, applySendFailure } from "./apply-send.js";
import { initialState } from "./fold.js";
import {
  conversationId,
  fold,
  plain,
  row,
  rows,
  script,
  snapshot,
  told,
  turnId,
} from "./frames.test-support.js";

const sending = applyOptimistic(fold([snapshot("0")]), { messageId: "u1", text: "Hello", createdAt: 4 });
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

  it("is the same message as the one that is told", () => {
    const state = fold([told(0, { type: "user-message", text: "Hello", messageId: "u1" })], sending);
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

  it("stays with its error when it is refused, until it is sent again or discarded", () => {
    const error = { code: "turn_active" as const, message: "A turn is running", retryable: true };
    const failed = applySendFailure(sending, "u1", error);
    expect(failed.messages[0]).toMatchObject({ status: "failed", error });
    const again = applyOptimistic(failed, { messageId: "u1", text: "Hello" });
    expect(again.messages[0]).toMatchObject({ status: "sending" });
    expect(again.messages[0]).not.toHaveProperty("error");
    expect(applyDiscard(failed, "u1").messages).toEqual([]);
    expect(applyDiscard(sending, "other")).toBe(sending);
    expect(applySendFailure(sending, "other", error)).toBe(sending);
  });

  it("is not shown twice when it is known already", () => {
    const known = fold([prompt]);
    expect(applyOptimistic(known, { messageId: "u1", text: "Hello" })).toBe(known);
  });

  it("waits below the answer that still comes", () => {
    const answering = fold([
      prompt,
      told(0, { type: "text-delta", delta: "Hi", messageId: "a1", partIndex: 0 }),
    ]);
    expect(script(applyOptimistic(answering, { messageId: "u2", text: "And?" }))).toEqual([
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
    const missing = applyLoadFailure(
      applyOptimistic(initialState(conversationId), { messageId: "u1", text: "Hi" }),
      error,
    );
    expect(missing).toMatchObject({ phase: "missing", error });
    expect(script(missing)).toEqual(["user (sending): Hi"]);
    const failed = applyLoadFailure(missing, { code: "internal", message: "Broken", retryable: false });
    expect(failed.phase).toBe("failed");
  });
});
