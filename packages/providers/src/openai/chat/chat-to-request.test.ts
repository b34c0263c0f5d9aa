import type { ProviderCallParams, ProviderMessage } from "@parley/core/ports";
import { validateChatRequest } from "@parley/testing/openai";
import fc from "fast-check";
import type OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { anyMessages, reader } from "../../call/provider-message-arbitrary.test-support.js";
import type { ChatMessage } from "./chat-api-types.js";
import { type ChatDialect, toChatRequest } from "./chat-to-request.js";

const plain: ChatDialect = {
  includeUsage: true,
  maxTokensField: "max_tokens",
  effortParams: () => undefined,
  replayReasoning: undefined,
  sendsImages: true,
  sendsFiles: false,
  sendsCacheKey: false,
  takesOutput: false,
};

const lower = (
  messages: ProviderMessage[],
  dialect: Partial<ChatDialect> = {},
  params: Partial<ProviderCallParams> = {},
) => toChatRequest({ messages, metadata: reader, ...params }, reader, { ...plain, ...dialect }).body;
const text = (role: ProviderMessage["role"], said: string): ProviderMessage => ({
  role,
  content: [{ type: "text", text: said }],
});

describe("lowering to chat completions", () => {
  it("creates the messages that every server accepts", () => {
    const body = lower(
      [
        text("system", "SYS"),
        text("user", "hi"),
        {
          role: "assistant",
          origin: reader,
          content: [
            { type: "reasoning", text: "hm" },
            { type: "text", text: "let me look" },
            {
              type: "tool-call",
              name: "add",
              arguments: { a: 1 },
              argumentsText: '{"a": 1}',
              toolCallId: "call_1",
            },
          ],
        },
        {
          role: "tool",
          content: [{ type: "tool-result", name: "add", result: 2, toolCallId: "call_1", isError: true }],
        },
        text("user", "go on"),
      ],
      {},
      { tools: [{ name: "add", description: "adds" }], toolChoice: "auto", maxTokens: 9.5, cacheKey: "c" },
    );
    expect(body).toEqual({
      model: "gpt-test",
      messages: [
        { role: "system", content: "SYS" },
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: "let me look",
          tool_calls: [{ id: "call_1", type: "function", function: { name: "add", arguments: '{"a": 1}' } }],
        },
        { role: "tool", tool_call_id: "call_1", content: "Error: 2" },
        { role: "user", content: "go on" },
      ],
      tools: [
        {
          type: "function",
          function: { name: "add", description: "adds", parameters: { type: "object", properties: {} } },
        },
      ],
      tool_choice: "auto",
      max_tokens: 9,
      stream_options: { include_usage: true },
      stream: true,
    });
    expect(validateChatRequest(body)).toEqual([]);
  });

  it("consists of messages that match the vendor's own types", () => {
    const known = (message: ChatMessage): OpenAI.Chat.ChatCompletionMessageParam => {
      if (message.role === "user" && typeof message.content !== "string") {
        return { ...message, content: [...message.content] };
      }
      if (message.role === "assistant") {
        const { tool_calls, ...rest } = message;
        return tool_calls === undefined ? rest : { ...rest, tool_calls: [...tool_calls] };
      }
      return message as Exclude<ChatMessage, { role: "user" | "assistant" }>;
    };
    expect(known({ role: "user", content: "hi" })).toEqual({ role: "user", content: "hi" });
  });

  it("follows the strictest templates: one system message, alternating roles", () => {
    const body = lower([
      text("system", "A"),
      text("system", "B"),
      text("assistant", "I begin"),
      text("assistant", "and go on"),
      text("user", "one"),
      text("system", "a summary"),
      text("user", "two"),
    ]);
    expect(body.messages).toEqual([
      { role: "system", content: "A\n\nB" },
      { role: "user", content: "Continue." },
      { role: "assistant", content: "I begin\n\nand go on" },
      { role: "user", content: "one\n\na summary\n\ntwo" },
    ]);
  });

  it("converts malformed arguments to a readable form", () => {
    const call = {
      type: "tool-call",
      name: "add",
      arguments: "{oops",
      argumentsText: "{oops",
      toolCallId: "c",
    };
    const body = lower([text("user", "hi"), { role: "assistant", content: [call] }]);
    expect(body.messages[1]).toMatchObject({
      tool_calls: [{ function: { arguments: '{"arguments":"{oops"}' } }],
    });
  });

  it("sends reasoning back only to its author, and only in a configured field", () => {
    const thought: ProviderMessage = {
      role: "assistant",
      origin: reader,
      content: [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "yes" },
      ],
    };
    const sent = (message: ProviderMessage, replayReasoning?: "reasoning_content") =>
      lower([text("user", "hi"), message], { replayReasoning }).messages[1];
    expect(sent(thought)).toEqual({ role: "assistant", content: "yes" });
    expect(sent(thought, "reasoning_content")).toMatchObject({ reasoning_content: "hm" });
    expect(sent({ ...thought, origin: { ...reader, model: "x" } }, "reasoning_content")).toEqual({
      role: "assistant",
      content: "yes",
    });
  });

  it("sends images as parts, and documents only to servers that accept them", () => {
    const files: ProviderMessage = {
      role: "user",
      content: [
        { type: "text", text: "see" },
        { type: "file", mediaType: "image/png", data: "aGk=" },
        { type: "file", mediaType: "application/pdf", data: "aGk=", filename: "a.pdf" },
      ],
    };
    const [image, document] = ((lower([files]).messages[0]?.content ?? []) as object[]).slice(1);
    expect(image).toEqual({ type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } });
    expect(document).toEqual({ type: "text", text: "[File a.pdf (application/pdf) cannot be shown]" });
    expect(lower([files], { sendsFiles: true }).messages[0]?.content?.[2]).toMatchObject({ type: "file" });
  });

  it("lowers every history to a request that servers accept", () => {
    fc.assert(
      fc.property(anyMessages, fc.boolean(), (messages, sendsFiles) => {
        const body = lower(messages, { sendsFiles, replayReasoning: "reasoning_content" });
        expect(validateChatRequest(body)).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("validateChatRequest", () => {
  const problems = (...messages: object[]) => validateChatRequest({ model: "m", messages });
  const call = (id: string) => ({
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name: "add", arguments: "{}" } }],
  });

  it("refuses what servers refuse", () => {
    const user = { role: "user", content: "x" };
    expect(problems(user)).toEqual([]);
    expect(problems()).toEqual(["messages: is empty"]);
    expect(problems(user, user)).toHaveLength(1);
    expect(problems(user, { role: "system", content: "x" })).toHaveLength(1);
    expect(problems(user, call("c"))).toEqual(["messages: a call has no result"]);
    expect(problems(user, { role: "tool", tool_call_id: "c", content: "x" })).toHaveLength(1);
    expect(problems(user, call("c"), user)[0]).toMatch(/comes before the results/);
    expect(problems(user, { role: "assistant", content: "" })).toHaveLength(1);
    expect(problems({ role: "user", content: [] })).toHaveLength(1);
  });
});

describe("data to answer with", () => {
  const output = {
    name: "city",
    schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  };

  it("is requested if the server supports it, as strictly as the schema allows", () => {
    const messages = [text("user", "hi")];
    const strict = { ...output, description: "d", schema: { ...output.schema, additionalProperties: false } };
    expect(lower(messages, { takesOutput: true }, { output: strict }).response_format).toEqual({
      type: "json_schema",
      json_schema: { name: "city", description: "d", schema: strict.schema, strict: true },
    });
    expect(lower(messages, { takesOutput: true }, { output }).response_format).toMatchObject({
      json_schema: { strict: false },
    });
    expect(lower(messages, {}, { output })).not.toHaveProperty("response_format");
  });
});
