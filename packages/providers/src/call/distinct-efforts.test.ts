import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, it } from "vitest";
import { AiSdkProviderAdapter } from "../ai-sdk/index.js";
import { AnthropicProviderAdapter, createAnthropicHttpClient } from "../anthropic/index.js";
import { DemoProviderAdapter } from "../demo/index.js";
import { createOpenAIHttpClient, OpenAIChatProviderAdapter, OpenAIProviderAdapter } from "../openai/index.js";
import { distinctEfforts } from "./distinct-efforts.js";

const all = ["low", "medium", "high", "xhigh", "max"];

describe("the efforts that make a difference", () => {
  it("are those whose requests differ from a request without one, and from each other", () => {
    expect(distinctEfforts(() => ({}))).toEqual([]);
    expect(distinctEfforts(() => undefined)).toEqual([]);
    expect(distinctEfforts((effort) => effort)).toEqual(all);
    expect(distinctEfforts((effort) => effort !== undefined)).toEqual([]);
    expect(distinctEfforts((effort) => (effort === "max" ? "xhigh" : effort))).toEqual(all.slice(0, 4));
    expect(distinctEfforts((effort) => effort ?? "high")).toEqual(["low", "medium", "xhigh", "max"]);
  });

  it("are known of OpenAI's models by what their requests say", () => {
    const client = createOpenAIHttpClient({ apiKey: "k" });
    const adapter = new OpenAIProviderAdapter({ client, defaultModel: "gpt-4o" });
    expect(adapter.efforts({ model: "gpt-4o" })).toEqual([]);
    expect(adapter.efforts({ model: "" })).toEqual([]);
    expect(adapter.efforts({ model: "gpt-5.1" })).toEqual(["low", "medium", "high"]);
    expect(adapter.efforts({ model: "gpt-5.4" })).toEqual(["low", "medium", "high", "xhigh"]);
    expect(adapter.efforts({ model: "gpt-7" })).toEqual(all);
    const fixed = { reasoning: { effort: "low" } };
    expect(adapter.efforts({ model: "gpt-5.1", extraParams: fixed })).toEqual([]);
  });

  it("are known of Anthropic's models, with the tokens that their answers leave", () => {
    const client = createAnthropicHttpClient({ apiKey: "k" });
    const adapter = new AnthropicProviderAdapter({ client, defaultModel: "claude-opus-4-7" });
    expect(adapter.efforts({ model: "claude-3-5-sonnet-20241022" })).toEqual([]);
    expect(adapter.efforts({ model: "claude-opus-4-7" })).toEqual(all);
    expect(adapter.efforts({ model: "claude-opus-4-6" })).toEqual(["low", "medium", "high", "max"]);
    expect(adapter.efforts({ model: "claude-sonnet-4-20250514", maxTokens: 32_000 })).toEqual(
      all.slice(0, 4),
    );
    expect(adapter.efforts({ model: "claude-sonnet-4-20250514", maxTokens: 500 })).toEqual([]);
  });

  it("are none behind another server, unless somebody says how to ask for one", () => {
    const baseUrl = "http://127.0.0.1:11434/v1";
    const plain = new OpenAIChatProviderAdapter({ provider: "local", baseUrl, defaultModel: "qwen3" });
    expect(plain.efforts({ model: "qwen3" })).toEqual([]);
    const asked = new OpenAIChatProviderAdapter({
      provider: "local",
      baseUrl,
      defaultModel: "qwen3",
      effortParams: (effort) => ({ reasoning_effort: effort === "max" ? "high" : effort }),
    });
    expect(asked.efforts({ model: "qwen3" })).toEqual(["low", "medium", "high", "xhigh"]);
    expect(asked.efforts({ model: "qwen3", extraParams: { reasoning_effort: "low" } })).toEqual([]);
  });

  it("are known of models of the AI SDK by their provider", () => {
    const efforts = (provider: string, modelId: string) =>
      new AiSdkProviderAdapter({ model: new MockLanguageModelV3({ provider, modelId }) }).efforts({
        model: modelId,
      });
    expect(efforts("openai.responses", "gpt-5.1")).toEqual(["low", "medium", "high"]);
    expect(efforts("openai.chat", "gpt-4o")).toEqual([]);
    expect(efforts("anthropic.messages", "claude-opus-4-7")).toEqual(all);
    expect(efforts("mistral.chat", "mistral-large")).toEqual([]);
  });

  it("are all of them for the demo model, which thinks accordingly", async () => {
    const adapter = new DemoProviderAdapter({ pace: "instant" });
    expect(adapter.efforts()).toEqual(all);
    const thought = async (reasoningEffort?: "low" | "medium" | "high" | "xhigh" | "max") => {
      const { message } = await adapter.complete({
        messages: [{ role: "user", content: [{ type: "text", text: "Give me a long answer" }] }],
        metadata: { provider: "demo", model: "demo" },
        ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
      });
      return message.content.flatMap((part) => (part.type === "reasoning" ? [part.text] : [])).join();
    };
    const thoughts = await Promise.all([
      thought("low"),
      thought("medium"),
      thought("high"),
      thought("xhigh"),
      thought("max"),
    ]);
    expect(thoughts[0]).toBe("");
    expect(thoughts[2]).toBe(await thought());
    expect(new Set(thoughts).size).toBe(5);
    const lengths = thoughts.map(({ length }) => length);
    expect(lengths).toEqual(lengths.toSorted((left, right) => left - right));
  });
});
