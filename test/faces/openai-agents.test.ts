import {
  Agent,
  OpenAIConversationsSession,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool,
} from "@openai/agents";
import { type ScriptSource, text, toolCall } from "@parley/testing";
import OpenAI7 from "openai-7";
import { describe, expect, it } from "vitest";
import { startTestServer } from "../../packages/server/src/test-server.test-support.js";

setTracingDisabled(true);

/**
 * Calls the agent's tool for the weather, Parley's own to look, and answers with the number of messages it was shown.
 */
const script: ScriptSource = ({ messages }) => {
  const last = messages.at(-1);
  const asked = messages
    .findLast(({ role }) => role === "user")
    ?.content.findLast((part) => part.type === "text" && part.text !== "");
  const said = asked?.type === "text" ? String(asked.text) : "";
  const result = last?.content.findLast((part) => part.type === "tool-result") as
    | { resultText?: string }
    | undefined;
  if (result !== undefined) return [text(`It is ${result.resultText}`)];
  if (said.includes("weather")) return [toolCall("weather", { city: "Bern" })];
  if (said.includes("look")) return [toolCall("look", {})];
  return [text(`Turn ${messages.filter(({ role }) => role === "user").length}`)];
};

const weather = tool({
  name: "weather",
  description: "The weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
  execute: async () => "sunny",
});

describe("@openai/agents", () => {
  async function setUp() {
    const server = await startTestServer({ script: () => script });
    const client = new OpenAI7({ baseURL: `${server.url}/v1`, apiKey: "any" });
    const modelProvider = new OpenAIProvider({ openAIClient: client as never });
    const agent = new Agent({ name: "a", instructions: "Help", model: "scripted/one", tools: [weather] });
    return { server, client, runner: new Runner({ modelProvider }), agent };
  }

  it("runs with its own tools and with Parley's, keeping the list itself", async () => {
    const { runner, agent } = await setUp();
    expect((await runner.run(agent, "the weather")).finalOutput).toBe("It is sunny");
    expect((await runner.run(agent, "please look")).finalOutput).toBe("It is It looks fine.");
  });

  it("continues by previousResponseId, and in a conversation", async () => {
    const { runner, agent, client } = await setUp();
    const first = await runner.run(agent, "the weather");
    const second = await runner.run(agent, "hello", { previousResponseId: first.lastResponseId ?? "" });
    expect(second.finalOutput).toBe("Turn 2");
    const { id: conversationId } = await client.conversations.create({});
    expect((await runner.run(agent, "the weather", { conversationId })).finalOutput).toBe("It is sunny");
    expect((await runner.run(agent, "hello", { conversationId })).finalOutput).toBe("Turn 2");
  });

  it("keeps its session in a conversation", async () => {
    const { runner, agent, client } = await setUp();
    const session = new OpenAIConversationsSession({ client: client as never });
    expect((await runner.run(agent, "the weather", { session })).finalOutput).toBe("It is sunny");
    expect((await runner.run(agent, "hello", { session })).finalOutput).toBe("Turn 2");
    const items = await session.getItems();
    expect(items.map((item) => item.type ?? "message")).toEqual([
      "message",
      "function_call",
      "function_call_result",
      "message",
      "message",
      "message",
    ]);
    await session.popItem();
    expect(await session.getItems()).toHaveLength(5);
    const id = await session.getSessionId();
    await session.clearSession();
    await expect(client.conversations.retrieve(id)).rejects.toMatchObject({ status: 404 });
  });
});
