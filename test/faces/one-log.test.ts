import OpenAI6 from "openai";
import OpenAI7 from "openai-7";
import { describe, expect, it } from "vitest";
import { startTestServer } from "../../packages/server/src/test-server.test-support.js";
import { createChat } from "./sdk-chat.js";
import { sdks } from "./sdks.js";

const openAi = [OpenAI6, OpenAI7 as unknown as typeof OpenAI6];

describe("one conversation through every face", () => {
  it.each(sdks.map((each, index) => ({ ...each, OpenAI: openAi[index] ?? OpenAI6 })))(
    "is one log, with one copy of everything (version $version of both)",
    async ({ sdk, OpenAI }) => {
      const server = await startTestServer();
      const transport = new sdk.DefaultChatTransport({ api: `${server.url}/api/chat` });
      const chat = createChat(sdk, { id: "shared", transport });
      await chat.sendMessage({ text: "from the page" });

      const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any" });
      const conversation = "conv_shared";
      const answer = await client.responses.create({ model: "one", input: "from the SDK", conversation });
      expect(answer.output_text).toBe("You said: from the SDK");

      const body = { conversationId: "shared", messageId: "native", message: "natively" };
      await server.call("POST", "/chat", { body });
      await chat.sendMessage({ text: "from the page again" });

      const asked = ["from the page", "from the SDK", "natively", "from the page again"];
      const all = asked.flatMap((text) => [`user: ${text}`, `assistant: You said: ${text}`]);
      const { chunks } = (await server.call("GET", "/conversations/shared")).json as {
        chunks: { role: string; chunk: { text: string } }[];
      };
      expect(chunks.map(({ role, chunk }) => `${role}: ${chunk.text}`)).toEqual(all);

      const items: string[] = [];
      for await (const item of client.conversations.items.list(conversation, { order: "asc" })) {
        if (item.type !== "message") continue;
        const [part] = item.content;
        items.push(`${item.role}: ${part !== undefined && "text" in part ? part.text : ""}`);
      }
      expect(items).toEqual(all);

      const page = (await server.call("GET", "/api/chat/shared/messages")).json as {
        role: string;
        parts: { type: string; text?: string }[];
      }[];
      const shown = page.map(
        ({ role, parts }) => `${role}: ${parts.find(({ type }) => type === "text")?.text}`,
      );
      expect(shown).toEqual(all);
      const { conversations } = (await server.call("GET", "/conversations")).json as {
        conversations: unknown[];
      };
      expect(conversations).toHaveLength(1);
    },
  );
});
