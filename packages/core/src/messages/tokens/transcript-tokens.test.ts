import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTranscriptTokens, utf8Length } from "./transcript-tokens.js";

describe("estimateTranscriptTokens", () => {
  it("gives ten tokens for 33 bytes and seven for the message", () => {
    expect(estimateTranscriptTokens({ content: "Hello, world!" })).toBe(10);
    expect(estimateTranscriptTokens({ content: "x".repeat(33) })).toBe(17);
    expect(estimateTranscriptTokens({ content: "x".repeat(329) })).toBe(99 + 7);
    expect(estimateTranscriptTokens({ content: "x".repeat(330) })).toBe(100 + 7);
  });

  it("counts bytes of UTF-8, not characters", () => {
    // Seven characters of three bytes each: 21 * 10 / 33 = 6.
    expect(estimateTranscriptTokens({ content: "你好，世界和平" })).toBe(13);
    expect(estimateTranscriptTokens({ content: "é".repeat(33) })).toBe(20 + 7);
    expect(estimateTranscriptTokens({ content: "😀".repeat(33) })).toBe(40 + 7);
  });

  it("is eight for a message without content", () => {
    expect(estimateTranscriptTokens({ content: "" })).toBe(8);
    expect(estimateTranscriptTokens({ content: "", toolCalls: [] })).toBe(8);
  });

  it("adds name, arguments, id and 30 bytes for each tool call", () => {
    const search = { id: "tc1", name: "search", arguments: '{"q":"test"}' };
    // 3 + 6 + 12 + 30 = 51 bytes, 15 tokens.
    expect(estimateTranscriptTokens({ content: "", toolCalls: [search] })).toBe(15 + 7);
    expect(estimateTranscriptTokens({ content: "ab", toolCalls: [search, search] })).toBe(31 + 7);
  });

  it("adds the id and 20 bytes for a tool's result", () => {
    // 2 + 3 + 20 = 25 bytes, 7 tokens.
    expect(estimateTranscriptTokens({ content: "ok", toolCallId: "tc1" })).toBe(7 + 7);
    expect(estimateTranscriptTokens({ content: "ok", toolCallId: "" })).toBe(6 + 7);
  });
});

describe("utf8Length", () => {
  it("is the length that an encoder gives, for any string", () => {
    const encoder = new TextEncoder();
    const codeUnits = fc
      .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.integer({ min: 0xd7f0, max: 0xe00f })))
      .map((codes) => String.fromCharCode(...codes));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), codeUnits), (text) => {
        expect(utf8Length(text)).toBe(encoder.encode(text).length);
      }),
      { numRuns: 500 },
    );
  });
});
