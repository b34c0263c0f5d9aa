import type { QueuedMessage } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { withRows } from "./apply-rows.js";
import { emptyFold } from "./conversation-fold.js";
import { withoutQueued, withQueue } from "./queue.js";

const queued = (id: string): QueuedMessage => ({ id, text: id, mode: "queue", queuedAt: 1 });
const fold = emptyFold("c");

describe("the queue", () => {
  it("loses the messages that were delivered, and only those", () => {
    const full = withQueue(fold, { messages: [queued("a"), queued("b")] });
    expect(withoutQueued(full, new Set(["a"])).queue.messages.map(({ id }) => id)).toEqual(["b"]);
    expect(withoutQueued(full, new Set(["z"]))).toBe(full);
  });

  it("does not restore a message that is in the log, when the server's list lags behind", () => {
    const row = { seq: 1, role: "user" as const, messageId: "a", turnId: "t", partIndex: 0, partCount: 1 };
    const delivered = withRows(fold, [{ ...row, chunk: { type: "text", text: "a" } }], "t");
    expect(
      withQueue(delivered, { messages: [queued("a"), queued("b")] }).queue.messages.map(({ id }) => id),
    ).toEqual(["b"]);
  });
});
