import { Agent, OpenAIProvider, Runner, setTracingDisabled } from "@openai/agents";
import OpenAI6 from "openai";
import OpenAI7 from "openai-7";
import { afterEach, describe, expect, it } from "vitest";
import { startTestServer } from "../../packages/server/src/test-server.test-support.js";
import { Workplace } from "../cli/parley-process.js";
import { comparable, createChat } from "./sdk-chat.js";
import { sdks } from "./sdks.js";

setTracingDisabled(true);

const openAi = [OpenAI6, OpenAI7 as unknown as typeof OpenAI6];

let place: Workplace | undefined;
afterEach(() => place?.remove());

describe("one conversation through every face", () => {
  it.each(sdks.map((each, index) => ({ ...each, OpenAI: openAi[index] ?? OpenAI6 })))(
    "is one log, with one copy of everything (version $version of both)",
    async ({ sdk, OpenAI }) => {
      const server = await startTestServer();
      const transport = new sdk.DefaultChatTransport({ api: `${server.url}/api/chat` });
      const chat = createChat(sdk, { id: "shared", transport });

      // Started in `useChat`, and steered by Parley's own page while the answer is made.
      const sending = chat.sendMessage({ text: "wait for it" });
      await server.gate.reached;
      const steered = { text: "and be brief", messageId: "steered", mode: "steer" };
      const queued = await server.call("POST", "/conversations/shared/queue", { body: steered });
      expect(queued.status).toBe(200);
      server.gate.open();
      await sending;
      expect([chat.status, chat.error]).toEqual(["ready", undefined]);

      // Continued by the OpenAI SDK, by its agents, natively, and in `useChat` again.
      const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any" });
      const conversation = "conv_shared";
      const answer = await client.responses.create({ model: "one", input: "from the SDK", conversation });
      expect(answer.output_text).toBe("You said: from the SDK");
      const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client as never }) });
      const agent = new Agent({ name: "a", model: "scripted/one" });
      const run = await runner.run(agent, "from an agent", { conversationId: conversation });
      expect(run.finalOutput).toBe("You said: from an agent");
      const body = { conversationId: "shared", messageId: "native", message: "natively" };
      await server.call("POST", "/chat", { body });
      await chat.sendMessage({ text: "from the page again" });

      const begun = [
        "user: wait for it",
        "assistant: One moment. You said: wait for it",
        "user: and be brief",
        "assistant: You said: and be brief",
      ];
      const later = ["from the SDK", "from an agent", "natively", "from the page again"];
      const all = [...begun, ...later.flatMap((text) => [`user: ${text}`, `assistant: You said: ${text}`])];
      const { chunks } = (await server.call("GET", "/conversations/shared")).json as {
        chunks: { role: string; chunk: { text: string } }[];
      };
      expect(chunks.map(({ role, chunk }) => `${role}: ${chunk.text}`)).toEqual(all);

      const items: string[] = [];
      for await (const item of client.conversations.items.list(conversation, { order: "asc", limit: 3 })) {
        if (item.type !== "message") continue;
        const [part] = item.content;
        items.push(`${item.role}: ${part !== undefined && "text" in part ? part.text : ""}`);
      }
      expect(items).toEqual(all);

      // For a page, a message that joined an answer is a part of it.
      const page = (await server.call("GET", "/api/chat/shared/messages")).json as typeof chat.messages;
      const shown = page.flatMap(({ role, parts }) =>
        parts.flatMap((part) => {
          if (part.type === "text") return [`${role}: ${part.text}`];
          if (part.type !== "data-parley-steering") return [];
          return (part.data as { messages: { text: string }[] }).messages.map(({ text }) => `user: ${text}`);
        }),
      );
      expect(shown).toEqual(all);
      expect(comparable(chat.messages.slice(0, 2))).toEqual(comparable(page.slice(0, 2)));

      // Read in the command line.
      place = new Workplace({}, { withStore: false });
      const env = { PARLEY_URL: server.url };
      // After the title; the user's lines begin with a mark.
      const printed = (await place.ok(["show", "shared"], { env })).split("\n").slice(1);
      const lines = printed.map((line) => line.replace(/^\W+/, ""));
      const said = all.map((line) => line.replace(/^\w+: /, ""));
      expect(lines.filter((line) => said.includes(line))).toEqual(said);

      const { conversations } = (await server.call("GET", "/conversations")).json as {
        conversations: unknown[];
      };
      expect(conversations).toHaveLength(1);
    },
  );
});
