import type { ProviderStreamEvent } from "@parley/core/ports";
import {
  called,
  finish,
  hangingAfter,
  type MockAnswer,
  type ModelPart,
  mockModel,
  said,
} from "@parley/testing/ai-sdk";
import { jsonSchema, streamText, type ToolSet } from "ai";
import { describe, expect, it } from "vitest";
import { AnswerFold, type StreamPart } from "./from-stream-part.js";

/** Returns the parts that `streamText` emits for a model's stream. */
async function partsOf(
  answer: MockAnswer,
  tools?: ToolSet,
  abortSignal?: AbortSignal,
): Promise<StreamPart[]> {
  const { fullStream } = streamText({
    model: mockModel(answer),
    prompt: "hi",
    maxRetries: 0,
    onError: () => {},
    ...(tools === undefined ? {} : { tools }),
    ...(abortSignal === undefined ? {} : { abortSignal }),
  });
  const parts: StreamPart[] = [];
  for await (const part of fullStream) parts.push(part);
  return parts;
}

function folded(parts: readonly StreamPart[]) {
  const events: ProviderStreamEvent[] = [];
  const fold = new AnswerFold();
  for (const part of parts) fold.push(part, (event) => events.push(event));
  return { fold, events };
}

const fold = async (answer: readonly ModelPart[], tools?: ToolSet) => folded(await partsOf(answer, tools));

const add: ToolSet[string] = {
  inputSchema: jsonSchema({ type: "object", properties: { a: { type: "number" } } }),
};

describe("text and reasoning", () => {
  it("joins deltas by their block, in the order in which blocks started", async () => {
    const { fold: made } = await fold([
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "let me " },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "Hel" },
      { type: "reasoning-delta", id: "r", delta: "see" },
      { type: "text-delta", id: "t", delta: "lo" },
      { type: "reasoning-end", id: "r" },
      { type: "text-end", id: "t" },
      finish(),
    ]);
    expect(made.content(true)).toEqual([
      { type: "reasoning", text: "let me see" },
      { type: "text", text: "Hello" },
    ]);
  });

  it("gathers metadata from start, deltas and end, later fields winning", async () => {
    const { fold: made, events } = await fold([
      { type: "reasoning-start", id: "r", providerMetadata: { acme: { itemId: "rs_1", state: "begun" } } },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      { type: "reasoning-delta", id: "r", delta: "", providerMetadata: { acme: { signature: "SIG" } } },
      { type: "reasoning-end", id: "r", providerMetadata: { acme: { state: "done" }, other: { x: 1 } } },
      ...said("t", "ok"),
      finish(),
    ]);
    const part = {
      type: "reasoning",
      text: "hm",
      providerMetadata: { acme: { itemId: "rs_1", signature: "SIG", state: "done" }, other: { x: 1 } },
    };
    expect(made.content(true)[0]).toEqual(part);
    expect(events.filter((event) => event.type === "part")).toEqual([{ type: "part", part, index: 0 }]);
    expect(events.filter((event) => event.type === "reasoning-delta")).toHaveLength(1);
  });

  it("keeps redacted reasoning, which has metadata and no text, and drops blocks that stay empty", async () => {
    const { fold: made } = await fold([
      { type: "reasoning-start", id: "r", providerMetadata: { anthropic: { redactedData: "X" } } },
      { type: "reasoning-end", id: "r" },
      { type: "reasoning-start", id: "r2" },
      { type: "reasoning-end", id: "r2" },
      { type: "text-start", id: "t" },
      { type: "text-end", id: "t" },
      finish(),
    ]);
    expect(made.content(true)).toEqual([
      { type: "reasoning", text: "", providerMetadata: { anthropic: { redactedData: "X" } } },
    ]);
  });

  it("omits the metadata of a block that was cut before its end", async () => {
    const parts = await partsOf([
      { type: "reasoning-start", id: "r", providerMetadata: { openai: { itemId: "rs_1" } } },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      finish(),
    ]);
    const { fold: cut } = folded(parts.filter(({ type }) => type !== "finish" && type !== "finish-step"));
    expect(cut.content(false)).toEqual([{ type: "reasoning", text: "hm" }]);
  });

  it("accepts a delta without a start, which other senders of such streams omit", () => {
    const { fold: made } = folded([{ type: "text-delta", id: "1", text: "hi" }]);
    expect(made.content(true)).toEqual([{ type: "text", text: "hi" }]);
  });

  it("keeps blocks of two kinds apart that share an id", () => {
    const { fold: made } = folded([
      { type: "reasoning-delta", id: "0", text: "why" },
      { type: "text-delta", id: "0", text: "because" },
    ]);
    expect(made.content(true).map(({ type }) => type)).toEqual(["reasoning", "text"]);
  });
});

describe("tools", () => {
  it("keeps the text that the model wrote, byte for byte, and reports its progress", async () => {
    const { fold: made, events } = await fold(
      [...called("c1", "add", '{"a": ', "1.0}"), finish("tool-calls")],
      {
        add,
      },
    );
    expect(made.content(true)).toEqual([
      { type: "tool-call", name: "add", toolCallId: "c1", arguments: { a: 1 }, argumentsText: '{"a": 1.0}' },
    ]);
    const progress = events.flatMap((event) =>
      event.type === "tool-input-delta" ? event.inputTextDelta : [],
    );
    expect(progress.join("")).toBe('{"a": 1.0}');
    expect(made.ending?.finishReason).toBe("tool-calls");
  });

  it("serializes the value if the text was not streamed, or represents another", async () => {
    const { fold: made } = await fold(
      [
        { type: "tool-call", toolCallId: "c1", toolName: "add", input: '{"a":  1}' },
        { type: "tool-input-start", id: "c2", toolName: "add" },
        { type: "tool-input-delta", id: "c2", delta: '{"a":2}' },
        { type: "tool-input-end", id: "c2" },
        { type: "tool-call", toolCallId: "c2", toolName: "add", input: '{"a":3}' },
        finish("tool-calls"),
      ],
      { add },
    );
    expect(made.calls().map(({ argumentsText }) => argumentsText)).toEqual(['{"a":1}', '{"a":3}']);
  });

  it("has no arguments if the SDK has none", async () => {
    const { fold: made } = await fold(
      [{ type: "tool-call", toolCallId: "c1", toolName: "add", input: "" }, finish("tool-calls")],
      { add },
    );
    expect(made.calls()).toEqual([{ id: "c1", name: "add", arguments: {}, argumentsText: "{}" }]);
  });

  it("keeps calls of unknown tools and with malformed input, and leaves the answer to the turn loop", async () => {
    const { fold: made } = await fold(
      [
        { type: "tool-call", toolCallId: "c1", toolName: "nope", input: '{"a":1}' },
        { type: "tool-call", toolCallId: "c2", toolName: "add", input: '{"a":' },
        finish("tool-calls"),
      ],
      { add },
    );
    expect(made.calls()).toEqual([
      { id: "c1", name: "nope", arguments: { a: 1 }, argumentsText: '{"a":1}' },
      { id: "c2", name: "add", arguments: '{"a":', argumentsText: '{"a":' },
    ]);
    expect(made.content(true).map(({ type }) => type)).toEqual(["tool-call", "tool-call"]);
  });

  it("emits a call once, with its metadata", async () => {
    const { events } = await fold(
      [
        {
          type: "tool-call",
          toolCallId: "c1",
          toolName: "add",
          input: "{}",
          providerMetadata: { openai: { itemId: "fc_1" } },
        },
        finish("tool-calls"),
      ],
      { add },
    );
    expect(events.filter((event) => event.type === "tool-call")).toHaveLength(1);
    expect(events.find((event) => event.type === "part")).toMatchObject({
      index: 0,
      part: { type: "tool-call", providerMetadata: { openai: { itemId: "fc_1" } } },
    });
  });

  it("hides a provider's own tool calls from the turn loop", async () => {
    const { fold: made, events } = await fold([
      {
        type: "tool-call",
        toolCallId: "s1",
        toolName: "web_search",
        input: '{"q":"x"}',
        providerExecuted: true,
        dynamic: true,
      },
      {
        type: "tool-result",
        toolCallId: "s1",
        toolName: "web_search",
        result: { hits: 1 },
        preliminary: true,
      },
      { type: "tool-result", toolCallId: "s1", toolName: "web_search", result: { hits: 2 } },
      ...said("t", "found"),
      finish(),
    ]);
    expect(made.calls()).toEqual([]);
    expect(events.some((event) => event.type === "tool-call")).toBe(false);
    expect(made.content(true)).toMatchObject([
      { type: "metadata", data: { type: "provider-tool-call", toolCallId: "s1" } },
      { type: "metadata", data: { type: "provider-tool-result", toolCallId: "s1" } },
      { type: "text", text: "found" },
    ]);
  });
});

describe("sources and files", () => {
  it("become parts", async () => {
    const { fold: made } = await fold([
      { type: "source", sourceType: "url", id: "s1", url: "https://x.test/", title: "X" },
      {
        type: "source",
        sourceType: "document",
        id: "s2",
        mediaType: "text/plain",
        title: "",
        filename: "a.txt",
      },
      { type: "file", mediaType: "image/png", data: "AAAA" },
      finish(),
    ]);
    expect(made.content(true)).toEqual([
      { type: "source", id: "s1", url: "https://x.test/", title: "X" },
      { type: "source", id: "s2", title: "" },
      { type: "file", mediaType: "image/png", data: "AAAA" },
    ]);
  });
});

describe("the end", () => {
  it("has the reason, the provider's id and all counters", async () => {
    const { fold: made, events } = await fold([
      { type: "response-metadata", id: "resp_1", timestamp: new Date(5) },
      ...said("t", "hi"),
      finish("length"),
    ]);
    expect(made.ending).toEqual({
      finishReason: "length",
      cutOff: false,
      id: "resp_1",
      timestamp: new Date(5),
      usage: {
        inputTokens: 12,
        outputTokens: 9,
        totalTokens: 21,
        cacheReadTokens: 7,
        cacheWriteTokens: 1,
        reasoningTokens: 3,
      },
    });
    expect(events.filter((event) => event.type === "usage")).toHaveLength(1);
  });

  it("has the cost of the call from the metadata of routers", async () => {
    const parts = await partsOf([...said("t", "hi"), finish()]);
    const withMetadata = (providerMetadata: object) =>
      folded(
        parts.map((part) => (part.type === "finish-step" ? { ...part, providerMetadata } : part) as never),
      ).fold.ending?.billed;
    expect(withMetadata({ openrouter: { usage: { cost: 0.25 } } })).toEqual({
      amount: 0.25,
      currency: "USD",
    });
    expect(withMetadata({ gateway: { cost: "0.0045" } })?.amount).toBe(0.0045);
    expect(withMetadata({ gateway: { cost: "free" }, openrouter: {} })).toBeUndefined();
  });

  it("is read from finish if the step's own end is missing", async () => {
    const parts = (await partsOf([...said("t", "hi"), finish()])).filter(
      ({ type }) => type !== "finish-step",
    );
    const { ending } = folded(parts).fold;
    expect(ending).toMatchObject({ finishReason: "stop", usage: { inputTokens: 12 } });
  });

  it("is not reached if the model's stream just stopped", async () => {
    const { fold: made } = await fold(said("t", "hi"));
    expect(made.ending?.cutOff).toBe(true);
  });

  it("was cut off if version 7 of the SDK reports that it was interrupted", async () => {
    const parts = await partsOf([...said("t", "Hel"), finish()]);
    const interrupted = parts.map((part) =>
      part.type === "finish-step" || part.type === "finish" ? { ...part, finishReason: "interrupted" } : part,
    ) as StreamPart[];
    expect(folded(interrupted).fold.ending).toMatchObject({ cutOff: true, finishReason: "other" });
  });

  it("is complete although version 7 of the SDK refuses an answer without the forced call", async () => {
    const parts = await partsOf([...said("t", "No."), finish()]);
    const error = Object.assign(new Error("no call"), {
      name: "AI_ToolChoiceViolationError",
      finishReason: "stop",
    });
    const refused = parts.flatMap((part): StreamPart[] =>
      part.type === "finish-step"
        ? [
            { type: "error", error },
            { ...part, finishReason: "error" },
          ]
        : [part],
    );
    const { fold: made } = folded(refused);
    expect(made.failure).toBeUndefined();
    expect(made.ending).toMatchObject({ finishReason: "stop", cutOff: false });
  });

  it("recognizes a failure in the middle, which the SDK still finishes", async () => {
    const { fold: made } = await fold([
      ...said("t", "hi"),
      { type: "error", error: { type: "overloaded_error" } },
      finish("error"),
    ]);
    expect(made.failure).toEqual({ error: { type: "overloaded_error" } });
    expect(made.ending?.finishReason).toBe("error");
  });

  it("recognizes a call that failed at once, which has no end", async () => {
    const parts = await partsOf(() => {
      throw new Error("no");
    });
    expect(parts.map(({ type }) => type)).toEqual(["start", "error"]);
    const { fold: made } = folded(parts);
    expect(made.failure?.error).toBeInstanceOf(Error);
    expect(made.ending).toBeUndefined();
  });

  it("recognizes an abort, which has no end either", async () => {
    const abort = new AbortController();
    const { fullStream } = streamText({
      model: mockModel(hangingAfter(said("t", "partial").slice(0, 2))),
      prompt: "hi",
      abortSignal: abort.signal,
    });
    const { fold: made } = folded([]);
    const seen: string[] = [];
    for await (const part of fullStream) {
      made.push(part, () => {});
      seen.push(part.type);
      if (part.type === "text-delta") abort.abort();
    }
    expect(seen.at(-1)).toBe("abort");
    expect(made.aborted).toBe(true);
    expect(made.ending).toBeUndefined();
    expect(made.content(false)).toEqual([{ type: "text", text: "partial" }]);
  });
});
