import type { MessageContentPart } from "@parley/core/messages";
import type { ProviderCallResult, ProviderMessage, ProviderStreamEvent } from "@parley/core/ports";
import {
  answer,
  citing,
  redacted,
  serverToolUse,
  text,
  thinking,
  toolUse,
  validateRequest,
  whole,
} from "@parley/testing/anthropic";
import { describe, expect, it } from "vitest";
import { createToolNames } from "../../call/tool-names.js";
import type { MessagesEvent } from "../api-types.js";
import { ownOrigin } from "../request/histories.test-support.js";
import { toRequest } from "../request/to-request.js";
import { createMessageFold, type FoldMessage } from "./from-stream.js";

const call: FoldMessage = {
  provider: "anthropic",
  origin: ownOrigin,
  names: createToolNames(["files.read"]),
  startedAt: new Date(0),
};

function fold(events: readonly MessagesEvent[], how: Partial<FoldMessage> = {}) {
  const folded = createMessageFold({ ...call, ...how });
  const said = events.flatMap((event) => [...folded.push(event)]);
  said.push(...folded.end({ marked: false }));
  return { said, paused: folded.paused };
}

function resultOf(said: readonly ProviderStreamEvent[]): ProviderCallResult {
  const last = said.at(-1);
  if (last?.type !== "done") throw new Error(`ended with ${last?.type}`);
  return last.result;
}

const contentOf = (events: readonly MessagesEvent[]) => resultOf(fold(events).said).message.content;

/** Returns the parts that a turn stopped here would keep. */
function partial(said: readonly ProviderStreamEvent[]): MessageContentPart[] {
  const parts = new Map<number, MessageContentPart>();
  for (const event of said) {
    const index = "index" in event ? (event.index ?? 0) : 0;
    const before = parts.get(index);
    const grown = before !== undefined && "text" in before ? before.text : "";
    if (event.type === "delta") parts.set(index, { type: "text", text: grown + (event.textDelta ?? "") });
    if (event.type === "reasoning-delta")
      parts.set(index, { type: "reasoning", text: grown + event.textDelta });
    if (event.type === "part") parts.set(index, event.part);
    if (event.type === "tool-call") {
      const { id, ...rest } = event.toolCall;
      parts.set(index, { type: "tool-call", toolCallId: id, ...rest });
    }
  }
  return [...parts.values()];
}

const searchResult = { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ url: "u" }] };

/** Answers as the API streams them. */
const recorded: Readonly<Record<string, MessagesEvent[]>> = {
  text: answer([text("Hel", "lo", " wörld 🙂")]),
  "thinking, text and two calls": answer([
    thinking("SIG", "let me ", "see"),
    text("I look."),
    toolUse("toolu_1", "add", '{"a"', ":1}"),
    toolUse("toolu_2", "add"),
  ]),
  "hidden thinking": answer([redacted("RED"), thinking("SIG2"), text("ok")]),
  "a search of the API's own": answer([
    text("I search."),
    serverToolUse("srvtoolu_1", "web_search", '{"query":"x"}'),
    whole(searchResult),
    citing("found", { type: "web_search_result_location", url: "https://a.example", title: "A" }),
  ]),
  "thinking between calls": answer([
    thinking("S1", "first"),
    toolUse("toolu_1", "add", "{}"),
    thinking("S2", "then"),
    toolUse("toolu_2", "add", '{"b":2}'),
  ]),
  "arguments that are not JSON": answer([toolUse("toolu_1", "add", '{"a": ')]),
  "arguments cut by the limit": answer([text("so"), toolUse("toolu_1", "add", '{"a": ')], {
    stopReason: "max_tokens",
  }),
};

describe("a streamed answer", () => {
  it("is text that grows by its deltas", () => {
    const { said } = fold(answer([text("Hel", "lo"), text(" you")]));
    const deltas = said.filter((event) => event.type === "delta");
    expect(deltas.map(({ textDelta, index }) => [textDelta, index])).toEqual([
      ["Hel", 0],
      ["lo", 0],
      [" you", 1],
    ]);
    expect(deltas.at(-1)?.delta.content).toEqual([{ type: "text", text: "Hello you" }]);
    expect(resultOf(said)).toMatchObject({ id: "msg_1", finishReason: "stop" });
  });

  it("keeps thinking with its signature, hidden thinking, and calls with their text, in order", () => {
    const { said } = fold(recorded["thinking, text and two calls"] ?? []);
    expect(resultOf(said).message).toEqual({
      role: "assistant",
      origin: ownOrigin,
      content: [
        { type: "reasoning", text: "let me see", providerMetadata: { anthropic: { signature: "SIG" } } },
        { type: "text", text: "I look." },
        {
          type: "tool-call",
          toolCallId: "toolu_1",
          name: "add",
          arguments: { a: 1 },
          argumentsText: '{"a":1}',
        },
        { type: "tool-call", toolCallId: "toolu_2", name: "add", arguments: {}, argumentsText: "{}" },
      ],
    });
    expect(resultOf(said).finishReason).toBe("tool-calls");
    expect(resultOf(said).toolCalls?.map(({ id }) => id)).toEqual(["toolu_1", "toolu_2"]);
    expect(contentOf(recorded["hidden thinking"] ?? [])).toEqual([
      { type: "reasoning", text: "", providerMetadata: { anthropic: { redactedData: "RED" } } },
      { type: "reasoning", text: "", providerMetadata: { anthropic: { signature: "SIG2" } } },
      { type: "text", text: "ok" },
    ]);
  });

  it("shows the progress of arguments and gives names back as the tools have them", () => {
    const sent = call.names.toSent("files.read");
    const { said } = fold(answer([toolUse("t", sent, '{"p"', ":1}")]));
    expect(said.filter((event) => event.type === "tool-input-delta")).toEqual([
      { type: "tool-input-delta", toolCallId: "t", name: "files.read", inputTextDelta: '{"p"' },
      { type: "tool-input-delta", toolCallId: "t", name: "files.read", inputTextDelta: ":1}" },
    ]);
    expect(resultOf(said).toolCalls?.[0]?.name).toBe("files.read");
  });

  it("takes arguments that came in one piece with the call", () => {
    const events = answer([whole({ type: "tool_use", id: "t", name: "add", input: { a: 1 } })]);
    expect(resultOf(fold(events).said).toolCalls?.[0]).toMatchObject({
      arguments: { a: 1 },
      argumentsText: '{"a":1}',
    });
  });

  it("keeps pieces of unknown kinds as they came, with the deltas that they got", () => {
    const events = answer([
      { start: { type: "summary", content: "a" }, deltas: [{ type: "summary_delta", content: "b" }] },
      serverToolUse("srvtoolu_1", "web_search", '{"query":"x"}'),
    ]);
    expect(contentOf(events)).toEqual([
      {
        type: "metadata",
        data: { type: "summary" },
        providerMetadata: { anthropic: { block: '{"type":"summary","content":"ab"}' } },
      },
      {
        type: "metadata",
        data: { type: "server_tool_use" },
        providerMetadata: {
          anthropic: {
            block: '{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}',
          },
        },
      },
    ]);
  });

  it("gives sources once each, behind the text that cites them", () => {
    const events = answer([
      citing(
        "a",
        { type: "web_search_result_location", url: "https://a.example", title: "A" },
        { type: "web_search_result_location", url: "https://a.example", title: "A" },
        { type: "char_location", document_title: "Report" },
      ),
    ]);
    expect(contentOf(events)).toEqual([
      { type: "text", text: "a" },
      { type: "source", url: "https://a.example", title: "A" },
      { type: "source", title: "Report" },
    ]);
  });

  it("ignores pings, unknown events and unknown deltas", () => {
    const events = answer([text("a")]);
    const noisy = events.flatMap((event) => [
      { type: "ping" },
      event,
      { type: "vendor_news" },
      { type: "content_block_delta", index: 0, delta: { type: "sparkle_delta" } },
    ]);
    expect(contentOf(noisy as MessagesEvent[])).toEqual(contentOf(events));
  });
});

describe("usage", () => {
  it("counts what the cache held as input, and takes the last counts", () => {
    const { said } = fold(
      answer([text("a")], {
        usage: {
          input_tokens: 3,
          cache_read_input_tokens: 100,
          cache_creation_input_tokens: 20,
          output_tokens: 1,
        },
        endUsage: { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
      }),
    );
    const expected = {
      inputTokens: 123,
      outputTokens: 9,
      totalTokens: 132,
      cacheReadTokens: 100,
      cacheWriteTokens: 20,
      reasoningTokens: 4,
    };
    expect(resultOf(said).usage).toEqual(expected);
    expect(said.filter((event) => event.type === "usage").at(-1)?.usage).toEqual(expected);
  });

  it("is known from the first event on, so that a cut answer has one", () => {
    const [first] = answer([text("a")]);
    const { said } = fold(first === undefined ? [] : [first]);
    expect(said).toEqual([{ type: "usage", usage: { inputTokens: 10, outputTokens: 1, totalTokens: 11 } }]);
  });

  it("is absent where none is reported", () => {
    const events = answer([text("a")]).map(({ usage: _, message: __, ...event }) => event);
    expect(resultOf(fold(events).said).usage).toBeUndefined();
  });
});

describe("how an answer ends", () => {
  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "length"],
    ["refusal", "content-filter"],
    ["pause_turn", "other"],
    ["something_new", "other"],
  ])("%s is %s", (stopReason, finishReason) => {
    expect(resultOf(fold(answer([text("a")], { stopReason })).said).finishReason).toBe(finishReason);
  });

  it("is an overflow where no answer fitted the window", () => {
    const { said } = fold(answer([], { stopReason: "model_context_window_exceeded" }));
    expect(said.at(-1)).toMatchObject({ type: "error", error: { code: "context_overflow" } });
  });

  it("is not known without the last event", () => {
    const { said } = fold(answer([text("a")]).slice(0, -1));
    expect(said.some(({ type }) => type === "done" || type === "error")).toBe(false);
  });

  it("is nothing for an answer without content", () => {
    expect(resultOf(fold(answer([])).said)).toMatchObject({ finishReason: "stop", message: { content: [] } });
  });

  it("runs no call that the limit has cut, and keeps one that the model garbled", () => {
    expect(contentOf(recorded["arguments cut by the limit"] ?? [])).toEqual([{ type: "text", text: "so" }]);
    const { toolCalls } = resultOf(fold(recorded["arguments that are not JSON"] ?? []).said);
    expect(toolCalls).toEqual([{ id: "toolu_1", name: "add", arguments: '{"a": ', argumentsText: '{"a": ' }]);
  });

  it.each([
    ["overloaded_error", "provider_overloaded", true],
    ["api_error", "provider_overloaded", true],
    ["rate_limit_error", "rate_limited", true],
    ["timeout_error", "timeout", true],
    ["authentication_error", "provider_auth", false],
    ["billing_error", "quota_exceeded", false],
    ["invalid_request_error", "provider_rejected", false],
  ])("is a failure for an event of %s", (type, code, retryable) => {
    const events = [...answer([text("a")]).slice(0, 4), { type: "error", error: { type, message: "no" } }];
    expect(fold(events).said.at(-1)).toMatchObject({ type: "error", error: { code, retryable } });
  });

  it("is an overflow for a prompt that is too long", () => {
    const message = "prompt is too long: 210000 tokens > 200000 maximum";
    const { said } = fold([{ type: "error", error: { type: "invalid_request_error", message } }]);
    expect(said.at(-1)).toMatchObject({ type: "error", error: { code: "context_overflow" } });
  });

  it("can be a pause, with everything so far in the API's own form", () => {
    const cited = { type: "web_search_result_location", url: "https://a.example" };
    const first = fold(
      answer(
        [thinking("SIG", "hm"), serverToolUse("srvtoolu_1", "web_search", '{"q":1}'), citing("a", cited)],
        {
          stopReason: "pause_turn",
        },
      ),
    );
    expect(first.paused?.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "SIG" },
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { q: 1 } },
      { type: "text", text: "a", citations: [cited] },
    ]);
    const second = fold(answer([text("b")], { id: "msg_2" }), { before: first.paused });
    const { message, usage } = resultOf(second.said);
    expect(message.content.map(({ type }) => type)).toEqual([
      "reasoning",
      "metadata",
      "text",
      "source",
      "text",
    ]);
    expect(usage).toEqual({ inputTokens: 20, outputTokens: 40, totalTokens: 60 });
    const delta = second.said.find((event) => event.type === "delta");
    expect(delta).toMatchObject({ textDelta: "b", index: 4 });
    expect(delta?.delta.content).toEqual([{ type: "text", text: "ab" }]);
  });
});

describe("events that come twice or out of order", () => {
  const events = answer([thinking("SIG", "hm"), text("a", "b"), toolUse("t", "add", "{}")]);
  const expected = contentOf(events);

  it("change nothing where they can be recognized: beginnings, ends, and what follows an end", () => {
    const doubled = events.flatMap((event) =>
      event.type === "content_block_delta"
        ? [event]
        : event.type === "message_stop"
          ? [event]
          : [event, event],
    );
    const late = doubled.toSpliced(-2, 0, {
      type: "content_block_delta",
      index: 1,
      delta: { type: "text_delta", text: "late" },
    });
    expect(contentOf(late)).toEqual(expected);
  });

  it("do not lose text whose beginning never came", () => {
    const without = events.filter(({ type }) => type !== "content_block_start");
    expect(contentOf(without)).toEqual(expected.slice(0, 2));
  });

  it("do not lose pieces whose end never came", () => {
    expect(contentOf(events.filter(({ type }) => type !== "content_block_stop"))).toEqual(expected);
  });

  it("keep interleaved pieces apart", () => {
    const delta = (index: number, said: string) => ({
      type: "content_block_delta",
      index,
      delta: { type: "text_delta", text: said },
    });
    const start = (index: number) => ({
      type: "content_block_start",
      index,
      content_block: { type: "text", text: "" },
    });
    const interleaved = [
      start(0),
      start(1),
      delta(0, "a"),
      delta(1, "x"),
      delta(0, "b"),
      { type: "message_stop" },
    ];
    expect(contentOf(interleaved)).toEqual([
      { type: "text", text: "ab" },
      { type: "text", text: "x" },
    ]);
  });
});

describe("an answer cut at any event", () => {
  const user: ProviderMessage = { role: "user", content: [{ type: "text", text: "go on" }] };
  const models = ["claude-opus-5", "claude-sonnet-4-5"];

  it.each(Object.keys(recorded))("can be sent back: %s", (kind) => {
    const events = recorded[kind] ?? [];
    for (let cut = 0; cut <= events.length; cut += 1) {
      const { said } = fold(events.slice(0, cut));
      for (const model of models) {
        const origin = { provider: "anthropic", model };
        const kept: ProviderMessage = { role: "assistant", content: partial(said), origin };
        for (const messages of [
          [user, kept, user],
          [user, kept],
        ]) {
          const { body } = toRequest(
            { messages, metadata: origin, reasoningEffort: "high" },
            { reader: origin, cache: { type: "ephemeral" } },
          );
          expect(validateRequest(body), `cut at ${cut}`).toEqual([]);
        }
      }
    }
  });

  it("gives back unchanged what was whole", () => {
    const { said } = fold(recorded["a search of the API's own"] ?? []);
    const kept: ProviderMessage = { role: "assistant", content: partial(said), origin: ownOrigin };
    const { body } = toRequest({ messages: [user, kept, user], metadata: ownOrigin }, { reader: ownOrigin });
    expect(body.messages[1]?.content).toEqual([
      { type: "text", text: "I search." },
      { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } },
      searchResult,
      { type: "text", text: "found" },
    ]);
  });
});
