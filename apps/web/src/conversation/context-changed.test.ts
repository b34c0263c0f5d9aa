import type { MessageState } from "@parley/client";
import type { Chunk, ConversationMeta, Role } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { isContextChanged } from "./context-changed.js";

const message = (role: Role, chunk: Chunk): MessageState => ({
  id: role,
  role,
  parts: [{ key: role, index: 0, chunk, streaming: false }],
  status: "committed",
});
const text = (words: string): Chunk => ({ type: "text", text: words });
const summary: Chunk = { type: "system", text: "So far.", covers: { firstSeq: 1, lastSeq: 4 } };

describe("isContextChanged", () => {
  const meta = { compactedFrom: "archive" } as ConversationMeta;
  const before = [message("user", text("Hi")), message("assistant", text("Hello"))];

  it("notices a summary that no call has read yet", () => {
    const messages = [...before, message("system", summary)];
    expect(isContextChanged({ messages, meta }, false)).toBe(true);
    const answered = [...messages, message("assistant", text("On it"))];
    expect(isContextChanged({ messages: answered, meta }, true)).toBe(false);
  });

  it("notices that a summary which the newest call read was taken back", () => {
    const messages = [...before, message("system", summary), message("assistant", text("On it"))];
    expect(isContextChanged({ messages }, true)).toBe(true);
  });

  it("has nothing to say when a summary came and went between two calls", () => {
    expect(isContextChanged({ messages: [...before, message("system", summary)] }, false)).toBe(false);
  });
});
