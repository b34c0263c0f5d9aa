import type { ProviderCallParams, ProviderMessage } from "@parley/core/ports";
import { validateResponsesRequest } from "@parley/testing/openai";
import fc from "fast-check";
import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { anyMessages, reader } from "../../call/provider-message-arbitrary.test-support.js";
import type {
  AssistantItem,
  FunctionCallItem,
  FunctionCallOutputItem,
  FunctionToolBody,
  InputContent,
  InputItem,
  InstructionItem,
  ReasoningItem,
  UserItem,
} from "./api-types.js";
import type { CreateResponseRequest, OpenAIInputItem } from "./create-response.js";
import { toInputMessages } from "./input-parts.js";
import { isNativeBlock } from "./native-block.js";
import { OpenAIProviderAdapter } from "./openai-provider-adapter.js";
import { toRequest } from "./to-request.js";

type Responses = typeof OpenAI.Responses.prototype;
type ApiItem = OpenAI.Responses.ResponseInputItem;

const from = (request: Partial<CreateResponseRequest>) =>
  toRequest({ model: reader.model, input: "hi", ...request }, { reader }).body;
const lower = (messages: ProviderMessage[]) =>
  from({ input: toInputMessages(messages) }).input as InputItem[];

/** Returns the body that the adapter makes of a call, captured before it is sent. */
async function bodyOf(params: Partial<ProviderCallParams>, config: object = {}) {
  let request: CreateResponseRequest | undefined;
  const adapter = new OpenAIProviderAdapter({
    defaultModel: "gpt-test",
    client: {
      http: undefined as never,
      responses: {
        create: async (given) => {
          request = given;
          return { id: "resp_1", model: "m", createdAt: new Date(0), outputText: "ok", raw: null };
        },
      },
    },
    ...config,
  });
  await adapter.complete({
    messages: [],
    metadata: { provider: "openai", model: "gpt-test" },
    ...params,
  });
  return toRequest(request as CreateResponseRequest, { reader }).body;
}

const add = {
  name: "add",
  description: "adds",
  schema: { type: "object", properties: { a: { type: "number" } } },
};

const goldenHistory: ProviderMessage[] = [
  { role: "system", content: [{ type: "text", text: "SYS" }] },
  { role: "user", content: [{ type: "text", text: "hi" }] },
  {
    role: "assistant",
    origin: reader,
    content: [
      {
        type: "reasoning",
        text: "sum",
        providerMetadata: { openai: { id: "rs_1", encryptedContent: "ENC" } },
      },
      {
        type: "text",
        text: "let me look",
        providerMetadata: { openai: { id: "msg_1", phase: "commentary" } },
      },
      { type: "tool-call", name: "add", arguments: { a: 1 }, argumentsText: '{"a":1}', toolCallId: "call_1" },
      { type: "tool-call", name: "add", arguments: { a: 2 }, argumentsText: '{"a":2}', toolCallId: "call_2" },
    ],
  },
  {
    role: "tool",
    content: [
      { type: "tool-result", name: "add", result: { s: 1 }, resultText: '{"s":1}', toolCallId: "call_1" },
      { type: "tool-result", name: "add", result: "boom", resultText: "boom", toolCallId: "call_2" },
    ],
  },
  { role: "user", content: [{ type: "text", text: "STEER: stop at 3" }] },
];

describe("the golden request", () => {
  it("is what the API accepts, field by field", async () => {
    const body = await bodyOf({
      messages: goldenHistory,
      tools: [add],
      toolChoice: "auto",
      reasoningEffort: "high",
      cacheKey: "conv_1",
    });
    expect(body).toEqual({
      model: "gpt-test",
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "conv_1",
      reasoning: { effort: "high", summary: "auto" },
      input: [
        { role: "developer", content: "SYS" },
        { role: "user", content: [{ type: "input_text", text: "hi" }] },
        {
          type: "reasoning",
          id: "rs_1",
          encrypted_content: "ENC",
          summary: [{ type: "summary_text", text: "sum" }],
        },
        {
          role: "assistant",
          id: "msg_1",
          phase: "commentary",
          content: [{ type: "output_text", text: "let me look" }],
        },
        { type: "function_call", call_id: "call_1", name: "add", arguments: '{"a":1}' },
        { type: "function_call", call_id: "call_2", name: "add", arguments: '{"a":2}' },
        { type: "function_call_output", call_id: "call_1", output: '{"s":1}' },
        { type: "function_call_output", call_id: "call_2", output: "boom" },
        { role: "user", content: [{ type: "input_text", text: "STEER: stop at 3" }] },
      ],
      // Set explicitly, because the API would otherwise enforce its strict subset of schemas.
      tools: [{ type: "function", name: "add", description: "adds", parameters: add.schema, strict: false }],
      tool_choice: "auto",
    });
    expect(validateResponsesRequest(body)).toEqual([]);
  });

  it("is built from parts that match the vendor's own types", () => {
    const known = <T>(value: T) => value;
    // An assistant's message may be passed without the fields that only the API fills in.
    type Short = Omit<AssistantItem, "content"> & { content: readonly { type: string }[] };
    known<(item: AssistantItem) => Short>((item) => item);
    known<(item: InstructionItem) => ApiItem>(
      ({ role, content }) =>
        ({
          role,
          content: typeof content === "string" ? content : [...content],
        }) satisfies OpenAI.Responses.EasyInputMessage,
    );
    known<(item: UserItem) => ApiItem>((item) => ({ ...item, content: [...item.content] }) satisfies ApiItem);
    known<(item: ReasoningItem) => ApiItem>(
      (item) => ({ ...item, summary: [...item.summary] }) satisfies OpenAI.Responses.ResponseReasoningItem,
    );
    known<(item: FunctionCallItem) => ApiItem>(
      (item) => item satisfies OpenAI.Responses.ResponseFunctionToolCall,
    );
    known<(item: FunctionCallOutputItem) => ApiItem>((item) => item satisfies ApiItem);
    known<(part: InputContent) => OpenAI.Responses.ResponseInputContent>((part) => part);
    known<(tool: FunctionToolBody) => OpenAI.Responses.Tool>(
      (tool) => ({ ...tool, parameters: { ...tool.parameters } }) satisfies OpenAI.Responses.FunctionTool,
    );
    const body = {
      model: "gpt-test",
      stream: true,
      store: false,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "conv_1",
      reasoning: { effort: "high", summary: "auto" },
      max_output_tokens: 16,
      previous_response_id: "resp_1",
      metadata: { a: "b" },
      input: [
        { role: "developer", content: "SYS" },
        { role: "user", content: [{ type: "input_text", text: "hi" }] },
      ],
      tool_choice: { type: "function", name: "add" },
    } satisfies Parameters<Responses["create"]>[0];
    expect(validateResponsesRequest(body)).toEqual(["tool_choice: there are no tools"]);
  });
});

describe("lowering to the Responses API", () => {
  it("puts texts into the parts of their role, and roles into those of the API", () => {
    expect(
      from({
        input: [
          { role: "system", content: "s" },
          { role: "developer", content: { type: "text", text: "d" } },
          { role: "user", content: [{ type: "text", text: "u" }] },
          { role: "assistant", content: "a" },
        ],
      }).input,
    ).toEqual([
      { role: "developer", content: "s" },
      { role: "developer", content: "d" },
      { role: "user", content: [{ type: "input_text", text: "u" }] },
      { role: "assistant", content: [{ type: "output_text", text: "a" }] },
    ]);
  });

  it("makes an array of a single message, and passes a text unchanged", () => {
    expect(from({ input: { role: "user", content: "hi" } }).input).toEqual([
      { role: "user", content: [{ type: "input_text", text: "hi" }] },
    ]);
    expect(from({ input: "hi" }).input).toBe("hi");
  });

  it("uses the role system for models that do not reason, unless the hint is developer", () => {
    const input = toInputMessages([
      { role: "system", content: [{ type: "text", text: "s" }] },
      { role: "system", content: [{ type: "text", text: "d" }], metadata: { role: "developer" } },
    ]);
    expect(toRequest({ model: "gpt-4.1", input }, { reader }).body.input).toEqual([
      { role: "system", content: "s" },
      { role: "developer", content: "d" },
    ]);
  });

  it("adds a result to a call without one, and drops a result without a call", () => {
    const items = lower([
      {
        role: "assistant",
        content: [{ type: "tool-call", name: "add", arguments: {}, toolCallId: "call_1" }],
      },
      { role: "tool", content: [{ type: "tool-result", name: "add", result: 1, toolCallId: "call_9" }] },
      { role: "user", content: [{ type: "text", text: "and?" }] },
    ]);
    expect(items).toEqual([
      { type: "function_call", call_id: "call_1", name: "add", arguments: "{}" },
      {
        type: "function_call_output",
        call_id: "call_1",
        output: "Error: The call was interrupted before it had a result.",
      },
      { role: "user", content: [{ type: "input_text", text: "and?" }] },
    ]);
  });

  it("replaces repeated and too long ids, in pairs", () => {
    const step = (id: string): ProviderMessage[] => [
      { role: "assistant", content: [{ type: "tool-call", name: "add", arguments: {}, toolCallId: id }] },
      { role: "tool", content: [{ type: "tool-result", name: "add", result: "r", toolCallId: id }] },
    ];
    const history = [...step("call_0"), ...step("call_0"), ...step("x".repeat(100))];
    const ids = (lower(history) as FunctionCallItem[]).map((item) => item.call_id);
    expect(ids[0]).toBe("call_0");
    expect(ids[2]).toBe("call_0_2");
    expect(ids).toEqual([ids[0], ids[0], ids[2], ids[2], ids[4], ids[4]]);
    expect(ids[4]?.length).toBeLessThanOrEqual(64);
    // A longer history starts with the same bytes.
    expect(lower(history.slice(0, 4))).toEqual(lower(history).slice(0, 4));
  });

  it("sends images and documents as such, texts as text, and notes for what it cannot send", () => {
    const items = lower([
      {
        role: "user",
        content: [
          { type: "file", mediaType: "image/png", data: "aGk=" },
          { type: "file", mediaType: "image/jpeg", url: "https://x.test/a.jpg" },
          { type: "file", mediaType: "application/pdf", data: "aGk=", filename: "a.pdf" },
          { type: "file", mediaType: "text/plain", data: "aGk=", filename: "a.txt" },
          { type: "file", mediaType: "audio/wav", data: "aGk=", filename: "a.wav" },
        ],
      },
    ]);
    expect(items).toEqual([
      {
        role: "user",
        content: [
          { type: "input_image", image_url: "data:image/png;base64,aGk=", detail: "auto" },
          { type: "input_image", image_url: "https://x.test/a.jpg", detail: "auto" },
          { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,aGk=" },
          { type: "input_text", text: "File a.txt:\n\nhi" },
          { type: "input_text", text: "[File a.wav (audio/wav) cannot be shown]" },
        ],
      },
    ]);
  });

  it("passes the API's own parts of a message through", () => {
    const image = { type: "input_image", file_id: "file_1", detail: "high" };
    expect(
      from({ input: [{ role: "user", content: [{ type: "input_text", text: "see" }, image] }] }).input,
    ).toEqual([{ role: "user", content: [{ type: "input_text", text: "see" }, image] }]);
  });

  it("sends modalities unchanged, to servers that accept them", () => {
    expect(from({ modalities: ["text", "audio"] })).toMatchObject({ modalities: ["text", "audio"] });
    expect(from({})).not.toHaveProperty("modalities");
  });

  it("sends a text unchanged, even an empty one", () => {
    expect(from({ input: "" }).input).toBe("");
  });

  it("lets the caller's own fields override every other", () => {
    const body = from({
      store: true,
      maxOutputTokens: 100,
      toolChoice: "auto",
      tools: [{ type: "function", name: "add", parameters: {} }],
      extraParams: { store: false, max_output_tokens: 7, tool_choice: "none", stream: false, model: "other" },
    });
    expect(body).toMatchObject({
      store: false,
      max_output_tokens: 7,
      tool_choice: "none",
      stream: false,
      model: "other",
    });
  });

  it("lets the caller's own fields override what the adapter derives", async () => {
    const call = { metadata: { provider: "openai", model: "gpt-5.5" }, reasoningEffort: "high" as const };
    const effort = await bodyOf({ ...call, extraParams: { reasoning_effort: "low" } });
    expect(effort.reasoning).toEqual({ effort: "low", summary: "auto" });
    const nested = await bodyOf({
      ...call,
      extraParams: { reasoning: { effort: "low", summary: "concise" } },
    });
    expect(nested.reasoning).toEqual({ effort: "low", summary: "concise" });
    const kept = await bodyOf({
      ...call,
      cacheKey: "a",
      extraParams: { prompt_cache_key: "b", include: [] },
    });
    expect(kept).toMatchObject({ prompt_cache_key: "b", include: [] });
  });

  it("keeps the role system for an unknown model, on another server", () => {
    const input = [{ role: "system" as const, content: "s" }];
    const roleOf = (model: string, isOpenAI: boolean) =>
      (toRequest({ model, input }, { reader, isOpenAI }).body.input as readonly { role: string }[])[0]?.role;
    expect(roleOf("acme-large", false)).toBe("system");
    expect(roleOf("gpt-oss:20b", false)).toBe("system");
    expect(roleOf("openai/gpt-5.5", false)).toBe("developer");
    expect(roleOf("o3", false)).toBe("developer");
    expect(roleOf("something-new", true)).toBe("developer");
    expect(roleOf("gpt-4.1", true)).toBe("system");
  });

  it("translates fields with another name in this API", () => {
    const body = from({
      maxOutputTokens: { tokens: 3 },
      metadata: { n: 1, long: "x".repeat(600), none: undefined },
      extraParams: {
        response_format: { type: "json_schema", json_schema: { name: "n", schema: {}, strict: true } },
        reasoning_effort: "low",
        temperature: 0,
      },
    });
    expect(body).toEqual({
      model: "gpt-test",
      input: "hi",
      stream: true,
      max_output_tokens: 16,
      metadata: { n: "1", long: "x".repeat(512) },
      text: { format: { type: "json_schema", name: "n", schema: {}, strict: true } },
      reasoning: { effort: "low" },
      temperature: 0,
    });
    expect(validateResponsesRequest(body)).toEqual([]);
  });

  it("rewrites names of tools to valid ones, and schemas to objects", () => {
    const { body, names } = toRequest(
      {
        model: "gpt-test",
        input: "hi",
        tools: [
          { type: "function", name: "files.read", parameters: undefined },
          { type: "function", name: "pick", parameters: { oneOf: [{ type: "object" }] } },
          { type: "function", name: "pick", parameters: {} },
          { type: "web_search" },
        ],
        toolChoice: { type: "tool", toolName: "files.read" },
      },
      { reader },
    );
    expect(validateResponsesRequest(body)).toEqual([]);
    const [first, second, third] = body.tools as FunctionToolBody[];
    expect(first?.name).toMatch(/^files_read_/);
    expect(names.fromSent(first?.name ?? "")).toBe("files.read");
    expect(second?.parameters).toEqual({ type: "object", properties: {} });
    expect(third).toEqual({ type: "web_search" });
    expect(body.tool_choice).toEqual({ type: "function", name: first?.name });
  });
});

describe("data that only its author can read", () => {
  const thought = (id: string, encryptedContent?: string) => ({
    type: "reasoning",
    text: "sum",
    providerMetadata: { openai: { id, ...(encryptedContent === undefined ? {} : { encryptedContent }) } },
  });
  const said = { type: "text", text: "yes", providerMetadata: { openai: { id: "msg_1" } } };

  it("is dropped, with the ids, when another provider or model reads", () => {
    for (const origin of [{ ...reader, model: "other" }, { ...reader, provider: "other" }, undefined]) {
      const message: ProviderMessage = {
        role: "assistant",
        content: [thought("rs_1", "ENC"), said],
        ...(origin === undefined ? {} : { origin }),
      };
      expect(lower([message])).toEqual([
        { role: "assistant", content: [{ type: "output_text", text: "yes" }] },
      ]);
    }
  });

  it("is dropped with the ids when its encrypted content is missing", () => {
    expect(lower([{ role: "assistant", origin: reader, content: [thought("rs_1"), said] }])).toEqual([
      { role: "assistant", content: [{ type: "output_text", text: "yes" }] },
    ]);
  });

  it("is dropped when nothing followed it", () => {
    expect(
      lower([
        { role: "assistant", origin: reader, content: [thought("rs_1", "E"), said, thought("rs_2", "E")] },
        { role: "user", content: [{ type: "text", text: "go on" }] },
      ]).map((item) => ("id" in item ? item.id : item)),
    ).toEqual(["rs_1", "msg_1", { role: "user", content: [{ type: "input_text", text: "go on" }] }]);
  });

  it("keeps several summaries apart", () => {
    const part = {
      type: "reasoning",
      text: "one\n\ntwo",
      providerMetadata: { openai: { id: "rs_1", encryptedContent: "E", summaryLengths: [3, 3] } },
    };
    expect(lower([{ role: "assistant", origin: reader, content: [part, said] }])[0]).toMatchObject({
      summary: [{ text: "one" }, { text: "two" }],
    });
  });

  it("is replayed byte for byte if it is an item of an unknown type", () => {
    const item = '{"type":"web_search_call","id":"ws_1","status":"completed","z":1.0,"a":{"y":1,"b":2}}';
    const search = { type: "metadata", data: null, providerMetadata: { openai: { item } } };
    const [replayed] = lower([{ role: "assistant", origin: reader, content: [search, said] }]);
    expect(JSON.stringify(replayed)).toBe(item.replace("1.0", "1"));
  });
});

describe("a chain of responses", () => {
  const answer = (responseId: string): ProviderMessage => ({
    role: "assistant",
    origin: reader,
    content: [
      {
        type: "tool-call",
        name: "add",
        arguments: {},
        toolCallId: "call_1",
        providerMetadata: { openai: { responseId } },
      },
    ],
  });
  const history: ProviderMessage[] = [
    { role: "system", content: [{ type: "text", text: "SYS" }] },
    { role: "user", content: [{ type: "text", text: "one" }] },
    answer("resp_1"),
    { role: "tool", content: [{ type: "tool-result", name: "add", result: "3", toolCallId: "call_1" }] },
  ];

  it("is sent what it has not seen, and the instructions", () => {
    const body = from({ input: toInputMessages(history), previousResponseId: "resp_1" });
    expect(body.previous_response_id).toBe("resp_1");
    expect(body.input).toEqual([
      { role: "developer", content: "SYS" },
      { type: "function_call_output", call_id: "call_1", output: "3" },
    ]);
    expect(validateResponsesRequest(body)).toEqual([]);
  });

  it("is sent everything if its last response is not among the messages", () => {
    const body = from({ input: toInputMessages(history), previousResponseId: "resp_0" });
    expect(body.input).toHaveLength(4);
    const results = from({ input: toInputMessages(history.slice(3)), previousResponseId: "resp_1" });
    expect(results.input).toEqual([{ type: "function_call_output", call_id: "call_1", output: "3" }]);
  });

  it("lets the API store the response; without a chain it stores nothing", async () => {
    const chained = await bodyOf(
      { messages: history },
      { getConversationState: () => ({ lastResponseId: "resp_1" }) },
    );
    expect(chained).not.toHaveProperty("store");
    expect(chained).not.toHaveProperty("include");
    expect(await bodyOf({ messages: history })).toMatchObject({ store: false });
  });
});

describe("effort", () => {
  const effort = async (model: string, reasoningEffort: "high" | "xhigh" | "max") =>
    (
      (await bodyOf({ metadata: { provider: "openai", model }, reasoningEffort })).reasoning as {
        effort?: string;
      }
    )?.effort;

  it("passes as a level, lowered if an older model does not support it", async () => {
    expect(await effort("gpt-6-astra", "max")).toBe("max");
    expect(await effort("gpt-5.2", "xhigh")).toBe("xhigh");
    expect(await effort("gpt-5.2", "max")).toBe("xhigh");
    expect(await effort("gpt-5-mini", "xhigh")).toBe("high");
    expect(await effort("o3", "max")).toBe("high");
  });

  it("is not sent to a model that does not reason", async () => {
    const body = await bodyOf({
      metadata: { provider: "openai", model: "gpt-4.1" },
      reasoningEffort: "high",
    });
    expect(body).not.toHaveProperty("reasoning");
    expect(body).not.toHaveProperty("include");
  });
});

/** Removes blocks in the API's own form: a log never contains them. */
function written(messages: ProviderMessage[]): ProviderMessage[] {
  return messages.map((message) => ({
    ...message,
    content: message.content.filter((part) => !isNativeBlock(part)),
  }));
}

describe("totality", () => {
  it("lowers every history to a request that the API accepts", () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        const body = from({ input: toInputMessages(written(messages)) });
        expect(validateResponsesRequest(body)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });

  it("lowers every history for a chain, too", () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        const body = from({ input: toInputMessages(written(messages)), previousResponseId: "resp_1" });
        expect(
          validateResponsesRequest(body).filter((problem) => !/call_id|comes before/.test(problem)),
        ).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("gives the same bytes for the same history", () => {
    fc.assert(
      fc.property(anyMessages, (messages) => {
        const once = JSON.stringify(from({ input: toInputMessages(messages) }));
        expect(JSON.stringify(from({ input: toInputMessages(structuredClone(messages)) }))).toBe(once);
      }),
      { numRuns: 300 },
    );
  });
});

describe("blocks in the API's own form", () => {
  const items: OpenAIInputItem[] = [
    {
      type: "function_call",
      call_id: "call_1",
      name: "add",
      arguments: "{}",
      id: "fc_1",
      status: "completed",
    },
    { type: "function_call_output", call_id: "call_1", output: [{ type: "input_text", text: "3" }] },
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "ENC" },
    { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [] },
    { type: "item_reference", id: "msg_2" },
    { type: "hologram_call", depth: 3 },
  ];

  const [nativeCall, output, , , reference] = items as [
    OpenAIInputItem,
    OpenAIInputItem,
    OpenAIInputItem,
    OpenAIInputItem,
    OpenAIInputItem,
  ];

  it("are items beside the message that contains them, in their order", () => {
    const lowered = from({
      input: [
        { role: "user", content: "hi" },
        { role: "assistant", content: [{ type: "text", text: "I add" }, ...items.slice(0, 1)] },
        { role: "tool", content: items.slice(1, 2) },
        { role: "assistant", content: items.slice(2, 4) },
        {
          role: "user",
          content: [{ type: "text", text: "see" }, ...items.slice(4), { type: "text", text: "?" }],
        },
      ],
    }).input;
    expect(lowered).toEqual([
      { role: "user", content: [{ type: "input_text", text: "hi" }] },
      { role: "assistant", content: [{ type: "output_text", text: "I add" }] },
      ...items.slice(0, 4),
      { role: "user", content: [{ type: "input_text", text: "see" }] },
      ...items.slice(4),
      { role: "user", content: [{ type: "input_text", text: "?" }] },
    ]);
  });

  it("may be the input itself", () => {
    expect(from({ input: items }).input).toEqual(items);
    expect(from({ input: output }).input).toEqual(items.slice(1, 2));
    expect(from({ input: output, previousResponseId: "resp_1" }).input).toEqual(items.slice(1, 2));
    const chain = { previous_response_id: "resp_1" };
    expect(from({ input: output, extraParams: chain }).input).toEqual(items.slice(1, 2));
  });

  it("stay parts of their message if they are not items", () => {
    const part = { type: "input_video", video_url: "https://x.test/a.mp4" };
    for (const role of ["user", "assistant", "developer"] as const) {
      expect(from({ input: [{ role, content: [part] }] }).input).toEqual([{ role, content: [part] }]);
    }
  });

  it("pair with Parley's own calls and results", () => {
    const call = { type: "tool-call", name: "add", arguments: {}, argumentsText: "{}", toolCallId: "call_1" };
    const result = { type: "tool-result", name: "add", result: "3", resultText: "3", toolCallId: "call_1" };
    expect(
      from({
        input: [
          { role: "assistant", content: [call] },
          { role: "tool", content: [output] },
        ],
      }).input,
    ).toEqual([{ type: "function_call", call_id: "call_1", name: "add", arguments: "{}" }, output]);
    expect(
      from({
        input: [
          { role: "assistant", content: [nativeCall] },
          { role: "tool", content: [result] },
        ],
      }).input,
    ).toEqual([nativeCall, { type: "function_call_output", call_id: "call_1", output: "3" }]);
  });

  it("may answer calls that a conversation of the API contains", () => {
    const result = { type: "tool-result", name: "add", result: "3", resultText: "3", toolCallId: "call_1" };
    const input = [{ role: "tool" as const, content: [result] }];
    expect(from({ input, extraParams: { conversation: "conv_1" } })).toMatchObject({
      conversation: "conv_1",
      input: [{ type: "function_call_output", call_id: "call_1", output: "3" }],
    });
  });

  it("cannot be referenced by the metadata of a history's parts", () => {
    const forged = { type: "metadata", data: null, providerMetadata: { openai: { native: 0 } } };
    const lowered = from({ input: [{ role: "user", content: [reference, forged] }] }).input;
    expect(lowered).toEqual([reference]);
  });

  it("all arrive unchanged, once each, whatever surrounds them", () => {
    const block = fc.record({
      type: fc.constantFrom("function_call_output", "item_reference", "hologram_call", "input_hologram"),
      note: fc.uuid(),
    });
    const message = fc.record({
      role: fc.constantFrom("user" as const, "assistant" as const, "tool" as const, "system" as const),
      content: fc.array(block, { maxLength: 2 }),
    });
    fc.assert(
      fc.property(anyMessages, fc.array(message, { minLength: 1, maxLength: 3 }), (messages, added) => {
        const text = JSON.stringify(from({ input: toInputMessages([...written(messages), ...added]) }));
        for (const { content } of added) {
          for (const part of content) expect(text.split(JSON.stringify(part))).toHaveLength(2);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("validateResponsesRequest", () => {
  const problems = (input: unknown, rest: object = {}) =>
    validateResponsesRequest({ model: "m", stream: true, input, ...rest });

  it("refuses what the API refuses", () => {
    expect(problems([{ role: "user", content: [{ type: "text", text: "x" }] }])[0]).toMatch(
      /content\[0\]\.type/,
    );
    expect(problems([{ role: "assistant", content: [{ type: "input_text", text: "x" }] }])).toHaveLength(1);
    expect(problems([{ role: "tool", content: "x" }])[0]).toMatch(/role/);
    expect(problems([{ role: "assistant", content: "x", tool_calls: [] }])[0]).toMatch(/tool_calls/);
    expect(problems([{ type: "function_call_output", call_id: "c", output: "x" }])[0]).toMatch(
      /no tool call/,
    );
    expect(problems([{ type: "function_call", call_id: "c", name: "n", arguments: "{}" }])[0]).toMatch(
      /no tool output/,
    );
    expect(problems({ role: "user", content: "x" })[0]).toMatch(/array/);
    expect(problems([])).toEqual(["input: is empty"]);
    expect(problems("x", { modalities: ["text"] })).toEqual(["modalities: unknown parameter"]);
    expect(problems("x", { max_output_tokens: 3 })).toHaveLength(1);
    expect(problems("x", { metadata: { a: 1 } })).toHaveLength(1);
    expect(
      problems([
        { type: "reasoning", id: "r", encrypted_content: "E", summary: [] },
        { role: "user", content: "x" },
      ]),
    ).toEqual(["input[0]: reasoning was provided without its required following item"]);
    expect(problems("\ud800")).toEqual(["body: a text has half of a surrogate pair"]);
  });
});
