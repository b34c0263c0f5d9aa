import { describe, expect, it } from "vitest";
import { validateRequest } from "./validate-request.js";

const user = { role: "user", content: [{ type: "text", text: "hi" }] };
const valid = { model: "claude-opus-5", max_tokens: 100, messages: [user], stream: true };
const tools = [{ name: "add", input_schema: { type: "object" } }];

const use = (id = "c1", input: unknown = {}) => ({ type: "tool_use", id, name: "add", input });
const result = (id = "c1", fields: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content: "1",
  ...fields,
});
const assistant = (...content: object[]) => ({ role: "assistant", content });
const results = (...content: object[]) => ({ role: "user", content });
const text = { type: "text", text: "x" };
const image = (source: object) => ({
  ...valid,
  messages: [{ role: "user", content: [{ type: "image", source }] }],
});

describe("a request that the API takes", () => {
  it.each<[string, object]>([
    ["the smallest one", valid],
    ["a text instead of a list", { ...valid, messages: [{ role: "user", content: "hi" }] }],
    [
      "calls with their results",
      { ...valid, tools, messages: [user, assistant(use()), results(result(), text)] },
    ],
    [
      "an empty result",
      { ...valid, tools, messages: [user, assistant(use()), results(result("c1", { content: "" }))] },
    ],
    [
      "thinking in a turn that goes on",
      {
        ...valid,
        max_tokens: 4_000,
        thinking: { type: "enabled", budget_tokens: 2_000 },
        tools,
        messages: [
          user,
          assistant({ type: "thinking", thinking: "", signature: "s" }, use()),
          results(result()),
        ],
      },
    ],
  ])("has no problem: %s", (_, body) => {
    expect(validateRequest(body)).toEqual([]);
  });
});

describe("a request that the API refuses", () => {
  it.each<[string | string[], unknown]>([
    ["is not an object", null],
    ["is required", { ...valid, model: "" }],
    ["must be a positive integer", { ...valid, max_tokens: 0 }],
    ["must be a positive integer", { ...valid, max_tokens: 1.5 }],
    ["must not be empty", { ...valid, messages: [] }],
    ["must be the user's", { ...valid, messages: [assistant(text), user] }],
    ["must end with the user", { ...valid, messages: [user, assistant(text)] }],
    ["has the role of the message before it", { ...valid, messages: [user, user] }],
    ["has no known role", { ...valid, messages: [{ role: "system", content: "x" }, user] }],
    ["has no content", { ...valid, messages: [{ role: "user", content: [] }] }],
    ["text must contain non-whitespace text", { ...valid, messages: [{ role: "user", content: " \n" }] }],
    ["text must contain non-whitespace text", { ...valid, system: [{ type: "text", text: "" }] }],
    ["must be text", { ...valid, system: [{ type: "image" }] }],
    ["has half a surrogate pair", { ...valid, system: "\ud800x" }],
    [
      "has tool_use without tool_result immediately after: c1",
      { ...valid, tools, messages: [user, assistant(use()), user] },
    ],
    ["unexpected tool_use_id c1", { ...valid, tools, messages: [results(result())] }],
    [
      "second result for c1",
      { ...valid, tools, messages: [user, assistant(use()), results(result(), result())] },
    ],
    [
      "tool_result must come first",
      { ...valid, tools, messages: [user, assistant(use()), results(text, result())] },
    ],
    [
      "tool_use ids must be unique",
      {
        ...valid,
        tools,
        messages: [user, assistant(use()), results(result()), assistant(use()), results(result())],
      },
    ],
    [
      ["has an invalid id", "has an invalid tool_use_id"],
      { ...valid, tools, messages: [user, assistant(use("a.b")), results(result("a.b"))] },
    ],
    [
      "input must be an object",
      { ...valid, tools, messages: [user, assistant(use("c1", "{}")), results(result())] },
    ],
    [
      "content cannot be empty if is_error is true",
      {
        ...valid,
        tools,
        messages: [user, assistant(use()), results(result("c1", { is_error: true, content: "" }))],
      },
    ],
    ["tool_use is not allowed in a user message", { ...valid, tools, messages: [results(use())] }],
    [
      "must be given where messages use tools",
      { ...valid, messages: [user, assistant(use()), results(result())] },
    ],
    [
      "ends with thinking",
      {
        ...valid,
        messages: [user, assistant(text, { type: "thinking", thinking: "", signature: "s" }), user],
      },
    ],
    [
      "has no signature",
      { ...valid, messages: [user, assistant({ type: "thinking", thinking: "x" }, text), user] },
    ],
    [
      "has no data",
      { ...valid, messages: [user, assistant({ type: "redacted_thinking", data: "" }, text), user] },
    ],
    [
      "thinking cannot be a cache breakpoint",
      {
        ...valid,
        messages: [
          user,
          assistant({ type: "thinking", thinking: "", signature: "s", cache_control: {} }, text),
          user,
        ],
      },
    ],
    [
      "use without its result: s1",
      { ...valid, messages: [user, assistant({ type: "server_tool_use", id: "s1" }, text), user] },
    ],
    [
      "web_search_tool_result without its use: s1",
      {
        ...valid,
        messages: [user, assistant({ type: "web_search_tool_result", tool_use_id: "s1" }, text), user],
      },
    ],
    [
      "image is not allowed in an answer",
      {
        ...valid,
        messages: [user, assistant({ type: "image", source: { type: "url", url: "https://a" } }), user],
      },
    ],
    ["has an unknown media type image/bmp", image({ type: "base64", media_type: "image/bmp", data: "AAAA" })],
    ["has invalid base64 data", image({ type: "base64", media_type: "image/png", data: "AAA" })],
    ["has an invalid url", image({ type: "url", url: "file:///x" })],
    ["hologram is not allowed in a user message", { ...valid, messages: [results({ type: "hologram" })] }],
    ["has an invalid name", { ...valid, tools: [{ name: "a.b", input_schema: { type: "object" } }] }],
    ["tool names must be unique", { ...valid, tools: [...tools, ...tools] }],
    ["input_schema must be of type object", { ...valid, tools: [{ name: "a", input_schema: {} }] }],
    [
      "input_schema does not support anyOf at the top level",
      { ...valid, tools: [{ name: "a", input_schema: { type: "object", anyOf: [] } }] },
    ],
    ["needs tools", { ...valid, tool_choice: { type: "auto" } }],
    ["names no tool", { ...valid, tools, tool_choice: { type: "tool", name: "gone" } }],
    ["has an unknown type", { ...valid, tools, tool_choice: "auto" }],
    ["budget_tokens must be at least 1024", { ...valid, thinking: { type: "enabled", budget_tokens: 1 } }],
    ["max_tokens must be greater", { ...valid, thinking: { type: "enabled", budget_tokens: 1_024 } }],
    [
      "may not be enabled when tool_choice forces tool use",
      { ...valid, tools, tool_choice: { type: "any" }, thinking: { type: "adaptive" } },
    ],
    [
      "a final answer must start with thinking",
      {
        ...valid,
        max_tokens: 4_000,
        thinking: { type: "enabled", budget_tokens: 2_000 },
        tools,
        messages: [user, assistant(use()), results(result())],
      },
    ],
    [
      "has more than 4 cache breakpoints",
      {
        ...valid,
        messages: [
          { role: "user", content: Array.from({ length: 5 }, () => ({ ...text, cache_control: {} })) },
        ],
      },
    ],
  ])("says so: %j", (problem, body) => {
    expect(validateRequest(body).map((found) => found.problem)).toEqual([problem].flat());
  });
});
