import type { MessageContentPart } from "@parley/core/messages";
import type { ProviderCallParams, ProviderMessage } from "@parley/core/ports";
import { validateRequest } from "@parley/testing/anthropic";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MessageParam, ToolUseBlock } from "../api-types.js";
import { anyHistory, ownOrigin } from "./histories.test-support.js";
import { rawArgumentsField } from "./lower-messages.js";
import { takesFormat } from "./output-format.js";
import { type LowerRequest, toRequest } from "./to-request.js";

const metadata = ownOrigin;

function lower(
  messages: ProviderMessage[],
  params: Partial<ProviderCallParams> = {},
  how: Partial<LowerRequest> = {},
) {
  const lowered = toRequest({ messages, metadata, ...params }, { reader: ownOrigin, ...how });
  expect(validateRequest(lowered.body)).toEqual([]);
  return lowered;
}

function user(text: string): ProviderMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

function system(text: string): ProviderMessage {
  return { role: "system", content: [{ type: "text", text }] };
}

function assistant(content: MessageContentPart[], origin = ownOrigin): ProviderMessage {
  return { role: "assistant", content, origin };
}

function call(toolCallId: string, argumentsText = '{"a":1}', name = "add"): MessageContentPart {
  return { type: "tool-call", toolCallId, name, arguments: {}, argumentsText };
}

function result(toolCallId: string, resultText: string, isError = false): ProviderMessage {
  return {
    role: "tool",
    content: [{ type: "tool-result", toolCallId, name: "add", result: resultText, resultText, isError }],
  };
}

const add = { name: "add", description: "adds", schema: { type: "object", properties: { a: {} } } };

describe("the golden request", () => {
  const history = [
    system("SYS"),
    user("hi"),
    assistant([
      { type: "reasoning", text: "hm", providerMetadata: { anthropic: { signature: "SIG" } } },
      { type: "reasoning", text: "", providerMetadata: { anthropic: { redactedData: "RED" } } },
      { type: "text", text: "let me look" },
      call("call_1"),
      call("call_2", '{"a":2}'),
    ]),
    result("call_1", '{"s":1}'),
    result("call_2", "boom", true),
    user("STEER: stop at 3"),
  ];

  it("has thinking in order, all results first in the next user message, steering after them", () => {
    const { body } = lower(history, { tools: [add], maxTokens: 1000 });
    expect(body).toEqual({
      model: "claude-opus-5",
      max_tokens: 1000,
      stream: true,
      system: [{ type: "text", text: "SYS" }],
      messages: [
        { role: "user", content: [{ type: "text", text: "hi" }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "SIG" },
            { type: "redacted_thinking", data: "RED" },
            { type: "text", text: "let me look" },
            { type: "tool_use", id: "call_1", name: "add", input: { a: 1 } },
            { type: "tool_use", id: "call_2", name: "add", input: { a: 2 } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "call_1", content: '{"s":1}' },
            { type: "tool_result", tool_use_id: "call_2", content: "boom", is_error: true },
            { type: "text", text: "STEER: stop at 3" },
          ],
        },
      ],
      tools: [{ name: "add", description: "adds", input_schema: { type: "object", properties: { a: {} } } }],
    });
  });

  it("writes the message with the results byte for byte as it was captured", () => {
    const { body } = lower(history, { tools: [add] });
    expect(JSON.stringify(body.messages.at(-1))).toBe(
      '{"role":"user","content":[' +
        '{"type":"tool_result","tool_use_id":"call_1","content":"{\\"s\\":1}"},' +
        '{"type":"tool_result","tool_use_id":"call_2","content":"boom","is_error":true},' +
        '{"type":"text","text":"STEER: stop at 3"}]}',
    );
  });

  it("sends no sampling fields unless the caller set them", () => {
    expect(Object.keys(lower(history, { tools: [add] }).body)).not.toEqual(
      expect.arrayContaining(["temperature"]),
    );
    const { body } = lower(history, { tools: [add], extraParams: { temperature: 0.5, top_k: 3 } });
    expect(body).toMatchObject({ temperature: 0.5, top_k: 3 });
  });
});

describe("cache breakpoints", () => {
  const cache = { type: "ephemeral" } as const;
  const places = (value: unknown, at = ""): string[] => {
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([key, inner]) =>
      key === "cache_control" ? [at] : places(inner, at === "" ? key : `${at}.${key}`),
    );
  };

  it("are after tools, instructions, the last user message and the one before it", () => {
    const history = [system("SYS"), user("1"), assistant([{ type: "text", text: "2" }]), user("3")];
    const { body } = lower(history, { tools: [add] }, { cache });
    expect(places(body).sort()).toEqual([
      "messages.0.content.0",
      "messages.2.content.0",
      "system.0",
      "tools.0",
    ]);
  });

  it("never are more than four, whatever the caller has marked", () => {
    const marked = { name: "bash", type: "bash_20250124", cache_control: cache };
    const history = [system("SYS"), user("1"), assistant([{ type: "text", text: "2" }]), user("3")];
    const { body } = lower(history, { tools: [add], extraParams: { tools: [marked] } }, { cache });
    expect(places(body)).toHaveLength(4);
    expect(places(body)).toContain("messages.2.content.0");
  });

  it("are left to a caller that sets its own", () => {
    const { body } = lower([user("1")], { extraParams: { cache_control: cache } }, { cache });
    expect(places(body.messages)).toEqual([]);
  });

  it("do not change the content of the request", () => {
    fc.assert(
      fc.property(anyHistory, (messages) => {
        const plain = lower(messages, { tools: [add] }).body;
        const cached = lower(messages, { tools: [add] }, { cache }).body;
        const stripped = JSON.parse(JSON.stringify(cached), (key, value: unknown) =>
          key === "cache_control" ? undefined : value,
        ) as unknown;
        expect(stripped).toEqual(JSON.parse(JSON.stringify(plain)));
      }),
      { numRuns: 50 },
    );
  });
});

describe("messages", () => {
  const textsOf = (message: MessageParam | undefined) =>
    message?.content.map((block) => ("text" in block ? block.text : block.type));

  it("join leading instructions and mark later ones in place", () => {
    const { body } = lower([system("A"), system("B"), user("hi"), system("summary"), user("go")]);
    expect(body.system).toEqual([
      { type: "text", text: "A" },
      { type: "text", text: "B" },
    ]);
    expect(body.messages.map(textsOf)).toEqual([["hi", "<system>\nsummary\n</system>", "go"]]);
  });

  it("start and end with the user", () => {
    const { body } = lower([assistant([{ type: "text", text: "hello  " }])]);
    expect(body.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(lower([]).body.messages.map(({ role }) => role)).toEqual(["user"]);
    expect(lower([system("only")]).body.messages).toHaveLength(1);
  });

  it("drop blank texts and merge messages that become adjacent", () => {
    const { body } = lower([user("a"), assistant([{ type: "text", text: " \n" }]), user("b")]);
    expect(body.messages.map(textsOf)).toEqual([["a", "b"]]);
  });

  it("give every call a result right after it and drop results that answer nothing", () => {
    const { body } = lower([
      user("a"),
      assistant([call("c1"), call("c2")]),
      result("c2", "two"),
      user("b"),
      result("x", "?"),
    ]);
    expect(body.messages.at(-1)?.content.map(({ type }) => type)).toEqual([
      "tool_result",
      "tool_result",
      "text",
    ]);
  });

  it("put text that a tool added after all results", () => {
    const { body } = lower([
      user("a"),
      assistant([call("c1"), call("c2")]),
      { role: "tool", content: [{ type: "text", text: "note" }, ...result("c1", "1").content] },
      result("c2", "2"),
    ]);
    expect(body.messages.at(-1)?.content.map(({ type }) => type)).toEqual([
      "tool_result",
      "tool_result",
      "text",
    ]);
  });

  it.each([" ", "\n\t", "\u001c", "\u0085", "\u00a0", "\u2028", ""])(
    "leave out %j, which the API calls blank",
    (blank) => {
      expect(lower([user(blank), user("x")]).body.messages.map(textsOf)).toEqual([["x"]]);
    },
  );

  it("replace ids that the API refuses, the same way in call and result, and make them unique", () => {
    const { body } = lower([
      user("a"),
      assistant([call("functions.add:0")]),
      result("functions.add:0", "1"),
      assistant([call("functions.add:0")]),
      result("functions.add:0", "2"),
    ]);
    const ids = body.messages.flatMap(({ content }) =>
      content.flatMap((block) =>
        "tool_use_id" in block ? [block.tool_use_id] : "id" in block ? [block.id] : [],
      ),
    );
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).toBe(ids[3]);
    expect(ids[0]).not.toBe(ids[2]);
  });

  it("describe an error without a text", () => {
    const { body } = lower([user("a"), assistant([call("c1")]), result("c1", " ", true)]);
    expect(body.messages.at(-1)?.content[0]).toMatchObject({ is_error: true, content: "The tool failed." });
  });
});

describe("reasoning and blocks that only the API understands", () => {
  const thought: MessageContentPart = {
    type: "reasoning",
    text: "hm",
    providerMetadata: { anthropic: { signature: "SIG" } },
  };
  const search: MessageContentPart[] = [
    '{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}',
    '{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}',
  ].map((block) => ({ type: "metadata", data: {}, providerMetadata: { anthropic: { block } } }));
  const said: MessageContentPart = { type: "text", text: "ok" };
  const kinds = (content: MessageContentPart[], origin = ownOrigin) =>
    lower([user("a"), assistant(content, origin), user("b")]).body.messages[1]?.content.map(
      ({ type }) => type,
    );

  it("are sent back unmodified and in order to the model that made them", () => {
    expect(kinds([thought, ...search, thought, said])).toEqual([
      "thinking",
      "server_tool_use",
      "web_search_tool_result",
      "thinking",
      "text",
    ]);
  });

  it("are sent to no other model and to no other provider", () => {
    expect(kinds([thought, ...search, said], { provider: "anthropic", model: "claude-opus-4-6" })).toEqual([
      "text",
    ]);
    expect(kinds([thought, ...search, said], { provider: "openai", model: "claude-opus-5" })).toEqual([
      "text",
    ]);
  });

  it("are omitted if they are not signed, were changed by transport, or end the answer", () => {
    expect(kinds([{ type: "reasoning", text: "cut" }, said])).toEqual(["text"]);
    expect(kinds([{ ...thought, text: "\ud800" }, said])).toEqual(["text"]);
    expect(kinds([said, thought])).toEqual(["text"]);
  });

  it("are omitted if only half of a use was kept", () => {
    const [use, answer] = search as [MessageContentPart, MessageContentPart];
    expect(kinds([use, said])).toEqual(["text"]);
    expect(kinds([answer, said])).toEqual(["text"]);
    expect(kinds([answer, use, said])).toEqual(["text"]);
    expect(kinds([answer, use, answer])).toEqual(["server_tool_use", "web_search_tool_result"]);
    expect(kinds([use, use, answer, answer, said])).toEqual([
      "server_tool_use",
      "web_search_tool_result",
      "text",
    ]);
  });

  it("occur once if two answers are merged", () => {
    const { body } = lower([
      user("a"),
      assistant([...search, said]),
      assistant([...search, said]),
      user("b"),
    ]);
    expect(body.messages[1]?.content.map(({ type }) => type)).toEqual([
      "server_tool_use",
      "web_search_tool_result",
      "text",
      "text",
    ]);
  });

  it("keep thinking whose text is redacted, with its signature", () => {
    const { body } = lower([user("a"), assistant([{ ...thought, text: "" }, said]), user("b")]);
    expect(body.messages[1]?.content[0]).toEqual({ type: "thinking", thinking: "", signature: "SIG" });
  });
});

describe("arguments of calls", () => {
  const inputOf = (argumentsText: string) => {
    const { body, unsendable } = lower([user("a"), assistant([call("c1", argumentsText)])]);
    const block = body.messages[1]?.content[0] as ToolUseBlock;
    return { input: block.input, unsendable };
  };

  it("are the object that the model wrote", () => {
    expect(inputOf('{"b":1,"a":[1,2]}')).toEqual({ input: { b: 1, a: [1, 2] }, unsendable: [] });
    expect(inputOf("")).toEqual({ input: {}, unsendable: [] });
  });

  it("that are not JSON are sent as text and reported, never dropped", () => {
    expect(inputOf('{"path": "/tm')).toEqual({
      input: { [rawArgumentsField]: '{"path": "/tm' },
      unsendable: [
        {
          kind: "malformed-arguments",
          toolCallId: "c1",
          toolName: "add",
          argumentsText: '{"path": "/tm',
        },
      ],
    });
  });

  it("that are JSON but not an object are sent as text and reported", () => {
    expect(inputOf("[1]")).toMatchObject({
      input: { [rawArgumentsField]: "[1]" },
      unsendable: [{ kind: "arguments-not-an-object" }],
    });
  });

  it("lose lone surrogates and nothing else", () => {
    expect(inputOf('{"a":"\\ud800b"}').input).toEqual({ a: "\ufffdb" });
  });
});

describe("files", () => {
  const lowered = (part: Omit<Extract<MessageContentPart, { type: "file" }>, "type">) =>
    lower([{ role: "user", content: [{ type: "file", ...part }] }]).body.messages[0]?.content[0];

  it("are images, documents or texts by their media type", () => {
    expect(lowered({ mediaType: "image/png", data: "AAAA" })).toEqual({
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "AAAA" },
    });
    expect(lowered({ mediaType: "image/webp", url: "https://example.com/a" })).toEqual({
      type: "image",
      source: { type: "url", url: "https://example.com/a" },
    });
    expect(lowered({ mediaType: "application/pdf", data: "AAAA", filename: "a.pdf" })).toEqual({
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
      title: "a.pdf",
    });
    expect(lowered({ mediaType: "text/markdown", data: btoa("# Hi") })).toEqual({
      type: "document",
      source: { type: "text", media_type: "text/plain", data: "# Hi" },
    });
  });

  it("that the API does not accept become a line that says so", () => {
    expect(lowered({ mediaType: "audio/wav", data: "AAAA", filename: "a.wav" })).toEqual({
      type: "text",
      text: "[File a.wav (audio/wav) cannot be shown]",
    });
  });

  it("of an answer become a line, because answers cannot contain files", () => {
    const { body } = lower([user("a"), assistant([{ type: "file", mediaType: "image/png", data: "AAAA" }])]);
    expect(body.messages[1]?.content).toEqual([{ type: "text", text: "[File (image/png) cannot be shown]" }]);
  });
});

describe("tools", () => {
  it("get valid names, as do calls in the history", () => {
    const { body, names } = lower([user("a"), assistant([call("c1", "{}", "files.read")])], {
      tools: [{ name: "files.read" }],
    });
    const [tool] = body.tools as { name: string }[];
    expect(tool?.name).toMatch(/^[a-zA-Z0-9_-]+$/);
    expect(body.messages[1]?.content[0]).toMatchObject({ name: tool?.name });
    expect(names.fromSent(tool?.name ?? "")).toBe("files.read");
  });

  it("have schemas that the API accepts", () => {
    const { body } = lower([user("a")], {
      tools: [
        { name: "a", schema: { anyOf: [{ type: "object" }], description: "d" } },
        { name: "b" },
        { name: "b" },
      ],
    });
    expect(body.tools).toEqual([
      { name: "a", input_schema: { type: "object", description: "d" } },
      { name: "b", input_schema: { type: "object" } },
    ]);
  });

  it("are still declared, and not to be used, if only the history contains them", () => {
    const { body } = lower([user("a"), assistant([call("c1")])]);
    expect(body.tools).toMatchObject([{ name: "add" }]);
    expect(body.tool_choice).toEqual({ type: "none" });
  });

  it("of the caller are added to those of the call", () => {
    const search = { type: "web_search_20250305", name: "web_search" };
    const { body } = lower([user("a")], { tools: [add], extraParams: { tools: [search] } });
    expect(body.tools).toMatchObject([{ name: "add" }, search]);
  });

  it.each([
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "any" }],
    [
      { type: "tool", name: "add" },
      { type: "tool", name: "add" },
    ],
    [
      { type: "function", function: { name: "add" } },
      { type: "tool", name: "add" },
    ],
    [{ type: "tool", toolName: "gone" }, undefined],
    ["whatever", undefined],
    [
      { type: "auto", disable_parallel_tool_use: true },
      { type: "auto", disable_parallel_tool_use: true },
    ],
  ])("are chosen by %j", (toolChoice, expected) => {
    expect(lower([user("a")], { tools: [add], toolChoice }).body.tool_choice).toEqual(expected);
  });

  it("cannot be forced if there are none, or on a model that refuses it", () => {
    expect(lower([user("a")], { toolChoice: "required" }).body.tool_choice).toBeUndefined();
    const reader = { provider: "anthropic", model: "claude-opus-5-5" };
    expect(
      lower([user("a")], { tools: [add], toolChoice: "required" }, { reader }).body.tool_choice,
    ).toBeUndefined();
  });
});

describe("effort", () => {
  const fields = (model: string, params: Partial<ProviderCallParams> = {}, messages = [user("a")]) => {
    const reader = { provider: "anthropic", model };
    const { body } = lower(messages, { reasoningEffort: "high", ...params }, { reader });
    return { thinking: body.thinking, output_config: body.output_config };
  };

  it.each([
    "claude-opus-5",
    "claude-sonnet-5-5",
    "claude-fable-5-1",
    "claude-opus-4-7",
    "claude-sonnet-4-6",
    "next",
  ])("is passed as a level to %s", (model) => {
    expect(fields(model)).toEqual({
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: "high" },
    });
  });

  it.each([
    ["low", 4_096],
    ["medium", 10_240],
    ["high", 16_384],
    ["xhigh", 32_768],
    ["max", 59_904],
  ] as const)("%s is a budget of %i for a model that only takes budgets", (reasoningEffort, budget) => {
    for (const model of ["claude-sonnet-4-5-20250929", "claude-3-7-sonnet-latest", "claude-haiku-4-5"]) {
      expect(fields(model, { reasoningEffort })).toEqual({
        thinking: { type: "enabled", budget_tokens: budget },
        output_config: undefined,
      });
    }
  });

  it("is a budget that leaves tokens for the answer, or none", () => {
    expect(fields("claude-opus-4-1", { maxTokens: 8_000 }).thinking).toEqual({
      type: "enabled",
      budget_tokens: 4_000,
    });
    expect(fields("claude-opus-4-1", { maxTokens: 2_000 }).thinking).toBeUndefined();
  });

  it("is ignored by models that do not think, and omitted if it is not set", () => {
    const none = { thinking: undefined, output_config: undefined };
    expect(fields("claude-3-5-haiku-latest")).toEqual(none);
    expect(fields("claude-3-opus-20240229")).toEqual(none);
    expect(fields("claude-opus-5", { reasoningEffort: undefined } as object)).toEqual(none);
  });

  it("is lowered if the model has no such level", () => {
    expect(fields("claude-opus-4-6", { reasoningEffort: "xhigh" }).output_config).toEqual({ effort: "high" });
    expect(fields("claude-opus-4-6", { reasoningEffort: "max" }).output_config).toEqual({ effort: "max" });
  });

  it("does not enable thinking inside a turn that another model started, nor with a forced tool", () => {
    const inside = [user("a"), assistant([call("c1")]), result("c1", "1")];
    expect(fields("claude-sonnet-4-5", { tools: [add] }, inside).thinking).toBeUndefined();
    expect(
      fields("claude-sonnet-4-5", { tools: [add] }, [
        ...inside,
        assistant([{ type: "text", text: "x" }]),
        user("b"),
      ]).thinking,
    ).toBeDefined();
    expect(fields("claude-opus-5", { tools: [add], toolChoice: "required" })).toEqual({
      thinking: undefined,
      output_config: { effort: "high" },
    });
  });

  it("is overridden by the caller's own fields", () => {
    const { body } = lower([user("a")], {
      reasoningEffort: "high",
      extraParams: { thinking: { type: "disabled" } },
    });
    expect(body.thinking).toEqual({ type: "disabled" });
  });
});

describe("max_tokens", () => {
  it("is the call's, else the adapter's, else the model's maximum", () => {
    expect(lower([], { maxTokens: 5 }, { maxTokens: 7 }).body.max_tokens).toBe(5);
    expect(lower([], {}, { maxTokens: 7 }).body.max_tokens).toBe(7);
    const reader = { provider: "anthropic", model: "claude-3-5-haiku-latest" };
    expect(lower([], {}, { reader }).body.max_tokens).toBe(8_192);
  });
});

describe("any history", () => {
  const settings = fc.record({
    model: fc.constantFrom("claude-opus-5", "claude-sonnet-4-5", "claude-3-5-haiku", "claude-opus-5-5"),
    reasoningEffort: fc.constantFrom("low", "max", undefined),
    tools: fc.constantFrom(undefined, [], [add, { name: "files.read" }, { name: "" }]),
    toolChoice: fc.constantFrom(undefined, "auto", "required", "none", { type: "tool", name: "add" }),
    maxTokens: fc.constantFrom(undefined, 1, 3_000),
    cache: fc.constantFrom(undefined, { type: "ephemeral" as const }),
  });

  it("lowers to a request that the API accepts", () => {
    fc.assert(
      fc.property(anyHistory, settings, (messages, { model, cache, ...rest }) => {
        const params = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
        lower(messages, params, { reader: { provider: "anthropic", model }, cache });
      }),
      { numRuns: 1_500 },
    );
  });

  it("lowers a longer history to the same prefix, so that a cache hits", () => {
    fc.assert(
      fc.property(anyHistory, anyHistory, (before, after) => {
        // An open call gets its result later, which is the only change to earlier messages.
        fc.pre(!after.some(({ content }) => content.some((part) => part.type === "tool-result")));
        const short = lower(before).body;
        const long = lower([...before, user("next"), ...after]).body;
        const settled = short.messages.slice(0, -1);
        expect(long.messages.slice(0, settled.length)).toEqual(settled);
      }),
      { numRuns: 300 },
    );
  });
});

describe("data to answer with", () => {
  const reader = { provider: "anthropic", model: "claude-sonnet-4-6" };
  const schema = {
    type: "object",
    description: "A city",
    properties: {
      name: { type: "string", minLength: 1 },
      people: { type: "integer", minimum: 0, description: "How many" },
      mayor: { oneOf: [{ type: "null" }, { type: "object", properties: { minimum: { type: "string" } } }] },
      kind: { enum: [{ minimum: 1 }] },
    },
    required: ["name"],
  };

  it("is sent with the effort, with closed objects, and unenforced keywords as descriptions", () => {
    const { body } = lower(
      [user("a")],
      { reasoningEffort: "high", output: { name: "city", schema } },
      { reader },
    );
    expect(body.output_config).toEqual({
      effort: "high",
      format: {
        type: "json_schema",
        schema: {
          type: "object",
          description: "A city",
          properties: {
            name: { type: "string", description: "(minLength: 1)" },
            people: { type: "integer", description: "How many (minimum: 0)" },
            mayor: {
              anyOf: [
                { type: "null" },
                { type: "object", properties: { minimum: { type: "string" } }, additionalProperties: false },
              ],
            },
            kind: { enum: [{ minimum: 1 }] },
          },
          required: ["name"],
          additionalProperties: false,
        },
      },
    });
  });

  it.each([
    ["claude-sonnet-4-5-20250929", true],
    ["claude-opus-4-6", true],
    ["claude-opus-5", true],
    ["claude-sonnet-4-20250514", false],
    ["claude-opus-4-1-20250805", false],
    ["claude-3-7-sonnet-latest", false],
  ])("is left to a tool by %s, which is older than 4.5", (model, takes) => {
    expect(takesFormat({ name: "city", schema }, model)).toBe(takes);
  });

  it.each([
    ["a map", { type: "object", additionalProperties: { type: "string" } }],
    ["names by a pattern", { ...schema, patternProperties: { "^x": {} } }],
    ["a tree", { type: "object", properties: { child: { $ref: "#" } } }],
    [
      "a tree by definition",
      {
        type: "object",
        properties: { root: { $ref: "#/$defs/node" } },
        $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" } } } },
      },
    ],
  ])("is left to a tool if the schema is %s", (_, given) => {
    expect(takesFormat({ name: "x", schema: given }, reader.model)).toBe(false);
  });

  it("may use one definition twice", () => {
    const twice = {
      type: "object",
      properties: { a: { $ref: "#/$defs/leaf" }, b: { $ref: "#/$defs/leaf" } },
      $defs: { leaf: { type: "string" } },
    };
    expect(takesFormat({ name: "x", schema: twice }, reader.model)).toBe(true);
  });
});
