import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MessageContentPart } from "../../messages/part.js";
import { TextDelta } from "../../messages/provider/provider-stream.js";
import type { ProviderCallResult, ProviderStreamEvent, ProviderToolCall } from "../../ports.js";
import { Assembly } from "./assemble.js";

const toolCall = (id: string, argumentsText = "{}"): ProviderToolCall => ({
  id,
  name: "add",
  arguments: {},
  argumentsText,
});
const done = (content: MessageContentPart[], toolCalls?: ProviderToolCall[]): ProviderStreamEvent => {
  const result: ProviderCallResult = {
    id: "r",
    createdAt: new Date(0),
    message: { role: "assistant", content },
    ...(toolCalls === undefined ? {} : { toolCalls }),
  };
  return { type: "done", result };
};
const text = (delta: string, index?: number): ProviderStreamEvent => new TextDelta(delta, delta, index);
const reasoning = (textDelta: string, index?: number): ProviderStreamEvent => ({
  type: "reasoning-delta",
  textDelta,
  ...(index === undefined ? {} : { index }),
});

function assemble(events: readonly ProviderStreamEvent[]) {
  const assembly = new Assembly();
  const visible = events.flatMap((event) => assembly.apply(event) ?? []);
  return { assembly, visible };
}

describe("assembling an answer", () => {
  it("joins deltas of a kind, and opens a part behind one of another kind", () => {
    const { assembly } = assemble([text("a"), text("b"), reasoning("c"), text("d")]);
    expect(assembly.partial()).toEqual([
      { type: "text", text: "ab" },
      { type: "reasoning", text: "c" },
      { type: "text", text: "d" },
    ]);
  });

  it("shows every delta at the place that its part has in the message", () => {
    const piece = fc.tuple(
      fc.constantFrom("text", "reasoning"),
      fc.string({ maxLength: 3 }),
      fc.option(fc.nat({ max: 3 }), { nil: undefined }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 15 }), (pieces) => {
        const events = pieces.map(([kind, delta, index]) =>
          kind === "text" ? text(delta, index) : reasoning(delta, index),
        );
        const { assembly, visible } = assemble(events);
        const shown = new Map<number, string>();
        for (const { delta, partIndex } of visible)
          shown.set(partIndex, (shown.get(partIndex) ?? "") + delta);
        expect([...shown].sort(([a], [b]) => a - b)).toEqual(
          assembly.partial().map((part, index) => [index, "text" in part ? part.text : ""]),
        );
      }),
    );
  });

  it("takes the text so far from an adapter that sends nothing else", () => {
    const soFar = (whole: string): ProviderStreamEvent => ({
      type: "delta",
      delta: { role: "assistant", content: [{ type: "text", text: whole }] },
    });
    const { visible } = assemble([soFar("Hel"), soFar("Hello")]);
    expect(visible.map(({ delta }) => delta)).toEqual(["Hel", "lo"]);
  });

  it("puts a complete part where its deltas grew, and shows what they had not", () => {
    const signed: MessageContentPart = {
      type: "reasoning",
      text: "Hmm",
      providerMetadata: { p: { sig: "s" } },
    };
    const { assembly, visible } = assemble([reasoning("Hm", 0), { type: "part", part: signed, index: 0 }]);
    expect(assembly.partial()).toEqual([signed]);
    expect(visible.map(({ delta }) => delta)).toEqual(["Hm", "m"]);
  });

  it("leaves the last word to the result, but forgets no call", () => {
    const streamed = [text("Adding"), { type: "tool-call" as const, toolCall: toolCall("k1", '{"a": 1}') }];
    const ids = (events: ProviderStreamEvent[]) =>
      assemble(events)
        .assembly.finish()
        .flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
    expect(ids([...streamed, done([{ type: "text", text: "Adding." }])])).toEqual(["k1"]);
    expect(ids([...streamed, done([{ type: "text", text: "Adding." }], [toolCall("k1")])])).toEqual(["k1"]);
    expect(ids([...streamed, done([{ type: "text", text: "Adding." }], [toolCall("k2")])])).toEqual([
      "k2",
      "k1",
    ]);
    expect(ids([...streamed, done([])])).toEqual(["k1"]);
    expect(ids([...streamed, done([], [toolCall("k1"), toolCall("k2")])])).toEqual(["k1", "k2"]);
    const whole = assemble([...streamed, done([{ type: "text", text: "Adding." }])]).assembly.finish();
    expect(whole).toMatchObject([{ text: "Adding." }, { argumentsText: '{"a": 1}', arguments: { a: 1 } }]);
  });

  it("keeps calls without ids apart from listed ones", () => {
    const nameless = { type: "tool-call" as const, toolCall: toolCall("") };
    const calls = (events: ProviderStreamEvent[]) =>
      assemble(events)
        .assembly.finish()
        .filter((part) => part.type === "tool-call").length;
    expect(calls([nameless, done([{ type: "text", text: "x" }])])).toBe(1);
    expect(calls([nameless, done([{ type: "text", text: "x" }], [toolCall("")])])).toBe(1);
  });

  it("makes no part of nothing", () => {
    const { assembly, visible } = assemble([
      text("", 0),
      reasoning("", 1),
      { type: "part", part: { type: "text", text: "" }, index: 2 },
      {
        type: "part",
        part: { type: "reasoning", text: "", providerMetadata: { p: { hidden: 1 } } },
        index: 3,
      },
      text("Yes", 4),
    ]);
    expect(assembly.partial().map(({ type }) => type)).toEqual(["reasoning", "text"]);
    expect(visible).toEqual([{ kind: "text", delta: "Yes", partIndex: 1 }]);
  });
});
