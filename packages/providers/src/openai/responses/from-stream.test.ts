import type { MessageContentPart } from "@parley/core/messages";
import type { ProviderCallResult, ProviderMessage, ProviderStreamEvent } from "@parley/core/ports";
import { Assembly } from "@parley/core/turn";
import {
  type AnswerItem,
  type ResponsesStreamEvent,
  responsesEvents,
  validateResponsesRequest,
} from "@parley/testing/openai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reader } from "../../call/provider-message-arbitrary.test-support.js";
import { createToolNames } from "../../call/tool-names.js";
import type { ResponsesEvent } from "./api-types.js";
import { createResponsesFold } from "./from-stream.js";
import { toInputMessages } from "./input-parts.js";
import { toRequest } from "./to-request.js";

function fold(events: readonly ResponsesEvent[], markResponse = false): ProviderStreamEvent[] {
  const made = createResponsesFold({
    provider: "openai",
    origin: reader,
    names: createToolNames([]),
    markResponse,
    startedAt: new Date(5),
  });
  const said: ProviderStreamEvent[] = [];
  for (const event of events) said.push(...made.push(event));
  return [...said, ...made.end({ marked: false })];
}

function resultOf(events: readonly ResponsesEvent[]): ProviderCallResult {
  const last = fold(events).at(-1);
  if (last?.type !== "done") throw new Error(`ended with ${last?.type}`);
  return last.result;
}

function failureOf(events: readonly ResponsesEvent[]) {
  const last = fold(events).at(-1);
  if (last?.type !== "error") throw new Error(`ended with ${last?.type}`);
  return last.error;
}

const textsIn = (events: readonly ProviderStreamEvent[]) =>
  events.map((event) => (event.type === "delta" ? event.textDelta : "")).join("");
const partsOf = (result: ProviderCallResult) => result.message.content as MessageContentPart[];

const turn: AnswerItem[] = [
  { type: "reasoning", summary: ["First I look.", "Then I add."], encrypted: "ENC" },
  { type: "message", text: "Let me look at this.", phase: "commentary" },
  { type: "function_call", name: "add", arguments: '{"a":1,"b":2}' },
  { type: "function_call", name: "search", arguments: '{"q":"x"}' },
];
const searched: AnswerItem[] = [
  {
    type: "opaque",
    item: { type: "web_search_call", id: "ws_0", status: "completed", action: { query: "x" } },
  },
  {
    type: "message",
    text: "Found it.",
    sources: ["https://x.test/a", "https://x.test/a", "https://x.test/b"],
  },
];

describe("the fold of a Responses stream", () => {
  it("keeps every part in order, with what is needed to send it back", () => {
    const result = resultOf(responsesEvents(turn));
    expect(partsOf(result)).toEqual([
      {
        type: "reasoning",
        text: "First I look.\n\nThen I add.",
        providerMetadata: { openai: { id: "rs_0", encryptedContent: "ENC", summaryLengths: [13, 11] } },
      },
      {
        type: "text",
        text: "Let me look at this.",
        providerMetadata: { openai: { id: "msg_1", phase: "commentary" } },
      },
      {
        type: "tool-call",
        name: "add",
        toolCallId: "call_2",
        arguments: { a: 1, b: 2 },
        argumentsText: '{"a":1,"b":2}',
      },
      {
        type: "tool-call",
        name: "search",
        toolCallId: "call_3",
        arguments: { q: "x" },
        argumentsText: '{"q":"x"}',
      },
    ]);
    expect(result).toMatchObject({
      id: "resp_1",
      createdAt: new Date(1_763_200_000_000),
      finishReason: "tool-calls",
      usage: {
        inputTokens: 120,
        outputTokens: 30,
        totalTokens: 150,
        cacheReadTokens: 100,
        cacheWriteTokens: 5,
        reasoningTokens: 12,
      },
      message: { role: "assistant", origin: reader },
    });
    expect(result.toolCalls?.map(({ id }) => id)).toEqual(["call_2", "call_3"]);
  });

  it("emits text, reasoning and arguments as they arrive", () => {
    const events = fold(responsesEvents(turn));
    expect(textsIn(events)).toBe("Let me look at this.");
    const reasoning = events.map((event) => (event.type === "reasoning-delta" ? event.textDelta : ""));
    expect(reasoning.join("")).toBe("First I look.\n\nThen I add.");
    const shown = events.filter((event) => event.type === "tool-input-delta");
    expect(shown.length).toBeGreaterThan(2);
    expect(shown[0]).toMatchObject({ toolCallId: "call_2", name: "add" });
  });

  it("reads encrypted content from the finished item, not from its announcement", () => {
    expect(JSON.stringify(resultOf(responsesEvents(turn)))).not.toContain("UNFINISHED");
    const unencrypted = resultOf(responsesEvents([{ type: "reasoning", summary: ["s"] }]));
    expect(partsOf(unencrypted)).toEqual([
      { type: "reasoning", text: "s", providerMetadata: { openai: { id: "rs_0" } } },
    ]);
  });

  it("reads the reasoning of models that send it in full", () => {
    const at = { output_index: 0, item_id: "rs_0", content_index: 0 };
    const events: ResponsesEvent[] = [
      { type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id: "rs_0" } },
      { type: "response.reasoning_text.delta", ...at, delta: "I th" },
      { type: "response.reasoning_text.delta", ...at, delta: "ink" },
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { type: "reasoning", id: "rs_0", summary: [], content: [{ text: "I think" }] },
      },
      { type: "response.completed", response: { id: "r", status: "completed" } },
    ];
    expect(partsOf(resultOf(events))).toMatchObject([{ type: "reasoning", text: "I think" }]);
  });

  it("keeps unknown items, and sources once", () => {
    const parts = partsOf(resultOf(responsesEvents(searched)));
    expect(parts.map(({ type }) => type)).toEqual(["metadata", "text", "source", "source"]);
    const item = parts[0]?.providerMetadata?.openai?.item as string;
    expect(JSON.parse(item)).toEqual(searched[0]?.type === "opaque" ? searched[0].item : undefined);
    expect(parts[3]).toEqual({ type: "source", url: "https://x.test/b", title: "Title of https://x.test/b" });
  });

  it("converts a generated image to a file, and keeps its bytes once", () => {
    const item = {
      type: "image_generation_call",
      id: "ig_0",
      status: "completed",
      result: "aGk=",
      output_format: "webp",
    };
    const result = resultOf(responsesEvents([{ type: "opaque", item }]));
    expect(partsOf(result)).toMatchObject([{ type: "file", mediaType: "image/webp", data: "aGk=" }]);
    expect(JSON.stringify(partsOf(result)).split("aGk=")).toHaveLength(2);
    const { body } = toRequest(
      { model: reader.model, input: toInputMessages([{ ...result.message, origin: reader }]) },
      { reader },
    );
    expect(body.input).toEqual([item]);
  });

  it("routes interleaved items by their place", () => {
    const events = responsesEvents(turn.slice(1));
    const isOf = (index: number) => (event: ResponsesStreamEvent) => event.output_index === index;
    const [first, second, third] = [0, 1, 2].map((index) => events.filter(isOf(index)));
    const woven: ResponsesStreamEvent[] = [];
    for (let n = 0; n < 12; n += 1) {
      for (const one of [first, second, third]) {
        const event = one?.[n];
        if (event !== undefined) woven.push(event);
      }
    }
    const numbered = [...woven, events.at(-1) as ResponsesStreamEvent].map((event, n) => ({
      ...event,
      sequence_number: n,
    }));
    expect(partsOf(resultOf(numbered))).toEqual(partsOf(resultOf(events)));
  });

  it("emits a refusal as text with its finish reason", () => {
    const result = resultOf(responsesEvents([{ type: "refusal", text: "I can't help with that." }]));
    expect(result.finishReason).toBe("content-filter");
    expect(partsOf(result)).toMatchObject([{ type: "text", text: "I can't help with that." }]);
    expect(partsOf(result)[0]?.providerMetadata?.openai?.refusal).toBe(true);
    expect(textsIn(fold(responsesEvents([{ type: "refusal", text: "No." }])))).toBe("No.");
  });

  it.each([
    ["max_output_tokens", "length"],
    ["content_filter", "content-filter"],
    ["steered", "other"],
  ])("ends an answer that is incomplete because of %s as %s", (reason, finishReason) => {
    const events = responsesEvents([{ type: "message", text: "so far" }], { status: "incomplete", reason });
    expect(resultOf(events).finishReason).toBe(finishReason);
  });

  it.each([
    ["max_output_tokens", "length"],
    ["content_filter", "content-filter"],
    [undefined, "length"],
  ])("ends an answer that is completed, and incomplete because of %s, as %s", (reason, finishReason) => {
    const events = responsesEvents([{ type: "message", text: "so far" }]).map((event) =>
      event.type === "response.completed"
        ? {
            ...event,
            response: {
              ...(event.response as object),
              status: "incomplete",
              incomplete_details: reason === undefined ? null : { reason },
            },
          }
        : event,
    );
    expect(resultOf(events).finishReason).toBe(finishReason);
  });

  it("never returns a call that was cut", () => {
    const events = responsesEvents([{ type: "function_call", name: "add", arguments: '{"a":1,"b":2}' }], {
      status: "incomplete",
      reason: "max_output_tokens",
    });
    const cut = events
      .filter(({ type }) => !/arguments\.done|item\.done/.test(type))
      .map((event) => {
        if (event.type !== "response.incomplete") return event;
        const item = {
          type: "function_call",
          call_id: "call_0",
          name: "add",
          arguments: '{"a":1',
          status: "incomplete",
        };
        return { ...event, response: { ...(event.response as object), output: [item] } };
      });
    const result = resultOf(cut);
    expect(result.toolCalls).toBeUndefined();
    expect(partsOf(result)).toEqual([]);
  });

  it("keeps malformed arguments as the text they are", () => {
    const result = resultOf(
      responsesEvents([{ type: "function_call", name: "add", arguments: '{"a": nope' }]),
    );
    expect(result.toolCalls).toEqual([
      { id: "call_0", name: "add", arguments: '{"a": nope', argumentsText: '{"a": nope' },
    ]);
  });

  it.each([
    ["rate_limit_exceeded", "rate_limited"],
    ["server_error", "provider_overloaded"],
    ["invalid_prompt", "content_filtered"],
    ["something_new", "provider_rejected"],
  ])("turns a response that failed with %s into %s", (code, expected) => {
    const events = responsesEvents([], { status: "failed", error: { code, message: "m" } });
    expect(failureOf(events)).toMatchObject({ code: expected, message: "openai: m" });
  });

  it("reads the error event in both shapes", () => {
    const flat = { type: "error", code: "context_length_exceeded", message: "too long", param: null };
    const nested = {
      type: "error",
      error: { code: "insufficient_quota", type: "insufficient_quota", message: "pay" },
    };
    expect(failureOf([flat as ResponsesEvent])).toMatchObject({ code: "context_overflow", retryable: false });
    expect(failureOf([nested as ResponsesEvent])).toMatchObject({ code: "quota_exceeded" });
  });

  it("emits nothing more if the last event is missing", () => {
    expect(
      fold(responsesEvents(turn).slice(0, -1)).some(({ type }) => type === "done" || type === "error"),
    ).toBe(false);
  });

  it("marks the answer with its id for a chain", () => {
    const last = fold(responsesEvents(turn), true).at(-1);
    const parts = last?.type === "done" ? (last.result.message.content as MessageContentPart[]) : [];
    expect(parts.map((part) => part.providerMetadata?.openai?.responseId)).toEqual([
      undefined,
      undefined,
      undefined,
      "resp_1",
    ]);
  });

  it("reads an answer that arrives as its last event alone", () => {
    const events = responsesEvents(turn);
    expect(partsOf(resultOf(events.slice(-1)))).toEqual(partsOf(resultOf(events)));
    const said = fold(events.slice(-1));
    expect(textsIn(said)).toBe("Let me look at this.");
  });

  it("does without numbers, places and ids", () => {
    const bare = responsesEvents([{ type: "message", text: "plain" }]).map(
      ({ sequence_number: _n, output_index: _o, content_index: _c, item_id: _i, ...event }) => event,
    ) as ResponsesEvent[];
    expect(partsOf(resultOf(bare))).toMatchObject([{ type: "text", text: "plain" }]);
    const same = responsesEvents(turn).map((event) => ({ ...event, sequence_number: 0 }));
    expect(partsOf(resultOf(same))).toEqual(partsOf(resultOf(responsesEvents(turn))));
  });

  it("is not changed by repeated events", () => {
    const events = responsesEvents(turn);
    const twice = events.flatMap((event) => [event, event]);
    expect(fold(twice)).toEqual(fold(events));
    const late = [...events.slice(0, -1), ...events.slice(3, 20), ...events.slice(-1)];
    expect(fold(late)).toEqual(fold(events));
  });

  it("keeps the same answer when events arrive in another order, as long as the last is last", () => {
    const events = responsesEvents([...turn, ...searched.slice(1)]);
    fc.assert(
      fc.property(fc.shuffledSubarray(events.slice(0, -1), { minLength: 0 }), (some) => {
        const numbered = [...some, events.at(-1) as ResponsesStreamEvent].map((event, n) => ({
          ...event,
          sequence_number: n,
        }));
        const result = resultOf(numbered);
        expect(result.toolCalls).toEqual(resultOf(events).toolCalls);
        expect(partsOf(result).map(({ type }) => type)).toEqual(
          partsOf(resultOf(events)).map(({ type }) => type),
        );
        const texts = (from: ProviderCallResult) =>
          partsOf(from).map((part) => (part.type === "text" ? part.text : ""));
        expect(texts(result)).toEqual(texts(resultOf(events)));
      }),
      { numRuns: 300 },
    );
  });
});

describe("an answer that was cut", () => {
  const answers = [turn, searched, [{ type: "refusal", text: "No, thank you." }] as AnswerItem[]];

  /** Returns the message that the turn loop keeps of these events. */
  function partial(events: readonly ResponsesEvent[]): ProviderMessage {
    const assembly = new Assembly();
    for (const event of fold(events)) if (event.type !== "error") assembly.apply(event);
    return { role: "assistant", origin: reader, content: assembly.partial() };
  }

  it("lowers to a valid request, whichever event was the last", () => {
    for (const items of answers) {
      const events = responsesEvents(items);
      for (let cut = 0; cut <= events.length; cut += 1) {
        const messages: ProviderMessage[] = [
          { role: "user", content: [{ type: "text", text: "go" }] },
          partial(events.slice(0, cut)),
          { role: "user", content: [{ type: "text", text: "again" }] },
        ];
        const { body } = toRequest({ model: reader.model, input: toInputMessages(messages) }, { reader });
        expect(validateResponsesRequest(body), `cut at ${cut}`).toEqual([]);
      }
    }
  });

  it("keeps what was emitted", () => {
    const events = responsesEvents(turn);
    for (let cut = 0; cut < events.length; cut += 1) {
      const some = events.slice(0, cut);
      const kept = partial(some).content.map((part) => (part.type === "text" ? part.text : ""));
      expect(kept.join("")).toBe(textsIn(fold(some)));
    }
  });

  it("sends a complete answer back as the API made it", () => {
    const { message } = resultOf(responsesEvents(turn));
    const { body } = toRequest({ model: reader.model, input: toInputMessages([message]) }, { reader });
    expect((body.input as { id?: string; type?: string }[]).map((item) => item.id ?? item.type)).toEqual([
      "rs_0",
      "msg_1",
      "function_call",
      "function_call",
      "function_call_output",
      "function_call_output",
    ]);
    expect((body.input as object[])[0]).toEqual({
      type: "reasoning",
      id: "rs_0",
      encrypted_content: "ENC",
      summary: [
        { type: "summary_text", text: "First I look." },
        { type: "summary_text", text: "Then I add." },
      ],
    });
  });
});
