import type { MessageState } from "@parley/client";
import type { Chunk, ConversationMeta, ProviderCallInfo, Role } from "@parley/wire";
import { describe, expect, it } from "vitest";
import { isContextChanged, readSummary, summaryTakenBack } from "./context-changed.js";

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

  it("notices that a summary which the newest call read was undone", () => {
    const messages = [...before, message("system", summary), message("assistant", text("On it"))];
    expect(isContextChanged({ messages }, true)).toBe(true);
  });

  it("reports nothing when a summary was written and undone between two calls", () => {
    expect(isContextChanged({ messages: [...before, message("system", summary)] }, false)).toBe(false);
  });
});

describe("summaryTakenBack", () => {
  const meta = { id: "c" } as ConversationMeta;
  const answer = { ...message("assistant", text("On it")), turnId: "t" };
  const messages = [message("user", text("Hi")), message("system", summary), answer];

  it("returns the answer that may have read a summary which is no longer in force", () => {
    expect(summaryTakenBack({ messages, meta })).toEqual({ id: "c", turnId: "t", messageId: "assistant" });
  });

  it("returns nothing while the summary is in force, a turn runs, or no answer follows it", () => {
    expect(summaryTakenBack({ messages, meta: { ...meta, compactedFrom: "archive" } })).toBeUndefined();
    expect(summaryTakenBack({ messages, meta, activeTurn: { turnId: "u" } })).toBeUndefined();
    expect(summaryTakenBack({ messages: [answer, message("system", summary)], meta })).toBeUndefined();
  });
});

describe("readSummary", () => {
  const call = (purpose: string | undefined, ...kinds: readonly string[]) =>
    ({ purpose, manifest: { segments: kinds.map((kind) => ({ kind })) } }) as unknown as ProviderCallInfo;

  it("uses the newest call of a step", () => {
    expect(readSummary([call(undefined, "messages"), call(undefined, "summary", "messages")])).toBe(true);
    expect(readSummary([call(undefined, "summary"), call(undefined, "messages")])).toBe(false);
    expect(readSummary([call(undefined, "summary"), call("compaction", "messages")])).toBe(true);
    expect(readSummary([])).toBe(false);
  });
});
