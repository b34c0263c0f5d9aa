import { describe, expect, it } from "vitest";
import { argumentsFromText, type MessageContentPart } from "../part.js";
import { countForRow, countMessage, tokenRule } from "./count-message.js";

const text = (value: string): MessageContentPart => ({ type: "text", text: value });

const samples: readonly MessageContentPart[][] = [
  [text("Which of these files is the largest, and who changed it last?")],
  [text("export const tokenRule = 1;\n\nfunction count(text: string): number {\n  return text.length;\n}\n")],
  [text("Wie spät ist es gerade in São Paulo? Ça dépend de l'heure d'été.")],
  [text("これはペンです。你好,世界。안녕하세요. Привет, мир!")],
  [text('🎉 3.14159 -- {"a": [1, 2, 3]} ====== https://example.com/a?b=c')],
  [{ type: "reasoning", text: "The user wants a figure." }, text("It is 42.")],
  [
    {
      type: "tool-call",
      name: "read_file",
      arguments: argumentsFromText('{"path":"a.ts"}'),
      argumentsText: '{"path":"a.ts"}',
      toolCallId: "c1",
    },
  ],
  [{ type: "tool-result", name: "read_file", result: "nothing", resultText: "nothing", toolCallId: "c1" }],
  [{ type: "file", mediaType: "image/png", data: "AAAA" }],
  [{ type: "error", message: "The provider failed" }],
];

describe("the count of a message", () => {
  it("has a rule of its own: whatever changes a count here raises `tokenRule`", () => {
    const counts = samples.map((content) => countForRow({ content }).count);
    expect({ tokenRule, counts }).toEqual({
      tokenRule: 1,
      counts: [18, 26, 23, 23, 32, 15, 20, 15, 1_204, 0],
    });
  });

  it("takes a count that is known for the tokens, and measures the rest", () => {
    const content = [text("some text"), text("and more")];
    const countText = () => {
      throw new Error("It is known");
    };
    expect(countMessage({ content }, countText, 12)).toEqual({ characters: 17, tokens: 12 });
    const error: MessageContentPart = { type: "error", message: "never sent" };
    expect(countMessage({ content: [error] }, countText, 12)).toBeUndefined();
  });
});
