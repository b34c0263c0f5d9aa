import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MessageContentPart } from "../../messages/part.js";
import { TextDelta } from "../../messages/provider/provider-stream.js";
import { firstBytes } from "../../messages/text/first-bytes.js";
import type { AnswerLimits, AnswerSizeLimit } from "../../ports/answer-limits.js";
import type { ProviderStreamEvent } from "../../ports.js";
import { Assembly } from "./assemble.js";

type Limits = Pick<AnswerLimits, AnswerSizeLimit>;
const limitsOf = (limits: Partial<Limits>): Limits => ({
  answerBytes: 1_000,
  answerCalls: 1_000,
  answerParts: 1_000,
  ...limits,
});
const text = (delta: string, index?: number): ProviderStreamEvent => new TextDelta(delta, delta, index);
const call = (id: string, argumentsText = "{}"): ProviderStreamEvent => ({
  type: "tool-call",
  toolCall: { id, name: "t", arguments: {}, argumentsText },
});
const input = (toolCallId: string, inputTextDelta: string): ProviderStreamEvent => ({
  type: "tool-input-delta",
  toolCallId,
  name: "t",
  inputTextDelta,
});
const done = (content: MessageContentPart[]): ProviderStreamEvent => ({
  type: "done",
  result: { id: "r", createdAt: new Date(0), message: { role: "assistant", content } },
});

function assemble(limits: Partial<Limits>, events: readonly ProviderStreamEvent[]) {
  const assembly = new Assembly(limitsOf(limits));
  const shown = events.map((event) => assembly.apply(event)?.delta ?? "").join("");
  return { parts: assembly.finish(), limit: assembly.exceeded?.details?.limit, shown, assembly };
}

const characters = fc
  .array(fc.constantFrom("a", "é", "€", "😀"), { maxLength: 8 })
  .map((list) => list.join(""));
const bytesOf = (parts: readonly MessageContentPart[]) =>
  Buffer.byteLength(parts.map((part) => ("text" in part ? part.text : "")).join(""));

describe("an answer with bounds", () => {
  it("cuts text at the bound, between characters, and shows what it keeps", () => {
    const { parts, limit, shown } = assemble({ answerBytes: 10 }, [text("1234"), text("€€€"), text("more")]);
    expect(parts).toEqual([{ type: "text", text: "1234€€" }]);
    expect([limit, shown]).toEqual(["answerBytes", "1234€€"]);
  });

  it("takes an answer that fills the bound exactly", () => {
    const whole = [text("12345"), call("c", "{}"), done([])];
    // The id, the name and the arguments of the call beside the text.
    expect(assemble({ answerBytes: 5 + 1 + 1 + 2 }, whole).limit).toBeUndefined();
    expect(assemble({ answerBytes: 5 + 1 + 1 + 1 }, whole).limit).toBe("answerBytes");
    expect(assemble({ answerCalls: 1, answerParts: 2 }, whole).limit).toBeUndefined();
  });

  it("counts the arguments of a call while they come, and once", () => {
    const pieces = Array.from({ length: 10 }, () => input("c", "x".repeat(50)));
    expect(assemble({ answerBytes: 499 }, pieces)).toMatchObject({ parts: [], limit: "answerBytes" });
    const whole = [...pieces, call("c", "x".repeat(500))];
    expect(assemble({ answerBytes: 520 }, whole).limit).toBeUndefined();
  });

  it("counts calls that have only begun, and leaves out the ones behind the bound", () => {
    const begun = ["a", "b", "c"].map((id) => input(id, "{"));
    expect(assemble({ answerCalls: 3 }, begun).limit).toBeUndefined();
    expect(assemble({ answerCalls: 2 }, begun)).toMatchObject({ parts: [], limit: "answerCalls" });
    const { parts, limit } = assemble({ answerCalls: 2 }, [call("a"), call("b"), call("c"), text("behind")]);
    expect([parts.length, limit]).toEqual([2, "answerCalls"]);
  });

  it("does not count a call twice that is completed by its part", () => {
    const part: MessageContentPart = {
      type: "tool-call",
      name: "t",
      arguments: {},
      argumentsText: "{}",
      toolCallId: "a",
    };
    const events: ProviderStreamEvent[] = [
      { ...(call("a") as Extract<ProviderStreamEvent, { type: "tool-call" }>), index: 0 },
      { type: "part", part, index: 0 },
    ];
    expect(assemble({ answerCalls: 1, answerParts: 1 }, events).limit).toBeUndefined();
  });

  it("bounds the number of parts", () => {
    const sources = Array.from(
      { length: 5 },
      (_, index): ProviderStreamEvent => ({
        type: "part",
        part: { type: "source", url: `https://example.com/${index}` },
        index,
      }),
    );
    expect(assemble({ answerParts: 3 }, sources)).toMatchObject({
      parts: { length: 3 },
      limit: "answerParts",
    });
  });

  it("counts metadata, and keeps no signature of a text that it cuts", () => {
    const part: MessageContentPart = {
      type: "reasoning",
      text: "r".repeat(100),
      providerMetadata: { p: { signature: "s".repeat(100) } },
    };
    const { parts, limit } = assemble({ answerBytes: 150 }, [{ type: "part", part }]);
    expect(parts).toEqual([{ type: "reasoning", text: "r".repeat(100) }]);
    expect(limit).toBe("answerBytes");
  });

  it("keeps what was streamed where the result is too large, and what fits of one that was not", () => {
    const result = done([
      { type: "text", text: "first" },
      { type: "text", text: "x".repeat(100) },
    ]);
    expect(assemble({ answerBytes: 50 }, [text("first"), result])).toMatchObject({
      parts: [{ type: "text", text: "first" }],
      limit: "answerBytes",
    });
    const { parts } = assemble({ answerBytes: 50 }, [result]);
    expect(parts[0]).toEqual({ type: "text", text: "first" });
    expect(bytesOf(parts)).toBeLessThanOrEqual(50);
  });

  it("never keeps more than it may, and what it keeps is the beginning of what came", () => {
    const piece = fc.tuple(fc.constantFrom("text", "reasoning"), characters);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.integer({ min: 1, max: 40 }), (pieces, most) => {
        const events = pieces.map(
          ([kind, textDelta]): ProviderStreamEvent =>
            kind === "text" ? text(textDelta) : { type: "reasoning-delta", textDelta },
        );
        const { parts, shown, limit } = assemble({ answerBytes: most }, events);
        const whole = pieces.map(([, textDelta]) => textDelta).join("");
        expect(bytesOf(parts)).toBeLessThanOrEqual(most);
        expect(parts.map((part) => ("text" in part ? part.text : "")).join("")).toBe(shown);
        expect(whole.startsWith(shown)).toBe(true);
        if (limit === undefined) expect(shown).toBe(whole);
        else expect(Buffer.byteLength(shown)).toBeGreaterThan(most - 4);
      }),
    );
  });
});

describe("the first bytes of a text", () => {
  it("are as many whole characters as fit", () => {
    fc.assert(
      fc.property(characters, fc.nat({ max: 200 }), (unit, most) => {
        // Long enough to be measured in pieces, with characters across their borders.
        const whole = unit.repeat(300);
        const first = firstBytes(whole, most * 40);
        expect(whole.startsWith(first)).toBe(true);
        expect(Buffer.byteLength(first)).toBeLessThanOrEqual(most * 40);
        const next = String.fromCodePoint(whole.codePointAt(first.length) ?? 0);
        if (first.length < whole.length) {
          expect(Buffer.byteLength(first) + Buffer.byteLength(next)).toBeGreaterThan(most * 40);
        }
      }),
    );
  });
});
