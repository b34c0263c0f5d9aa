import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConversationMessage } from "../../messages/message.js";
import type { MessageContentPart } from "../../messages/part.js";
import { cutMessages, sizeOf } from "./cut-messages.js";

function message(role: ConversationMessage["role"], ...content: MessageContentPart[]): ConversationMessage {
  return { id: `${role}-1`, conversationId: "c", role, createdAt: new Date(0), content };
}

const call = (toolCallId: string, argumentsText: string): MessageContentPart => ({
  type: "tool-call",
  name: "t",
  toolCallId,
  arguments: argumentsText,
  argumentsText,
});

const result = (toolCallId: string, text: string): MessageContentPart => ({
  type: "tool-result",
  name: "t",
  toolCallId,
  result: text,
  resultText: text,
});

describe("messages that are cut to a size", () => {
  it("are the same where all of them fit", () => {
    const messages = [message("assistant", { type: "text", text: "short" })];
    expect(cutMessages(messages, 1_000)).toBe(messages);
  });

  it("keep the beginning of any text, whole characters of it, and fit", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 3_000, maxLength: 4_000 }), (text) => {
        const [cut] = cutMessages([message("assistant", { type: "text", text })], 2_000);
        expect(sizeOf(cut)).toBeLessThanOrEqual(2_000);
        const [part] = cut?.content ?? [];
        const kept = part?.type === "text" ? part.text.slice(0, part.text.lastIndexOf("\n[cut: ")) : "";
        expect(kept.length).toBeGreaterThan(200);
        expect(text.startsWith(kept)).toBe(true);
        expect(kept).not.toMatch(/[\ud800-\udbff]$/);
      }),
      { numRuns: 50 },
    );
  });

  it("give up reasoning before the answer", () => {
    const [cut] = cutMessages(
      [
        message(
          "assistant",
          { type: "reasoning", text: "r".repeat(5_000) },
          { type: "text", text: "a".repeat(1_500) },
        ),
      ],
      1_700,
    );
    expect(cut?.content).toEqual([{ type: "text", text: "a".repeat(1_500) }]);
  });

  it("leave out a call that does not fit together with its result, and keep others", () => {
    const cut = cutMessages(
      [
        message("assistant", call("k1", "x".repeat(3_000)), call("k2", "{}")),
        message("tool", result("k1", "one")),
        message("tool", result("k2", "two")),
      ],
      1_000,
    );
    expect(cut.map(({ content }) => content)).toEqual([[call("k2", "{}")], [result("k2", "two")]]);
  });

  it("answer a call whose result does not fit", () => {
    const [cut] = cutMessages([message("tool", result("k1", "x".repeat(3_000)))], 200);
    expect(cut?.content).toMatchObject([{ type: "tool-result", toolCallId: "k1", isError: true }]);
    const [longer] = cutMessages([message("tool", result("k1", "x".repeat(3_000)))], 1_500);
    expect(longer?.content).toMatchObject([
      { resultText: expect.stringMatching(/^x{200,}\n\[cut: /) as string },
    ]);
    expect(sizeOf(longer)).toBeLessThanOrEqual(1_500);
  });
});
