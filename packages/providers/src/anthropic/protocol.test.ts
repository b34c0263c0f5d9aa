import { createAnthropic } from "@ai-sdk/anthropic";
import {
  answer,
  redacted,
  serverToolUse,
  startAnthropicServer,
  stream,
  text,
  thinking,
  toolUse,
} from "@parley/testing/anthropic";
import { describe, expect, it } from "vitest";

describe("the server that the tests talk to", () => {
  it("behaves like the API: another client understands its answers, and it accepts that client's requests", async () => {
    const said = answer([
      thinking("SIG", "let me ", "see"),
      redacted("RED"),
      text("I ", "look."),
      serverToolUse("srvtoolu_1", "web_search", '{"query":"x"}'),
      toolUse("toolu_1", "add", '{"a"', ":1}"),
    ]);
    const server = await startAnthropicServer((response) => stream(response, said));
    try {
      const model = createAnthropic({ apiKey: "test-key", baseURL: server.url })("claude-opus-5");
      const { stream: parts } = await model.doStream({
        prompt: [
          { role: "system", content: "SYS" },
          { role: "user", content: [{ type: "text", text: "hi" }] },
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "SIG" } } },
              { type: "text", text: "let me look" },
              { type: "tool-call", toolCallId: "call_1", toolName: "add", input: { a: 1 } },
              { type: "tool-call", toolCallId: "call_2", toolName: "add", input: { a: 2 } },
            ],
          },
          {
            role: "tool",
            content: [
              {
                type: "tool-result",
                toolCallId: "call_1",
                toolName: "add",
                output: { type: "json", value: { s: 1 } },
              },
              {
                type: "tool-result",
                toolCallId: "call_2",
                toolName: "add",
                output: { type: "error-text", value: "boom" },
              },
            ],
          },
          { role: "user", content: [{ type: "text", text: "STEER: stop at 3" }] },
        ],
        tools: [{ type: "function", name: "add", inputSchema: { type: "object", properties: {} } }],
      });
      const kinds: string[] = [];
      for await (const part of parts) kinds.push(part.type);
      expect(server.seen.map(({ problems }) => problems)).toEqual([[]]);
      expect(kinds).not.toContain("error");
      expect(kinds.filter((kind) => kind === "text-delta")).toHaveLength(2);
      expect(kinds).toEqual(expect.arrayContaining(["reasoning-delta", "tool-call", "finish"]));
    } finally {
      await server.close();
    }
  });
});
