import type { MessageState } from "@parley/client";
import type { Chunk, ConversationMeta } from "@parley/wire";
import { expect, it } from "vitest";
import { mayCompact } from "./may-compact.js";

function message(seq: number, chunk: Chunk = { type: "text", text: "x" }): MessageState {
  const part = { key: `${seq}`, index: 0, chunk, streaming: false };
  return { id: `${seq}`, role: "user", status: "committed", firstSeq: seq, lastSeq: seq, parts: [part] };
}
const messages = [1, 2, 3, 4].map((seq) => message(seq));
const summary = message(5, { type: "system", text: "Sum", covers: { firstSeq: 1, lastSeq: 3 } });
const meta: ConversationMeta = {
  id: "c",
  createdAt: 0,
  lastActivityAt: 0,
  title: "",
  status: "idle",
};

it("finds nothing to compact in a short conversation", () => {
  const state = { messages, meta, hasEarlier: false };
  expect([10, 4, 3, 2, 0].map((keep) => mayCompact(state, keep))).toEqual([false, false, false, true, true]);
});

it("asks the server if older messages are not loaded", () => {
  expect(mayCompact({ messages, meta, hasEarlier: true }, 10)).toBe(true);
});

it("leaves out what a summary in force covers, and asks the server if it is unclear which one is", () => {
  const compacted = { ...meta, compactedFrom: "archive" };
  const once = { messages: [...messages, summary], meta: compacted, hasEarlier: true };
  expect(mayCompact(once, 0)).toBe(false);
  expect(mayCompact({ ...once, messages: [...once.messages, message(6), message(7)] }, 0)).toBe(true);
  expect(mayCompact({ ...once, messages: [...once.messages, summary] }, 0)).toBe(true);
  expect(mayCompact({ ...once, meta, hasEarlier: false }, 2)).toBe(true);
});
