import { describe, expect, it } from "vitest";
import { applyHistory, applyQueue } from "./apply-history.js";
import { applyRestart } from "./apply-send.js";
import type { ConversationState } from "./conversation-state.js";
import { initialState } from "./fold.js";
import { conversationId, fold, row, rows, snapshot, told } from "./frames.test-support.js";
import { applyUnsent, applyUnsentDone } from "./unsent.js";

const first = { id: "q1", text: "First", mode: "queue" as const };
const second = { id: "q2", text: "Second", mode: "steer" as const };
const unsent = [first, second].reduce(applyUnsent, fold([snapshot("0")]));
const waiting = { messages: [{ id: "q1", text: "First", mode: "queue" as const, queuedAt: 1 }] };
const delivered = rows("1~t1~1~-1", row(1, "q1", "user", "First"));

const idsOf = ({ unsent: each }: ConversationState) => each.map(({ id }) => id);

describe("a message on its way to the queue", () => {
  it("is held in order, apart from what waits and from the messages", () => {
    expect(unsent).toMatchObject({ unsent: [first, second], queue: { messages: [] }, messages: [] });
    expect(applyUnsent(unsent, first)).toBe(unsent);
  });

  it("goes when the server has it, refuses it, or nobody wants it sent any more", () => {
    expect(applyUnsentDone(unsent, "q1").unsent).toEqual([second]);
    expect(applyUnsentDone(unsent, "other")).toBe(unsent);
  });

  it("goes when the queue shows it, by whatever way that comes", () => {
    expect(idsOf(applyQueue(unsent, waiting))).toEqual(["q2"]);
    expect(idsOf(fold([snapshot("0", { queue: waiting })], unsent))).toEqual(["q2"]);
    expect(idsOf(applyQueue(unsent, { messages: [] }))).toEqual(["q1", "q2"]);
  });

  it("goes when the log shows it, told or committed", () => {
    expect(idsOf(fold([delivered], unsent))).toEqual(["q2"]);
    const opened = told(0, { type: "user-message", text: "First", messageId: "q1" });
    expect(idsOf(fold([opened], unsent))).toEqual(["q2"]);
    const steered = told(0, { type: "steering", text: "Second", messageIds: ["q2"] });
    expect(idsOf(fold([steered], unsent))).toEqual(["q1"]);
    const page = { chunks: [row(1, "q1", "user", "First")], latestSeq: 1 };
    expect(idsOf(applyHistory(unsent, page))).toEqual(["q2"]);
  });

  it("is not held where the server has shown it already, so that the order does not matter", () => {
    const queued = applyQueue(initialState(conversationId), waiting);
    expect(applyUnsent(queued, first)).toBe(queued);
    const known = fold([delivered]);
    expect(applyUnsent(known, first)).toBe(known);
  });

  it("is kept while everything is loaded anew, and in JSON", () => {
    expect(applyRestart(unsent).unsent).toEqual([first, second]);
    const stored = JSON.parse(JSON.stringify(unsent)) as ConversationState;
    expect(idsOf(applyQueue(stored, waiting))).toEqual(["q2"]);
  });
});
